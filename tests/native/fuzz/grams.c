/* ngrams.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ngrams.h"

uint64_t fuzz_ngrams(const fuzz_input *in)
{
    size_t tokens, n = in->parameter[0] == 0xFF ? SIZE_MAX : 1 + in->parameter[0] % 24u;
    uint64_t *hash = fuzz_words(in, &tokens), *gram, digest;
    size_t width = tokens < n ? tokens : n;
    size_t count = cp_ngrams_count(tokens, n);

    FUZZ_CHECK(count == (tokens ? tokens - width + 1 : 0));
    gram = fuzz_allocate(count * sizeof *gram);
    cp_ngrams_roll(hash, tokens, n, gram);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0, power = 1;

        for (size_t j = width; j-- > 0; power *= CP_NGRAM_BASE)
            sum += hash[i + j] * power;
        FUZZ_CHECK(gram[i] == cp_hash_mix(sum));
    }
    cp_ngrams_roll(hash, tokens, n, hash);
    FUZZ_CHECK(count == 0 || memcmp(hash, gram, count * sizeof *gram) == 0);
    digest = fuzz_digest(0, gram, count * sizeof *gram);
    free(gram);
    free(hash);
    return digest;
}
