#include "tokens.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tokens_inner.h"
#include "unicode_tables.h"
#include "utf8.h"

int cp_tokens_reserve(cp_tokens *out, size_t more)
{
    size_t capacity;
    void *grown;

    if (more <= out->capacity - out->count)
        return CP_OK;
    if (more > SIZE_MAX / sizeof *out->hash / 2 - out->count)
        return CP_NO_MEMORY;
    capacity = out->count + more;
    if (capacity < out->capacity + out->capacity / 2)
        capacity = out->capacity + out->capacity / 2;
    /* Each array is stored as soon as it has moved, so a later failure loses nothing. */
    if (!(grown = realloc(out->start, capacity * sizeof *out->start)))
        return CP_NO_MEMORY;
    out->start = grown;
    if (!(grown = realloc(out->end, capacity * sizeof *out->end)))
        return CP_NO_MEMORY;
    out->end = grown;
    if (!(grown = realloc(out->hash, capacity * sizeof *out->hash)))
        return CP_NO_MEMORY;
    out->hash = grown;
    out->capacity = capacity;
    return CP_OK;
}

void cp_tokens_free(cp_tokens *tokens)
{
    free(tokens->start);
    free(tokens->end);
    free(tokens->hash);
    *tokens = (cp_tokens){0};
}

/* A hash under way: the bytes that do not make a word yet wait in `word`. */
typedef struct {
    uint64_t hash;
    uint64_t word;
    unsigned bits; /* in `word`, a multiple of 8 below 64 */
} hasher;

static inline void hash_byte(hasher *h, uint8_t byte)
{
    h->word |= (uint64_t)byte << h->bits;
    h->bits += 8;
    if (h->bits == 64) {
        h->hash = cp_hash_mix(h->hash ^ h->word);
        h->word = 0;
        h->bits = 0;
    }
}

uint64_t cp_tokens_hash_decoded(const uint8_t *text, size_t start, size_t end)
{
    const uint8_t *at = text + start, *const stop = text + end;
    hasher h = {CP_HASH_START, 0, 0};

    while (at < stop) {
        uint32_t code;
        uint8_t kind, folded[8];
        int length = cp_utf8_decode(at, stop, &code);

        at += length; /* a token is well-formed */
        kind = cp_unicode_kind_of(code);
        if (cp_unicode_kinds[kind].token_class == CP_SILENT)
            continue;
        length = cp_utf8_encode(code + (uint32_t)cp_unicode_kinds[kind].fold, folded);
        if (cp_unicode_kinds[kind].mark)
            length += cp_utf8_encode(cp_unicode_kinds[kind].mark, folded + length);
        for (int i = 0; i < length; i++)
            hash_byte(&h, folded[i]);
    }
    return h.bits ? cp_hash_mix(h.hash ^ h.word) : h.hash;
}

#define TRUE_13 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1

