/* The one definition of a token: docs/tokens.md has it with examples, here is the short of it.
 *
 *   token   = CLUSTER tail*  |  RUN (RUN | tail)*        tail = MARK | SILENT
 *
 * with the classes of unicode_tables.h. A token's hash is taken over its code points folded in
 * case and width, without the SILENT ones, in UTF-8: read as little-endian 64-bit words, the last one padded with
 * zeros,
 *
 *   hash = CP_HASH_START;  for each word: hash = cp_hash_mix(hash ^ word)
 *
 * No NUL byte is ever in a token, so the padding is unambiguous. The hash has no seed, is the same
 * on every machine, is not one against adversaries, and every bit of it is usable.
 *
 * Kernels below own no memory and know no locale; any number of threads may run them. */
#ifndef CP_TOKENS_H
#define CP_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* Raised by whatever changes a token's span or hash: the definition, the Unicode version, the
 * hash. Stored signatures and n-gram indexes name it and refuse another one. */
#define CP_TOKEN_TABLE_VERSION 2

enum {
    CP_OK = 0,
    CP_NO_MEMORY = -1, /* an allocation failed or its size overflows */
    CP_TOO_LONG = -2,  /* a text of more than UINT32_MAX bytes */
};

/* The tokens of one or more texts, one after the other, in three parallel arrays. The caller owns
 * it: zero-initialise, reuse by setting count to 0, release with cp_tokens_free. */
typedef struct {
    uint32_t *start; /* byte offset of the token's first byte in its own text */
    uint32_t *end;   /* byte offset behind its last byte */
    uint64_t *hash;
    size_t count;
    size_t capacity; /* all three arrays have room for this many */
} cp_tokens;

/* Appends the tokens of `text` (may be NULL when len is 0) to `out`, and adds the number of
 * ill-formed UTF-8 sequences to *ill_formed. Those are U+FFFD, so they end a token.
 * Returns CP_OK, or CP_NO_MEMORY or CP_TOO_LONG and then leaves out->count and *ill_formed as they
 * were. */
int cp_tokens_scan(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);

/* The number of tokens that cp_tokens_scan would append; texts of any length. */
uint64_t cp_tokens_count(const uint8_t *text, size_t len);

/* Makes room for `more` tokens behind out->count. Returns CP_OK or CP_NO_MEMORY; the tokens stay
 * as they were either way. */
int cp_tokens_reserve(cp_tokens *out, size_t more);

/* Frees the arrays and zeroes the struct. */
void cp_tokens_free(cp_tokens *tokens);

#define CP_HASH_START UINT64_C(0x9E3779B97F4A7C15)

/* MurmurHash3's 64-bit finaliser: a bijection in which every bit of x reaches every bit. */
static inline uint64_t cp_hash_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xFF51AFD7ED558CCD);
    x ^= x >> 33;
    x *= UINT64_C(0xC4CEB9FE1A85EC53);
    return x ^ x >> 33;
}

#endif
