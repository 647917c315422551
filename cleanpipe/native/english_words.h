/* Words as datatrove has them, near enough: docs/measures.md, "datatrove's words", says what they
 * are. datatrove cuts English with spaCy's rules and lists; this is what of these matters.
 *
 * Case is kept, any bytes are taken (an ill-formed sequence is one symbol), time is linear. */
#ifndef CP_ENGLISH_WORDS_H
#define CP_ENGLISH_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

/* Appends the words of `text` (may be NULL when len is 0) to `out`, with hashes of their bytes.
 * Returns CP_OK, or CP_NO_MEMORY or CP_TOO_LONG and then leaves out->count as it was. */
int cp_english_words_scan(const uint8_t *text, size_t len, cp_tokens *out);

typedef struct {
    uint64_t words;      /* that are more than punctuation and symbols of ASCII */
    uint64_t characters; /* in these words */
    uint64_t alphabetic; /* words with a letter */
} cp_english_word_counts;

/* Counts the words that cp_english_words_scan found in `text`. */
cp_english_word_counts cp_english_words_count(const cp_tokens *words, const uint8_t *text);

#endif
