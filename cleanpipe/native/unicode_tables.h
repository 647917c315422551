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

/* What a code point is to the measures; docs/measures.md has the words. No trait: whitespace. */
enum {
    CP_PRINTED = 1,       /* not whitespace */
    CP_VISIBLE = 2,       /* neither that, nor Cf, nor a variation selector */
    CP_LETTER = 4,        /* L */
    CP_WRITTEN_MARK = 8,  /* Mn, Mc, but no variation selector */
    CP_UPPER = 16,        /* Lu */
    CP_DIGIT = 32,        /* Nd */
    CP_PUNCTUATION = 64,  /* P */
    CP_SYMBOL = 128,      /* S */
    CP_STOP = 256,        /* .!? */
    CP_WIDE_STOP = 512,   /* ends a sentence whatever follows */
    CP_CLOSING = 1024,    /* a closing quote or bracket */
    CP_CLOSING_BEFORE_SPACE = 2048,
    CP_TERMINAL = 4096,   /* terminal punctuation of a line */
    CP_BULLET = 8192,     /* makes a line a list item */
};

/* A kind below CP_PLAIN_KINDS is hashed as it stands, one from it on is silent or folds; kind 0 is
 * what is not assigned. */
#define CP_PLAIN_KINDS 21

typedef struct {
    int32_t fold;  /* add it to the code point for its folding */
    uint16_t mark; /* a voiced mark that follows when it is folded, or 0 */
    uint8_t token_class;
    uint16_t traits;
} cp_unicode_kind;

extern const uint8_t cp_unicode_index[7172];
extern const uint8_t cp_unicode_blocks[31616];
extern const cp_unicode_kind cp_unicode_kinds[172];

/* The kind of any code point, and 0 for what is none. */
static inline uint8_t cp_unicode_kind_of(uint32_t code)
{
    uint32_t block = code >> 7;
    if (block >= 7172)
        return 0;
    return cp_unicode_blocks[((uint32_t)cp_unicode_index[block] << 7) | (code & 127)];
}

#endif
