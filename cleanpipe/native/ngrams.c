#include "ngrams.h"

#include "tokens.h"

void cp_ngrams_roll(const uint64_t *hash, size_t tokens, size_t n, uint64_t *out)
{
    uint64_t sum = 0, lead = 1; /* lead: the base to the power of what leaves the window */
    size_t m = tokens < n ? tokens : n;

    if (m == 0)
        return;
    for (size_t i = 0; i < m; i++) {
        sum = sum * CP_NGRAM_BASE + hash[i];
        lead *= CP_NGRAM_BASE;
    }
    for (size_t i = m; i < tokens; i++) {
        uint64_t first = hash[i - m]; /* read before it is overwritten where out is hash */

        out[i - m] = cp_hash_mix(sum);
        sum = sum * CP_NGRAM_BASE + hash[i] - first * lead;
    }
    out[tokens - m] = cp_hash_mix(sum);
}
