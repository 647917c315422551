#include "isa.h"

#ifdef CP_HAVE_AVX2

#include <immintrin.h>

#define TARGET CP_AVX2
#include "tokens_block.h"

INLINE __m256i half(const uint8_t *block, int which)
{
    return _mm256_loadu_si256((const __m256i *)(block + 32 * which));
}

INLINE uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* first <= byte <= last, unsigned */
INLINE __m256i in_range(__m256i bytes, uint8_t first, uint8_t last)
{
    __m256i above = _mm256_sub_epi8(bytes, _mm256_set1_epi8((char)first));

    return _mm256_cmpeq_epi8(above, _mm256_min_epu8(above, _mm256_set1_epi8((char)(last - first))));
}

INLINE __m256i in_word(__m256i bytes)
{
    return _mm256_or_si256(in_range(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), 'a', 'z'),
                           in_range(bytes, '0', '9'));
}

INLINE ascii_masks read_ascii(const uint8_t *block)
{
    const __m256i a = half(block, 0), b = half(block, 1);

    const __m256i line = _mm256_set1_epi8('_');
    const uint64_t word = mask_of(in_word(a), in_word(b));
    const uint64_t lines = mask_of(_mm256_cmpeq_epi8(a, line), _mm256_cmpeq_epi8(b, line));

    return (ascii_masks){
        .word = word,
        .high = mask_of(a, b),
        .line = lines,
        .others = mask_of(in_range(a, '!', '~'), in_range(b, '!', '~')) & ~(word | lines),
    };
}

INLINE __m256i look_up(const uint8_t table[16], __m256i places)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)table);

    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), places);
}

INLINE __m256i high_half(__m256i bytes)
{
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

INLINE __m256i groups_of(__m256i bytes, const uint8_t high[16], const uint8_t low[16])
{
    return _mm256_and_si256(
        look_up(high, high_half(bytes)),
        look_up(low, _mm256_and_si256(bytes, _mm256_set1_epi8(0x0F))));
}

/* Of the bytes of `first`, those that begin one of the common code points, as the bits of its
 * group, and of these the ones that fold. */
INLINE __m256i common_groups(__m256i first, __m256i second, __m256i third, __m256i *folding)
{
    /* 0x97 and 0xB7 */
    const __m256i excepted = _mm256_cmpeq_epi8(
        _mm256_and_si256(second, _mm256_set1_epi8((char)0xDF)), _mm256_set1_epi8((char)0x97));
    const __m256i odd = _mm256_slli_epi16(_mm256_and_si256(first, _mm256_set1_epi8(1)), 2);
    __m256i groups = _mm256_and_si256(groups_of(first, first_high, first_low),
                                      groups_of(second, second_high, second_low));

    groups = _mm256_and_si256(groups, groups_of(third, third_high, third_low));
    groups = _mm256_andnot_si256(_mm256_and_si256(excepted, _mm256_set1_epi8(C3)), groups);
    *folding = _mm256_and_si256(
        groups, look_up(folding_high, _mm256_xor_si256(high_half(second), odd)));
    return groups;
}

INLINE uint64_t mask_of_groups(__m256i low, __m256i high, uint8_t groups)
{
    const __m256i wanted = _mm256_set1_epi8((char)groups), none = _mm256_setzero_si256();

    return ~mask_of(_mm256_cmpeq_epi8(_mm256_and_si256(low, wanted), none),
                    _mm256_cmpeq_epi8(_mm256_and_si256(high, wanted), none));
}

INLINE common_masks read_common(const uint8_t *block)
{
    const __m256i a = half(block, 0), b = half(block, 1), limit = _mm256_set1_epi8(-64);
    const __m256i b_high = _mm256_permute2x128_si256(b, b, 0x81); /* and zeros */
    __m256i folding_a, folding_b, groups_a, groups_b;

    groups_a = common_groups(a, half(block + 1, 0), half(block + 2, 0), &folding_a);
    groups_b = common_groups(b, _mm256_alignr_epi8(b_high, b, 1), _mm256_alignr_epi8(b_high, b, 2),
                             &folding_b);
    return (common_masks){
        .tail = mask_of(_mm256_cmpgt_epi8(limit, a), _mm256_cmpgt_epi8(limit, b)),
        .run = mask_of_groups(groups_a, groups_b, TWO),
        .folding = mask_of_groups(folding_a, folding_b, TWO),
        .cluster = mask_of_groups(groups_a, groups_b, HAN),
        .other = mask_of_groups(groups_a, groups_b, OTHERS),
    };
}

INLINE size_t write_bits(uint32_t *to, uint64_t bits, uint32_t base)
{
    __m256i bases = _mm256_set1_epi32((int)base);
    size_t count = 0;

    for (int i = 0; i < BLOCK; i += 8) {
        const uint8_t byte = (uint8_t)(bits >> i);
        const __m128i places = _mm_loadl_epi64((const __m128i *)&ones[byte]);

        _mm256_storeu_si256((__m256i *)(to + count),
                            _mm256_add_epi32(bases, _mm256_cvtepu8_epi32(places)));
        bases = _mm256_add_epi32(bases, _mm256_set1_epi32(8));
        count += (size_t)__builtin_popcount(byte);
    }
    return count;
}

/* x * c modulo 2^64 in each lane, by the halves of both. */
INLINE __m256i times(__m256i x, uint64_t c)
{
    const __m256i low = _mm256_set1_epi64x((long long)(c & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(c >> 32));
    const __m256i crossed = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                             _mm256_mul_epu32(x, high));

    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(crossed, 32));
}

INLINE __m256i half_mixed(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33));
}

