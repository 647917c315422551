/* Sets of n-grams, by the hashes of ngrams.h: what near-duplicates are verified with.
 *
 * A set is its hashes in strictly ascending order: each once, whatever the order and number of
 * times they have in the text. No choice of hashes makes any of this take longer than in
 * proportion to their number. Any number of threads may run it. */
#ifndef CP_SETS_H
#define CP_SETS_H

#include <stddef.h>
#include <stdint.h>

/* Sets of any number of texts, one after the other. The caller owns it: zero-initialise, reuse by
 * setting count to 0, release with cp_sets_free. */
typedef struct {
    uint64_t *hash;
    size_t count;
    size_t capacity;
} cp_sets;

/* Appends the set of these n-grams, whose array is room to work in and holds nothing of use
 * afterwards; it is no part of `out`. Returns CP_OK, or CP_NO_MEMORY or CP_TOO_LONG (more than
 * UINT32_MAX of them) and then leaves both as they were. */
int cp_sets_append(cp_sets *out, uint64_t *gram, size_t count);

/* Frees the array and zeroes the struct. */
void cp_sets_free(cp_sets *sets);

/* Writes the digest of a set of n-grams, a function of the set and n alone:
 *
 *   digest[j] = cp_hash_mix(cp_hash_mix(cp_hash_mix(K[j] ^ n) ^ count) + sum[j]),  j = 0, 1
 *   sum[j] = sum over the set of cp_hash_mix(hash ^ K[j]), modulo 2^64
 *   K = {CP_HASH_START, 0x243F6A8885A308D3}
 *
 * Two different sets have one digest with the chance of random 128-bit numbers, 2^-128: among 10
 * billion, any two of them with 1.5e-19 (10^20 / 2^129). Two texts of one set do so always, and
 * those whose n-grams collide in their own 64 bits: among the g n-grams of two texts, g^2 / 2^65.
 * It is not made against adversaries, as the hashes are not. */
void cp_set_digest(const uint64_t *set, size_t count, uint64_t n, uint64_t *digest);

/* How many hashes are in both sets. Sets that are not in order give a wrong number, no worse. */
size_t cp_set_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* The kernels that isa.h chooses from: cp_set_shared of sets of any sizes, at a cost of both. */
size_t cp_set_merge_scalar(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);
size_t cp_set_merge_avx2(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* In how many of their num_perm values two signatures (minhash.h) agree; the mark of a text
 * without a signature agrees with nothing, not with itself either. */
size_t cp_signature_agreement(const uint32_t *a, const uint32_t *b, size_t num_perm);

#endif
