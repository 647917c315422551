#include "minhash.h"

#ifdef CP_HAVE_NEON

#include <arm_neon.h>

void cp_minhash_mix_neon(const uint64_t *gram, size_t count, uint32_t *mixed)
{
    for (size_t i = 0; i < count; i++) /* vectorised by compilers: NEON is their baseline */
        mixed[i] = cp_fmix32((uint32_t)gram[i]);
}

static inline uint32x4_t smaller(uint32x4_t minimum, uint32x4_t x, uint32x4_t a, uint32x4_t b)
{
    return vminq_u32(minimum, vmlaq_u32(b, x, a));
}

/* Half a group, so that no register is spilt and no array of vectors, which gcc keeps in memory,
 * is called for. */
static inline void half_group(const uint32_t *mixed, size_t count, const uint32_t *a,
                              const uint32_t *b, uint32_t *minima)
{
    uint32x4_t a0 = vld1q_u32(a), a1 = vld1q_u32(a + 4);
    uint32x4_t a2 = vld1q_u32(a + 8), a3 = vld1q_u32(a + 12);
    uint32x4_t b0 = vld1q_u32(b), b1 = vld1q_u32(b + 4);
    uint32x4_t b2 = vld1q_u32(b + 8), b3 = vld1q_u32(b + 12);
    uint32x4_t m0 = vld1q_u32(minima), m1 = vld1q_u32(minima + 4);
    uint32x4_t m2 = vld1q_u32(minima + 8), m3 = vld1q_u32(minima + 12);

    for (size_t i = 0; i < count; i++) {
        uint32x4_t x = vdupq_n_u32(mixed[i]);

        m0 = smaller(m0, x, a0, b0);
        m1 = smaller(m1, x, a1, b1);
        m2 = smaller(m2, x, a2, b2);
        m3 = smaller(m3, x, a3, b3);
    }
    vst1q_u32(minima, m0);
    vst1q_u32(minima + 4, m1);
    vst1q_u32(minima + 8, m2);
    vst1q_u32(minima + 12, m3);
}

void cp_minhash_minima_neon(const uint32_t *mixed, size_t count, const uint32_t *a,
                            const uint32_t *b, uint32_t *minima)
{
    half_group(mixed, count, a, b, minima);
    half_group(mixed, count, a + 16, b + 16, minima + 16);
}

#endif
