#include "isa.h"

#ifdef CP_HAVE_NEON

#include <arm_neon.h>

#define TARGET
#include "tokens_block.h"

/* Bit i is set where byte i of the four is 0xFF, not where it is 0; no other bytes are allowed. */
INLINE uint64_t mask_of(const uint8x16_t bytes[4])
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    uint8x16_t sums = vpaddq_u8(vpaddq_u8(vandq_u8(bytes[0], weight), vandq_u8(bytes[1], weight)),
                                vpaddq_u8(vandq_u8(bytes[2], weight), vandq_u8(bytes[3], weight)));

    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

/* first <= byte < first + count */
INLINE uint8x16_t in_range(uint8x16_t bytes, uint8_t first, uint8_t count)
{
    return vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(count));
}

INLINE ascii_masks read_ascii(const uint8_t *block)
{
    uint8x16_t word[4], high[4], line[4], others[4];

    for (int i = 0; i < 4; i++) {
        const uint8x16_t bytes = vld1q_u8(block + 16 * i);

        word[i] = vorrq_u8(in_range(vorrq_u8(bytes, vdupq_n_u8(0x20)), 'a', 26),
                           in_range(bytes, '0', 10));
        high[i] = vcgeq_u8(bytes, vdupq_n_u8(0x80));
        line[i] = vceqq_u8(bytes, vdupq_n_u8('_'));
        others[i] = vbicq_u8(in_range(bytes, '!', 94), vorrq_u8(word[i], line[i]));
    }
    return (ascii_masks){
        .word = mask_of(word),
        .high = mask_of(high),
        .line = mask_of(line),
        .others = mask_of(others),
    };
}

INLINE uint8x16_t groups_of(uint8x16_t bytes, const uint8_t high[16], const uint8_t low[16])
{
    return vandq_u8(vqtbl1q_u8(vld1q_u8(high), vshrq_n_u8(bytes, 4)),
                    vqtbl1q_u8(vld1q_u8(low), vandq_u8(bytes, vdupq_n_u8(0x0F))));
}

INLINE uint64_t mask_of_groups(const uint8x16_t groups[4], uint8_t wanted)
{
    uint8x16_t found[4];

    for (int i = 0; i < 4; i++)
        found[i] = vtstq_u8(groups[i], vdupq_n_u8(wanted));
    return mask_of(found);
}

INLINE common_masks read_common(const uint8_t *block)
{
    uint8x16_t tail[4], groups[4], folding[4];

    for (int i = 0; i < 4; i++) {
        const uint8x16_t first = vld1q_u8(block + 16 * i);
        const uint8x16_t after = i < 3 ? vld1q_u8(block + 16 * i + 16) : vdupq_n_u8(0);
        const uint8x16_t second = vextq_u8(first, after, 1), third = vextq_u8(first, after, 2);
        /* 0x97 and 0xB7 */
        const uint8x16_t excepted =
            vceqq_u8(vandq_u8(second, vdupq_n_u8(0xDF)), vdupq_n_u8(0x97));
        const uint8x16_t odd = vshlq_n_u8(vandq_u8(first, vdupq_n_u8(1)), 2);
        uint8x16_t its = vandq_u8(groups_of(first, first_high, first_low),
                                  groups_of(second, second_high, second_low));

        its = vandq_u8(its, groups_of(third, third_high, third_low));
        groups[i] = vbicq_u8(its, vandq_u8(excepted, vdupq_n_u8(C3)));
        folding[i] = vandq_u8(groups[i], vqtbl1q_u8(vld1q_u8(folding_high),
                                                    veorq_u8(vshrq_n_u8(second, 4), odd)));
        tail[i] = in_range(first, 0x80, 0x40);
    }
    return (common_masks){
        .tail = mask_of(tail),
        .run = mask_of_groups(groups, TWO),
        .folding = mask_of_groups(folding, TWO),
        .cluster = mask_of_groups(groups, HAN),
        .other = mask_of_groups(groups, OTHERS),
    };
}

INLINE size_t write_bits(uint32_t *to, uint64_t bits, uint32_t base)
{
    size_t count = 0;

    for (int i = 0; i < BLOCK; i += 8, base += 8) {
        const uint8_t byte = (uint8_t)(bits >> i);
        const uint16x8_t places = vmovl_u8(vcreate_u8(ones[byte]));
        const uint32x4_t bases = vdupq_n_u32(base);

        vst1q_u32(to + count, vaddw_u16(bases, vget_low_u16(places)));
        vst1q_u32(to + count + 4, vaddw_u16(bases, vget_high_u16(places)));
        count += (size_t)__builtin_popcount(byte);
    }
    return count;
}

/* NEON has no 64-bit multiplication. */
PASS void hash_all(const uint8_t *text, const uint32_t *start, const uint32_t *end, uint64_t *hash,
                   size_t count, bool code)
{
    for (size_t i = 0; i < count; i++)
        hash[i] = code ? cp_code_tokens_hash(text, start[i], end[i])
                       : cp_tokens_hash(text, start[i], end[i]);
}

int cp_tokens_scan_neon(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed)
{
    return scan_blocks(text, len, out, ill_formed, false);
}

uint64_t cp_tokens_count_neon(const uint8_t *text, size_t len)
{
    return count_blocks(text, len, false);
}

int cp_code_tokens_scan_neon(const uint8_t *text, size_t len, cp_tokens *out,
                             uint64_t *ill_formed)
{
    return scan_blocks(text, len, out, ill_formed, true);
}

uint64_t cp_code_tokens_count_neon(const uint8_t *text, size_t len)
{
    return count_blocks(text, len, true);
}

#else
typedef int cp_no_neon; /* a translation unit is not empty */
#endif
