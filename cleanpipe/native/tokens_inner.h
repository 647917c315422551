/* What the variants of the token kernels share; nothing outside tokens*.c includes it. */
#ifndef CP_TOKENS_INNER_H
#define CP_TOKENS_INNER_H

#include <string.h>

#include "isa.h"
#include "tokens.h"
#include "unicode_tables.h"

/* The variants: same arguments, results and codes as cp_tokens_scan and cp_tokens_count. */
int cp_tokens_scan_scalar(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_scalar(const uint8_t *text, size_t len);
#ifdef CP_HAVE_AVX2
int cp_tokens_scan_avx2(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_avx2(const uint8_t *text, size_t len);
#endif
#ifdef CP_HAVE_NEON
int cp_tokens_scan_neon(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_neon(const uint8_t *text, size_t len);
#endif

/* The hash of the token text[start, end) by decoding it, needed where it has a code point of a
 * folding kind or a SILENT one. */
uint64_t cp_tokens_hash_decoded(const uint8_t *text, size_t start, size_t end);

static inline uint64_t cp_load_little(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Sets bit 5 of the ASCII bytes: capital letters become small, small ones and digits stay. */
static inline uint64_t cp_fold_word(uint64_t word)
{
    return word | (~word & UINT64_C(0x8080808080808080)) >> 2;
}

/* The hash of the token text[start, end), of 1 byte or more, when only ASCII in it folds, by
 * `fold`, and nothing in it is SILENT. Its last word is read from the 8 bytes that end with it, so
 * nothing behind the token is read, nor anything before the text. */
static inline uint64_t cp_tokens_hash_plain(const uint8_t *text, size_t start, size_t end,
                                            uint64_t (*fold)(uint64_t word))
{
    uint64_t hash = CP_HASH_START, word = 0;
    size_t left;

    for (left = end - start; left > 8; left -= 8)
        hash = cp_hash_mix(hash ^ fold(cp_load_little(text + end - left)));
    if (end >= 8)
        word = cp_load_little(text + end - 8);
    else
        for (size_t i = 0; i < end; i++)
            word |= (uint64_t)text[i] << (64 - 8 * (end - i));
    return cp_hash_mix(hash ^ fold(word) >> (64 - 8 * left));
}

/* The same for letters, digits and what is not ASCII. */
static inline uint64_t cp_tokens_hash(const uint8_t *text, size_t start, size_t end)
{
    return cp_tokens_hash_plain(text, start, end, cp_fold_word);
}

#endif
