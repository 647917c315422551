#include "isa.h"

#include <string.h>

#include "minhash.h"
#include "sets.h"
#include "tokens_inner.h"

static bool always(void)
{
    return true;
}

#ifdef CP_HAVE_AVX2
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#endif

/* Best first; the last is usable everywhere. */
static const cp_isa table[] = {
#ifdef CP_HAVE_AVX2
    {"avx2", has_avx2, cp_tokens_scan_avx2, cp_tokens_count_avx2, cp_code_tokens_scan_avx2,
     cp_code_tokens_count_avx2, cp_minhash_mix_avx2, cp_minhash_minima_avx2, cp_set_merge_avx2},
#endif
#ifdef CP_HAVE_NEON
    {"neon", always, cp_tokens_scan_neon, cp_tokens_count_neon, cp_code_tokens_scan_neon,
     cp_code_tokens_count_neon, cp_minhash_mix_neon, cp_minhash_minima_neon, cp_set_merge_scalar},
#endif
    {"scalar", always, cp_tokens_scan_scalar, cp_tokens_count_scalar, cp_code_tokens_scan_scalar,
     cp_code_tokens_count_scalar, cp_minhash_mix_scalar, cp_minhash_minima_scalar, cp_set_merge_scalar},
};

enum { ROWS = sizeof table / sizeof *table };

const cp_isa *cp_isa_used = &table[ROWS - 1];

const cp_isa *cp_isa_usable(size_t place)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].usable() && place-- == 0)
            return &table[i];
    return NULL;
}

bool cp_isa_choose(const char *name)
{
    static bool chosen;
    const cp_isa *isa;

    for (size_t i = 0; (isa = cp_isa_usable(i)); i++) {
        if (name && strcmp(name, isa->name) != 0)
            continue;
        if (!chosen)
            cp_isa_used = isa;
        chosen = true;
        return true;
    }
    return false;
}
