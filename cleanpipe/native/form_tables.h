/* Written by scripts/form_tables.py from Unicode 15.0.0; do not edit. */
#ifndef CP_FORM_TABLES_H
#define CP_FORM_TABLES_H

#include <stdint.h>

/* Python's view of a code point, and what normalisation asks of it. */
enum {
    CP_FORM_WORD = 1,         /* \w of Python's re: str.isalnum(), or an underscore */
    CP_FORM_SPACE = 2,        /* str.isspace() */
    CP_FORM_DECIMAL = 4,      /* \d: Nd */
    CP_FORM_ALPHA = 8,        /* str.isalpha() */
    CP_FORM_UPPER = 16,       /* str.isupper() of it alone */
    CP_FORM_LOWER = 32,       /* str.islower() of it alone */
    CP_FORM_CASED = 64,       /* Cased and Case_Ignorable, for the final sigma */
    CP_FORM_IGNORABLE = 128,
    CP_FORM_NONSPACING = 256, /* Mn */
    CP_FORM_BEGINS = 512,     /* nothing before it is ever composed with it, in NFKC */
    CP_FORM_STABLE = 1024,    /* by itself it is its own NFKC */
    CP_FORM_COMPOSES = 2048,  /* it may be the second of a composition */
    CP_FORM_DECOMPOSES = 4096, /* it has a canonical decomposition */
};

typedef struct {
    int32_t lower;   /* add it to the code point for its lower case; U+0130 has U+0307 behind */
    uint16_t traits;
    uint8_t ccc;     /* canonical combining class */
} cp_form_kind;

/* Of `canonical` code points from cp_decomposed[at] on, then `compatible` of them; the first are
 * none without a canonical decomposition, the second where both are the same. In full, and in
 * canonical order. Hangul syllables have none here. */
typedef struct {
    uint16_t at;
    uint8_t canonical, compatible;
} cp_decomposition;

/* Primary composites but Hangul's. */
typedef struct {
    uint32_t first, second, composite;
} cp_composition;

extern const uint8_t cp_form_index[7172];
extern const uint8_t cp_form_blocks[30848];
extern const uint8_t cp_decomposition_index[3049];
extern const uint16_t cp_decomposition_blocks[11008];
extern const uint32_t cp_decomposed[6729];
extern const uint16_t cp_composition_slots[2048];
extern const cp_form_kind cp_form_kinds[205];
extern const cp_decomposition cp_decompositions[5858];
extern const cp_composition cp_compositions[941];

/* Of any code point; what is none is like one that is not assigned. */
static inline const cp_form_kind *cp_form_of(uint32_t code)
{
    uint32_t block = code >> 7;
    if (block >= 7172)
        return &cp_form_kinds[0];
    block = cp_form_index[block];
    return &cp_form_kinds[cp_form_blocks[block << 7 | (code & 127)]];
}

static inline const cp_decomposition *cp_decomposition_of(uint32_t code)
{
    uint32_t block = code >> 6;
    if (block >= 3049)
        return &cp_decompositions[0];
    block = cp_decomposition_index[block];
    code &= 63;
    return &cp_decompositions[cp_decomposition_blocks[block << 6 | code]];
}

/* The primary composite of two code points, or 0; not of Hangul. */
static inline uint32_t cp_composite_of(uint32_t first, uint32_t second)
{
    uint32_t hash = first * 0X9E3779B1u ^ second * 0X85EBCA6Bu;
    uint32_t at = hash >> 21, slot;

    for (; (slot = cp_composition_slots[at]); at = (at + 1) & 2047) {
        const cp_composition *found = &cp_compositions[slot - 1];

        if (found->first == first && found->second == second)
            return found->composite;
    }
    return 0;
}

#endif
