/* MinHash signatures, bit for bit those of datasketch 2 with scheme="affine32":
 *
 *   signature[k] = min over n-grams g of (a[k] * fmix32(g mod 2^32) + b[k]) mod 2^32
 *
 * with g the n-gram hashes of ngrams.h and fmix32 MurmurHash3's 32-bit finaliser. a[k] is odd, so
 * each k is a permutation of the 32-bit numbers. Without an n-gram all of it is UINT32_MAX, the
 * mark of a text that has no signature: it matches nothing, and its bands are not to be used.
 *
 * Nothing here owns memory, allocates or fails; any number of threads may run it. */
#ifndef CP_MINHASH_H
#define CP_MINHASH_H

#include <stddef.h>
#include <stdint.h>

#include "isa.h"

/* Writes the num_perm minima over the `count` grams of one text to `signature`, which overlaps
 * neither a nor b; all three have num_perm elements. The time grows with num_perm * count, the
 * former rounded up to CP_MINHASH_GROUP. */
void cp_minhash(const uint64_t *gram, size_t count, const uint32_t *a, const uint32_t *b,
                size_t num_perm, uint32_t *signature);

/* Writes the keys of a signature's bands: band i, counted from 0, has the rows signature[i * rows]
 * to signature[i * rows + rows - 1]. Two rows at a time are one 64-bit word, the first in its low
 * half; where the last word has one row only, its high half is 0. Then
 *
 *   key = cp_hash_mix(CP_HASH_START ^ i);  for each word: key = cp_hash_mix(key ^ word)
 *
 * rows >= 1; `signature` has at least bands * rows elements, `keys` has `bands`. */
void cp_band_keys(const uint32_t *signature, size_t bands, size_t rows, uint64_t *keys);

/* The kernels that isa.h chooses from. `mixed` has fmix32 of the low half of each gram; minima,
 * read and written, are those of CP_MINHASH_GROUP permutations. */
#define CP_MINHASH_GROUP 32

#define CP_MINHASH_VARIANT(isa)                                                                  \
    void cp_minhash_mix_##isa(const uint64_t *gram, size_t count, uint32_t *mixed);              \
    void cp_minhash_minima_##isa(const uint32_t *mixed, size_t count, const uint32_t *a,         \
                                 const uint32_t *b, uint32_t *minima)

CP_MINHASH_VARIANT(scalar);
CP_MINHASH_VARIANT(avx2);
CP_MINHASH_VARIANT(neon);

static inline uint32_t cp_fmix32(uint32_t x)
{
    x ^= x >> 16;
    x *= UINT32_C(0x85EBCA6B);
    x ^= x >> 13;
    x *= UINT32_C(0xC2B2AE35);
    return x ^ x >> 16;
}

#endif
