/* Every variant of every kernel in isa.h against the scalar one, on pseudo-random input.
 *
 *   gcc -O3 -std=c11 -Icleanpipe/native tests/native/isa_check.c cleanpipe/native/isa.c \
 *       cleanpipe/native/minhash*.c -o isa_check && ./isa_check
 *
 * and for another machine: aarch64-linux-gnu-gcc with -static, then qemu-aarch64 ./isa_check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"
#include "minhash.h"
#include "tokens.h"

enum { MOST = 300, AROUND = 3 * CP_MINHASH_GROUP };

static uint64_t state;

/* One number in four is extreme, so that sums wrap and minima tie. */
static uint64_t draw(void)
{
    static const uint64_t extreme[] = {0, 1, UINT32_MAX, UINT64_MAX};
    uint64_t value = cp_hash_mix(state++);

    return value >> 62 ? value : extreme[value & 3];
}

static void check(bool same, const cp_isa *isa, const char *kernel, size_t count)
{
    if (same)
        return;
    printf("%s: %s differs from scalar for count %zu\n", isa->name, kernel, count);
    exit(1);
}

static void check_minhash(const cp_isa *isa, const cp_isa *scalar, size_t count, size_t shift)
{
    static uint64_t gram[MOST + 1];
    static uint32_t x[MOST + 1], y[MOST + 1], a[AROUND], b[AROUND];
    uint32_t p[AROUND], q[AROUND];

    for (size_t i = 0; i < MOST + 1; i++)
        gram[i] = draw();
    for (size_t i = 0; i < AROUND; i++) {
        a[i] = (uint32_t)draw() | 1;
        b[i] = (uint32_t)draw();
        p[i] = q[i] = draw() & 1 ? UINT32_MAX : (uint32_t)draw();
    }
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    scalar->minhash_mix(gram + shift, count, x + shift);
    isa->minhash_mix(gram + shift, count, y + shift);
    check(memcmp(x, y, sizeof x) == 0, isa, "minhash_mix", count);
    shift += CP_MINHASH_GROUP; /* what lies before and behind a group must stay */
    scalar->minhash_minima(x, count, a + shift, b + shift, p + shift);
    isa->minhash_minima(x, count, a + shift, b + shift, q + shift);
    check(memcmp(p, q, sizeof p) == 0, isa, "minhash_minima", count);
}

int main(void)
{
    size_t variants = 0;
    const cp_isa *isa, *scalar;

    while (cp_isa_usable(variants))
        variants++;
    scalar = cp_isa_usable(variants - 1);
    for (size_t i = 0; (isa = cp_isa_usable(i)); i++) {
        for (size_t count = 0; count <= MOST; count++)
            for (size_t shift = 0; shift < 2 && shift + count <= MOST; shift++)
                check_minhash(isa, scalar, count, shift);
        printf("%s equals scalar\n", isa->name);
    }
    return 0;
}
