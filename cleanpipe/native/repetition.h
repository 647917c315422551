/* How much of a text repeats itself: the counts behind docs/measures.md, "Repeated n-grams".
 *
 * Two n-grams are equal when the hashes of their tokens are, one by one; no hash of an n-gram is
 * relied on. A token's characters are its code points. All counts are exact, and the same on every
 * machine; time and memory are linear in the tokens for every text. */
#ifndef CP_REPETITION_H
#define CP_REPETITION_H

#include <stddef.h>
#include <stdint.h>

#include "table.h"
#include "tokens.h"

/* What to measure: a sum of these. */
#define CP_REPETITION_SPANS 1u
#define CP_REPETITION_ANY_BYTES 2u /* tokens may hold ill-formed UTF-8, each sequence a character */
#define CP_REPETITION_NGRAMS(n) (1u << (n)) /* 2 to 4: top[n - 2]; 5 to 10: duplicate[n - 5] */
#define CP_REPETITION_ALL 0x7FDu

/* All 0 where not asked for, or where there are fewer than n tokens. */
typedef struct {
    uint64_t token_characters; /* of all tokens; with any n-grams */
    struct {
        /* Of the most frequent n-gram; of equally frequent ones the first. */
        uint64_t covered;         /* characters of the tokens in its occurrences, each token once */
        uint64_t occurrences;     /* overlapping ones too */
        uint64_t gram_characters; /* of its tokens, at its first occurrence */
    } top[3];
    struct {
        /* An n-gram is repeated when it occurs more than once. */
        uint64_t covered;   /* characters of the tokens in repeated n-grams, each token once */
        uint64_t datatrove; /* characters of n-grams met before, by its reading from the left */
        uint64_t dolma;     /* characters of repeated n-grams, summed over their occurrences */
        uint64_t dolma_all; /* characters of all n-grams, likewise */
    } duplicate[6];
    uint64_t span_repeats;
} cp_repetition;

/* Memory of one text, reused by the next: 12 bytes a token, and 24 to 40 for each distinct token
 * or n-gram of the length that has most. The caller owns it: zero-initialise, one a thread, release
 * with cp_repetition_free. */
typedef struct {
    cp_table table;
    uint32_t *before; /* [i]: characters of the tokens before token i */
    uint32_t *at;     /* where an n-gram begins that may be repeated, ascending */
    uint32_t *gram;   /* its number among the n-grams of that length */
    size_t capacity;  /* tokens the three arrays have room for */
} cp_repetition_scratch;

/* Measures what is `wanted` of the text that has these tokens; it may be NULL where there are
 * none. Returns CP_OK, or CP_NO_MEMORY and then nothing in *out. */
int cp_repetition_measure(const cp_tokens *tokens, const uint8_t *text, unsigned wanted,
                          cp_repetition_scratch *scratch, cp_repetition *out);

void cp_repetition_free(cp_repetition_scratch *scratch);

#endif
