/* Hashes of n-grams, rolled over the hashes of tokens: the cost of a text does not depend on n.
 *
 *   gram(t[0] ... t[m-1]) = cp_hash_mix(t[0] * B^(m-1) + t[1] * B^(m-2) + ... + t[m-1])
 *
 * modulo 2^64, with B = CP_NGRAM_BASE. It depends on the tokens alone, so a gram of m tokens is
 * the same whether it was asked for as an m-gram or is all of a text shorter than n. */
#ifndef CP_NGRAMS_H
#define CP_NGRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Odd, so that no bit of any token is ever lost: 2^64 over the golden ratio. */
#define CP_NGRAM_BASE UINT64_C(0x9E3779B97F4A7C15)

/* How many n-grams a text of `tokens` tokens has, n >= 1: one for every place where n tokens
 * begin, one of all its tokens where they are fewer, none where there are none. */
static inline size_t cp_ngrams_count(size_t tokens, size_t n)
{
    return tokens >= n ? tokens - n + 1 : tokens > 0;
}

/* Writes the cp_ngrams_count(tokens, n) hashes of a text, in order of the token they begin at.
 * `hash` has the tokens' hashes; `out` may be `hash` itself. n >= 1. */
void cp_ngrams_roll(const uint64_t *hash, size_t tokens, size_t n, uint64_t *out);

#endif