/* cp_hash_mix of each lane */
INLINE __m256i mixed(__m256i x)
{
    x = times(half_mixed(x), UINT64_C(0xFF51AFD7ED558CCD));
    return half_mixed(times(half_mixed(x), UINT64_C(0xC4CEB9FE1A85EC53)));
}

/* cp_fold_letters of each lane */
INLINE __m256i folded(__m256i words)
{
    const __m256i capital = _mm256_and_si256(
        _mm256_cmpgt_epi8(words, _mm256_set1_epi8('A' - 1)),
        _mm256_cmpgt_epi8(_mm256_set1_epi8('Z' + 1), words));

    return _mm256_or_si256(words, _mm256_and_si256(capital, _mm256_set1_epi8(0x20)));
}

INLINE long long word_at(const uint8_t *text, size_t at)
{
    return (long long)cp_load_little(text + at);
}

/* The last words of four tokens, `sizes` bytes of each, as cp_code_tokens_hash has them. */
INLINE __m256i last_words(const uint8_t *text, __m128i sizes, size_t end_0, size_t end_1,
                          size_t end_2, size_t end_3)
{
    const __m256i words = _mm256_set_epi64x(word_at(text, end_3 - 8), word_at(text, end_2 - 8),
                                            word_at(text, end_1 - 8), word_at(text, end_0 - 8));
    const __m128i spare = _mm_sub_epi32(_mm_set1_epi32(64), _mm_slli_epi32(sizes, 3));

    return _mm256_srlv_epi64(folded(words), _mm256_cvtepu32_epi64(spare));
}

/* Four tokens at a time as if none had more than 8 bytes; then the longer ones as if they had 9 to
 * 16; then the rest. So there are no branches on the sizes of tokens. */
PASS void hash_all(const uint8_t *text, const uint32_t *start, const uint32_t *end, uint64_t *hash,
                   size_t count, bool code)
{
    const __m256i begin = _mm256_set1_epi64x((long long)CP_HASH_START);
    uint32_t longer[MOST + 4], rest[MOST + 4];
    size_t at = 0, longer_count = 0, rest_count = 0, i = 0;

    (void)code; /* four words fold at once, so the slower way will do */
    for (; at < count && end[at] < 8; at++)
        hash[at] = cp_code_tokens_hash(text, start[at], end[at]);
    for (; count - at >= 4; at += 4) {
        const __m128i sizes = _mm_sub_epi32(_mm_loadu_si128((const __m128i *)(end + at)),
                                            _mm_loadu_si128((const __m128i *)(start + at)));
        const __m128i above = _mm_cmpeq_epi32(sizes, _mm_max_epu32(sizes, _mm_set1_epi32(9)));
        const unsigned bits = (unsigned)_mm_movemask_ps(_mm_castsi128_ps(above));
        const __m256i words =
            last_words(text, sizes, end[at], end[at + 1], end[at + 2], end[at + 3]);

        _mm256_storeu_si256((__m256i *)(hash + at), mixed(_mm256_xor_si256(words, begin)));
        for (unsigned j = 0; j < 4; j++) {
            longer[longer_count] = (uint32_t)at + j;
            longer_count += bits >> j & 1;
        }
    }
    for (; at < count; at++)
        hash[at] = cp_code_tokens_hash(text, start[at], end[at]);

    for (; longer_count - i >= 4; i += 4) {
        const uint32_t *const four = longer + i;
        const size_t a = four[0], b = four[1], c = four[2], d = four[3];
        const __m128i starts = _mm_setr_epi32((int)start[a], (int)start[b], (int)start[c],
                                              (int)start[d]);
        const __m128i ends = _mm_setr_epi32((int)end[a], (int)end[b], (int)end[c], (int)end[d]);
        const __m128i sizes = _mm_sub_epi32(ends, starts);
        const __m256i first = _mm256_set_epi64x(word_at(text, start[d]), word_at(text, start[c]),
                                                word_at(text, start[b]), word_at(text, start[a]));
        const __m256i second = last_words(text, _mm_sub_epi32(sizes, _mm_set1_epi32(8)), end[a],
                                          end[b], end[c], end[d]);
        uint64_t four_hashes[4];

        _mm256_storeu_si256(
            (__m256i *)four_hashes,
            mixed(_mm256_xor_si256(mixed(_mm256_xor_si256(folded(first), begin)), second)));
        for (unsigned j = 0; j < 4; j++) {
            hash[four[j]] = four_hashes[j];
            rest[rest_count] = four[j];
            rest_count += end[four[j]] - start[four[j]] > 16;
        }
    }
    for (; i < longer_count; i++)
        rest[rest_count++] = longer[i];
    for (i = 0; i < rest_count; i++)
        hash[rest[i]] = cp_code_tokens_hash(text, start[rest[i]], end[rest[i]]);
}

TARGET int cp_tokens_scan_avx2(const uint8_t *text, size_t len, cp_tokens *out,
                               uint64_t *ill_formed)
{
    return scan_blocks(text, len, out, ill_formed, false);
}

TARGET uint64_t cp_tokens_count_avx2(const uint8_t *text, size_t len)
{
    return count_blocks(text, len, false);
}

TARGET int cp_code_tokens_scan_avx2(const uint8_t *text, size_t len, cp_tokens *out,
                                    uint64_t *ill_formed)
{
    return scan_blocks(text, len, out, ill_formed, true);
}

TARGET uint64_t cp_code_tokens_count_avx2(const uint8_t *text, size_t len)
{
    return count_blocks(text, len, true);
}

#else
typedef int cp_no_avx2; /* a translation unit is not empty */
#endif
