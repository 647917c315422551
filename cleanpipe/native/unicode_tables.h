/* Written by scripts/unicode_tables.py from Unicode 15.0.0; do not edit. */
#ifndef CP_UNICODE_TABLES_H
#define CP_UNICODE_TABLES_H

#include <stdint.h>

#define CP_UNICODE_VERSION "15.0.0"

/* What a code point does to a token; docs/tokens.md has the definition. */
enum {
    CP_OTHER = 0,   /* ends a token */
    CP_RUN = 1,     /* starts or continues a run */
    CP_CLUSTER = 2, /* always starts a token of its own */
    CP_MARK = 3,    /* continues a token, never starts one */
    CP_SILENT = 4,  /* as a mark, but adds nothing to the hash */
};

/* A kind below CP_PLAIN_KINDS is its own class and folds to itself. */
#define CP_PLAIN_KINDS 5

typedef struct {
    int32_t fold; /* add it to the code point for its simple case folding */
    uint8_t token_class;
} cp_unicode_kind;

extern const uint8_t cp_unicode_index[7172];
extern const uint8_t cp_unicode_blocks[28288];
extern const cp_unicode_kind cp_unicode_kinds[103];

/* The kind of any code point, and CP_OTHER for what is none. */
static inline uint8_t cp_unicode_kind_of(uint32_t code)
{
    uint32_t block = code >> 7;
    if (block >= 7172)
        return CP_OTHER;
    return cp_unicode_blocks[((uint32_t)cp_unicode_index[block] << 7) | (code & 127)];
}

#endif
