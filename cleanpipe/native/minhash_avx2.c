#include "minhash.h"

#ifdef CP_HAVE_AVX2

#include <immintrin.h>

CP_AVX2 void cp_minhash_mix_avx2(const uint64_t *gram, size_t count, uint32_t *mixed)
{
    /* gcc and clang vectorise it; 32-bit products of vectors are what AVX2 has over SSE2 here. */
    for (size_t i = 0; i < count; i++)
        mixed[i] = cp_fmix32((uint32_t)gram[i]);
}

CP_AVX2 static inline __m256i load(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

CP_AVX2 static inline void store(uint32_t *to, __m256i value)
{
    _mm256_storeu_si256((__m256i *)to, value);
}

CP_AVX2 static inline __m256i smaller(__m256i minimum, __m256i x, __m256i a, __m256i b)
{
    return _mm256_min_epu32(minimum, _mm256_add_epi32(_mm256_mullo_epi32(x, a), b));
}

/* Four vectors of a, of b and of minima stay in 12 of the 16 registers. No arrays of vectors: gcc
 * keeps those in memory. */
CP_AVX2 void cp_minhash_minima_avx2(const uint32_t *mixed, size_t count, const uint32_t *a,
                                    const uint32_t *b, uint32_t *minima)
{
    __m256i a0 = load(a), a1 = load(a + 8), a2 = load(a + 16), a3 = load(a + 24);
    __m256i b0 = load(b), b1 = load(b + 8), b2 = load(b + 16), b3 = load(b + 24);
    __m256i m0 = load(minima), m1 = load(minima + 8), m2 = load(minima + 16);
    __m256i m3 = load(minima + 24);

    for (size_t i = 0; i < count; i++) {
        __m256i x = _mm256_set1_epi32((int)mixed[i]);

        m0 = smaller(m0, x, a0, b0);
        m1 = smaller(m1, x, a1, b1);
        m2 = smaller(m2, x, a2, b2);
        m3 = smaller(m3, x, a3, b3);
    }
    store(minima, m0);
    store(minima + 8, m1);
    store(minima + 16, m2);
    store(minima + 24, m3);
}

#endif
