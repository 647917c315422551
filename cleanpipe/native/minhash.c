#include "minhash.h"

#include <string.h>

#include "tokens.h"

enum { BLOCK = 1024 }; /* grams mixed at a time: 4 KiB, read again by each group from L1 */

void cp_minhash(const uint64_t *gram, size_t count, const uint32_t *a, const uint32_t *b,
                size_t num_perm, uint32_t *signature)
{
    const cp_isa *isa = cp_isa_used;
    size_t whole = num_perm - num_perm % CP_MINHASH_GROUP, rest = num_perm - whole;
    uint32_t rest_a[CP_MINHASH_GROUP] = {0}, rest_b[CP_MINHASH_GROUP] = {0};
    uint32_t rest_minima[CP_MINHASH_GROUP], mixed[BLOCK];

    memcpy(rest_a, a + whole, rest * sizeof *a);
    memcpy(rest_b, b + whole, rest * sizeof *b);
    memset(rest_minima, 0xFF, sizeof rest_minima);
    memset(signature, 0xFF, whole * sizeof *signature);
    while (count) {
        size_t block = count < BLOCK ? count : BLOCK;

        isa->minhash_mix(gram, block, mixed);
        for (size_t k = 0; k < whole; k += CP_MINHASH_GROUP)
            isa->minhash_minima(mixed, block, a + k, b + k, signature + k);
        if (rest)
            isa->minhash_minima(mixed, block, rest_a, rest_b, rest_minima);
        gram += block;
        count -= block;
    }
    memcpy(signature + whole, rest_minima, rest * sizeof *signature);
}

void cp_minhash_mix_scalar(const uint64_t *gram, size_t count, uint32_t *mixed)
{
    for (size_t i = 0; i < count; i++)
        mixed[i] = cp_fmix32((uint32_t)gram[i]);
}

void cp_minhash_minima_scalar(const uint32_t *mixed, size_t count, const uint32_t *a,
                              const uint32_t *b, uint32_t *minima)
{
    uint32_t minimum[CP_MINHASH_GROUP];

    memcpy(minimum, minima, sizeof minimum);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < CP_MINHASH_GROUP; k++) {
            uint32_t value = a[k] * mixed[i] + b[k];

            minimum[k] = value < minimum[k] ? value : minimum[k];
        }
    memcpy(minima, minimum, sizeof minimum);
}

void cp_band_keys(const uint32_t *signature, size_t bands, size_t rows, uint64_t *keys)
{
    for (size_t band = 0; band < bands; band++, signature += rows) {
        uint64_t key = cp_hash_mix(CP_HASH_START ^ band);
        size_t row = 0;

        for (; rows - row >= 2; row += 2)
            key = cp_hash_mix(key ^ (signature[row] | (uint64_t)signature[row + 1] << 32));
        if (row < rows)
            key = cp_hash_mix(key ^ signature[row]);
        keys[band] = key;
    }
}
