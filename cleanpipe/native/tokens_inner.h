/* What the variants of the token kernels share; nothing outside tokens*.c includes it. */
#ifndef CP_TOKENS_INNER_H
#define CP_TOKENS_INNER_H

#include <stdbool.h>
#include <string.h>

#include "isa.h"
#include "tokens.h"
#include "unicode_tables.h"
#include "utf8.h"

/* The variants: same arguments, results and codes as cp_tokens_scan, cp_tokens_count and those of
 * code_tokens.h. */
int cp_tokens_scan_scalar(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_scalar(const uint8_t *text, size_t len);
int cp_code_tokens_scan_scalar(const uint8_t *text, size_t len, cp_tokens *out,
                               uint64_t *ill_formed);
uint64_t cp_code_tokens_count_scalar(const uint8_t *text, size_t len);
#ifdef CP_HAVE_AVX2
int cp_tokens_scan_avx2(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_avx2(const uint8_t *text, size_t len);
int cp_code_tokens_scan_avx2(const uint8_t *text, size_t len, cp_tokens *out,
                             uint64_t *ill_formed);
uint64_t cp_code_tokens_count_avx2(const uint8_t *text, size_t len);
#endif
#ifdef CP_HAVE_NEON
int cp_tokens_scan_neon(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_tokens_count_neon(const uint8_t *text, size_t len);
int cp_code_tokens_scan_neon(const uint8_t *text, size_t len, cp_tokens *out,
                             uint64_t *ill_formed);
uint64_t cp_code_tokens_count_neon(const uint8_t *text, size_t len);
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

/* Whether a code point from U+0080 on of no token class is a code token by itself: it is visible,
 * and not what stands for ill-formed bytes. */
static inline bool cp_is_operator(uint32_t code, uint8_t kind)
{
    /* Of controls there are those below U+00A0 and no more, for good. */
    return code >= 0xA0 && code != CP_REPLACEMENT && cp_unicode_kinds[kind].traits & CP_VISIBLE;
}

/* Sets bit 5 of the ASCII bytes: capital letters become small, small ones and digits stay. */
static inline uint64_t cp_fold_word(uint64_t word)
{
    return word | (~word & UINT64_C(0x8080808080808080)) >> 2;
}

/* The same for letters alone, so that `_`, `[` and `@` stay: slower, and right for words too. */
static inline uint64_t cp_fold_letters(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101), top = each * 0x80;
    const uint64_t from_a = (word | top) - each * 'A', behind_z = (word | top) - each * ('Z' + 1);

    return word | (from_a & ~behind_z & ~word & top) >> 2;
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

/* That of a token of letters, digits and what is not ASCII. */
static inline uint64_t cp_tokens_hash(const uint8_t *text, size_t start, size_t end)
{
    return cp_tokens_hash_plain(text, start, end, cp_fold_word);
}

/* That of any token. */
static inline uint64_t cp_code_tokens_hash(const uint8_t *text, size_t start, size_t end)
{
    return cp_tokens_hash_plain(text, start, end, cp_fold_letters);
}

#endif