/* True for ASCII letters and digits. */
static const bool is_word[256] = {
    ['0'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['A'] = TRUE_13, TRUE_13, ['a'] = TRUE_13, TRUE_13,
};

/* Behind the ASCII letters and digits that begin at `at`, eight of them at a time. */
static inline const uint8_t *skip_word(const uint8_t *at, const uint8_t *end)
{
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
    while (end - at >= 8) {
        const uint64_t word = cp_load_little(at), small = word | EACH(0x20);
        const uint64_t top = EACH(0x80); /* of each byte; no borrow passes one */
        const uint64_t letter = ((small | top) - EACH('a')) & ~((small | top) - EACH('z' + 1));
        const uint64_t digit = ((word | top) - EACH('0')) & ~((word | top) - EACH('9' + 1));
        const uint64_t others = ~((letter | digit) & ~word) & top;

        if (others)
            return at + __builtin_ctzll(others) / 8;
        at += 8;
    }
#undef EACH
    while (at < end && is_word[*at])
        at++;
    return at;
}

/* Whether a well-formed U+4E00 to U+9FFF is at `at`: all of them are plain clusters. */
static inline bool is_han(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 3 && at[0] >= 0xE4 && at[0] <= 0xE9 &&
           at[1] >= (at[0] == 0xE4 ? 0xB8 : 0x80) && at[1] <= 0xBF && cp_utf8_is_tail(at[2]);
}

/* The token being read, if any. */
typedef struct {
    uint8_t open; /* CP_RUN, CP_CLUSTER, or CP_OTHER when between tokens */
    bool decode;  /* its hash needs cp_tokens_hash_decoded */
    const uint8_t *start;
} current;

/* Ends the token, if one is open, before `at`; false when memory is short. */
static inline bool finish(current *token, const uint8_t *text, const uint8_t *at, cp_tokens *out)
{
    size_t start = (size_t)(token->start - text), end = (size_t)(at - text);

    if (token->open == CP_OTHER)
        return true;
    token->open = CP_OTHER;
    if (out->count == out->capacity && cp_tokens_reserve(out, 64) != CP_OK)
        return false;
    out->start[out->count] = (uint32_t)start;
    out->end[out->count] = (uint32_t)end;
    out->hash[out->count++] = token->decode ? cp_tokens_hash_decoded(text, start, end)
                                            : cp_tokens_hash(text, start, end);
    return true;
}

int cp_tokens_scan_scalar(const uint8_t *text, size_t len, cp_tokens *result,
                          uint64_t *ill_formed)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    cp_tokens grown = *result, *const out = &grown;
    current token = {CP_OTHER, false, text};
    uint64_t bad = 0;

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    while (at < end) {
        uint8_t kind, token_class;
        uint32_t code;
        int length;

        if (*at < 0x80) {
            if (is_word[*at]) {
                if (token.open != CP_RUN) {
                    if (!finish(&token, text, at, out))
                        goto no_memory;
                    token = (current){CP_RUN, false, at};
                }
                at = skip_word(at, end);
            } else {
                if (!finish(&token, text, at, out))
                    goto no_memory;
                do
                    at++;
                while (at < end && *at < 0x80 && !is_word[*at]);
            }
            continue;
        }
        if (is_han(at, end)) {
            if (!finish(&token, text, at, out))
                goto no_memory;
            token = (current){CP_CLUSTER, false, at};
            at += 3;
            continue;
        }

        length = cp_utf8_decode(at, end, &code);
        if (length < 0) {
            bad++;
            length = -length;
        }
        kind = cp_unicode_kind_of(code);
        token_class = cp_unicode_kinds[kind].token_class;
        if (token_class == CP_OTHER) {
            if (!finish(&token, text, at, out))
                goto no_memory;
        } else if (token_class == CP_CLUSTER || (token_class == CP_RUN && token.open != CP_RUN)) {
            if (!finish(&token, text, at, out))
                goto no_memory;
            token = (current){token_class, false, at};
        }
        token.decode |= kind >= CP_PLAIN_KINDS;
        at += length;
    }
    if (!finish(&token, text, end, out))
        goto no_memory;
    *ill_formed += bad;
    *result = grown;
    return CP_OK;

no_memory:
    grown.count = result->count;
    *result = grown;
    return CP_NO_MEMORY;
}

uint64_t cp_tokens_count_scalar(const uint8_t *text, size_t len)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    uint8_t open = CP_OTHER;
    uint64_t count = 0;

    while (at < end) {
        uint8_t token_class;
        uint32_t code;

        if (*at < 0x80) {
            token_class = is_word[*at] ? CP_RUN : CP_OTHER;
            at++;
        } else if (is_han(at, end)) {
            token_class = CP_CLUSTER;
            at += 3;
        } else {
            int length = cp_utf8_decode(at, end, &code);
            at += length < 0 ? -length : length;
            token_class = cp_unicode_kinds[cp_unicode_kind_of(code)].token_class;
        }
        if (token_class >= CP_MARK)
            continue;
        count += token_class == CP_CLUSTER || (token_class == CP_RUN && open != CP_RUN);
        open = token_class;
    }
    return count;
}

int cp_tokens_scan(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed)
{
    return cp_isa_used->tokens_scan(text, len, out, ill_formed);
}

uint64_t cp_tokens_count(const uint8_t *text, size_t len)
{
    return cp_isa_used->tokens_count(text, len);
}
