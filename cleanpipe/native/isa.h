/* The instruction sets that kernels exist for, and the one in use.
 *
 * A kernel with variants is a function pointer in cp_isa. Every variant gives the same bytes; the
 * scalar one is the reference. A new kernel is a pointer here and a name in each row of the table
 * in isa.c. Files with a variant compile to nothing where its instructions do not exist. */
#ifndef CP_ISA_H
#define CP_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

#if defined(__x86_64__) && defined(__GNUC__) /* clang too */
#define CP_HAVE_AVX2 1
/* The instructions that every CPU with AVX2 has had. */
#define CP_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CP_HAVE_NEON 1 /* every aarch64 has it */
#endif

typedef struct {
    const char *name;
    bool (*usable)(void); /* on the machine that runs */
    /* tokens.h */
    int (*tokens_scan)(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
    uint64_t (*tokens_count)(const uint8_t *text, size_t len);
    /* code_tokens.h */
    int (*code_tokens_scan)(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
    uint64_t (*code_tokens_count)(const uint8_t *text, size_t len);
    /* minhash.h */
    void (*minhash_mix)(const uint64_t *gram, size_t count, uint32_t *mixed);
    void (*minhash_minima)(const uint32_t *mixed, size_t count, const uint32_t *a,
                           const uint32_t *b, uint32_t *minima);
    /* sets.h */
    size_t (*set_merge)(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);
} cp_isa;

/* The variants usable on this machine, best first; NULL behind the last, which is "scalar". */
const cp_isa *cp_isa_usable(size_t place);

/* The variant that the kernels call; scalar until cp_isa_choose has been called. */
extern const cp_isa *cp_isa_used;

/* Chooses the variant of that name, the best usable one for NULL. The first choice stays for the
 * life of the process, so that threads may read cp_isa_used. False, and nothing chosen, where the
 * name is not that of a usable variant. */
bool cp_isa_choose(const char *name);

#endif
