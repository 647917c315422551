/* The merge of sets.h, four hashes against four at a time. */
#include "sets.h"

#include "isa.h"

#ifdef CP_HAVE_AVX2

#include <immintrin.h>

/* The vector turned by 1, 2 or 3 of its four hashes. */
#define TURNED(vector, by) \
    _mm256_permute4x64_epi64(vector, by | (by + 1) % 4 << 2 | (by + 2) % 4 << 4 | (by + 3) % 4 << 6)

CP_AVX2 size_t cp_set_merge_avx2(const uint64_t *a, size_t a_count, const uint64_t *b,
                                 size_t b_count)
{
    const uint64_t *const a_end = a + a_count, *const b_end = b + b_count;
    __m256i shared = _mm256_setzero_si256();
    uint64_t lane[4];

    /* Two blocks meet once at most, and do where they share a hash: the one whose last is lower
     * can share none with what follows the other. */
    while (a_end - a >= 4 && b_end - b >= 4) {
        const uint64_t a_last = a[3], b_last = b[3];
        const __m256i left = _mm256_loadu_si256((const __m256i *)a);
        const __m256i right = _mm256_loadu_si256((const __m256i *)b);
        const __m256i first = _mm256_or_si256(_mm256_cmpeq_epi64(left, right),
                                              _mm256_cmpeq_epi64(left, TURNED(right, 1)));
        const __m256i second = _mm256_or_si256(_mm256_cmpeq_epi64(left, TURNED(right, 2)),
                                               _mm256_cmpeq_epi64(left, TURNED(right, 3)));

        shared = _mm256_sub_epi64(shared, _mm256_or_si256(first, second));
        a += 4 * (a_last <= b_last);
        b += 4 * (b_last <= a_last);
    }
    _mm256_storeu_si256((__m256i *)lane, shared);
    return (size_t)(lane[0] + lane[1] + lane[2] + lane[3]) +
           cp_set_merge_scalar(a, (size_t)(a_end - a), b, (size_t)(b_end - b));
}

#endif
