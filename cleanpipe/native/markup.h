/* HTML, braces, URLs and e-mail addresses in a text: docs/measures.md says what each is. One pass
 * from left to right, no memory; time grows with the length of the text only. */
#ifndef CP_MARKUP_H
#define CP_MARKUP_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

typedef struct {
    uint64_t html_tags;
    uint64_t html_entities;
    uint64_t curly_brackets; /* wherever they stand, inside tags too */
    uint64_t urls;
    uint64_t email_addresses;
    uint64_t markup_characters; /* code points in tags and entities */
    uint64_t link_characters;   /* code points in URLs and addresses */
    uint64_t markup_tokens;     /* tokens that begin in tags and entities */
    uint64_t link_tokens;       /* tokens that begin in URLs and addresses */
} cp_markup_counts;

/* Writes the counts of `text` (may be NULL when len is 0), of any length; those of tokens are 0
 * where its `tokens` are NULL. */
void cp_markup_count(const uint8_t *text, size_t len, const cp_tokens *tokens,
                     cp_markup_counts *counts);

/* Finds every e-mail address, in tags and URLs too, but for stops and hyphens it would begin with.
 * Returns how many there are, and writes the half-open byte offsets of the first `room` to `start`
 * and `end`. They ascend and do not overlap. */
size_t cp_markup_emails(const uint8_t *text, size_t len, size_t room, int64_t *start,
                        int64_t *end);

#endif
