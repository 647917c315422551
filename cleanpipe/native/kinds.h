/* What kinds of characters a text is made of; docs/measures.md says what each is.
 *
 * Texts may be ill-formed UTF-8 (each such sequence is one U+FFFD) and NULL when len is 0.
 * Nothing here owns memory. */
#ifndef CP_KINDS_H
#define CP_KINDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t characters;
    uint64_t printed; /* all but whitespace */
    uint64_t visible;
    uint64_t letters;
    uint64_t marks;
    uint64_t upper;
    uint64_t digits;
    uint64_t punctuation;
    uint64_t symbols;
    uint64_t words;            /* between whitespace */
    uint64_t alphabetic_words; /* those with a letter */
} cp_kind_counts;

/* Counts all of it. */
void cp_kinds_count(const uint8_t *text, size_t len, cp_kind_counts *out);

/* How often `byte`, an ASCII character, occurs. */
uint64_t cp_bytes_equal(const uint8_t *text, size_t len, uint8_t byte);

/* How often "..." (from the left, not overlapping) and U+2026 occur. */
uint64_t cp_ellipses(const uint8_t *text, size_t len);

#endif
