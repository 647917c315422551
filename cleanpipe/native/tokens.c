#include "tokens.h"

#include <stdbool.h>
#include <stdlib.h>

#include "unicode_tables.h"
#include "utf8.h"

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

static inline uint64_t hash_end(const hasher *h)
{
    return h->bits ? cp_hash_mix(h->hash ^ h->word) : h->hash;
}

/* A byte of the text is hashed as it is unless its code point has another case. */
static inline void hash_code(hasher *h, uint8_t kind, uint32_t code, const uint8_t *at, int length)
{
    uint8_t folded[4];

    if (cp_unicode_kinds[kind].token_class == CP_SILENT)
        return;
    if (kind >= CP_PLAIN_KINDS) {
        length = cp_utf8_encode(code + (uint32_t)cp_unicode_kinds[kind].fold, folded);
        at = folded;
    }
    for (int i = 0; i < length; i++)
        hash_byte(h, at[i]);
}

#define A8(c) c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6, c + 7

/* The folded byte of an ASCII letter or digit, 0 for every other byte. */
static const uint8_t ascii_fold[256] = {
    ['0'] = A8('0'), '8', '9',
    ['A'] = A8('a'), A8('i'), A8('q'), 'y', 'z',
    ['a'] = A8('a'), A8('i'), A8('q'), 'y', 'z',
};

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

/* The token being read, if any. */
typedef struct {
    uint8_t open; /* CP_RUN, CP_CLUSTER, or CP_OTHER when between tokens */
    const uint8_t *start;
    hasher h;
} current;

static inline void begin(current *token, uint8_t token_class, const uint8_t *at)
{
    *token = (current){token_class, at, {CP_HASH_START, 0, 0}};
}

/* Ends the token, if one is open, before `at`; false when memory is short. */
static inline bool finish(current *token, const uint8_t *text, const uint8_t *at, cp_tokens *out)
{
    if (token->open == CP_OTHER)
        return true;
    token->open = CP_OTHER;
    if (out->count == out->capacity && cp_tokens_reserve(out, 64) != CP_OK)
        return false;
    out->start[out->count] = (uint32_t)(token->start - text);
    out->end[out->count] = (uint32_t)(at - text);
    out->hash[out->count++] = hash_end(&token->h);
    return true;
}

int cp_tokens_scan(const uint8_t *text, size_t len, cp_tokens *result, uint64_t *ill_formed)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    cp_tokens grown = *result, *const out = &grown;
    current token = {0};
    uint64_t bad = 0;

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    while (at < end) {
        uint8_t kind, token_class;
        uint32_t code;
        int length;

        if (*at < 0x80) {
            if (ascii_fold[*at]) {
                if (token.open != CP_RUN) {
                    if (!finish(&token, text, at, out))
                        goto no_memory;
                    begin(&token, CP_RUN, at);
                }
                do
                    hash_byte(&token.h, ascii_fold[*at]);
                while (++at < end && ascii_fold[*at]);
            } else {
                if (!finish(&token, text, at, out))
                    goto no_memory;
                do
                    at++;
                while (at < end && *at < 0x80 && !ascii_fold[*at]);
            }
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
        } else {
            if (token_class == CP_CLUSTER || (token_class == CP_RUN && token.open != CP_RUN)) {
                if (!finish(&token, text, at, out))
                    goto no_memory;
                begin(&token, token_class, at);
            }
            if (token.open != CP_OTHER)
                hash_code(&token.h, kind, code, at, length);
        }
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

uint64_t cp_tokens_count(const uint8_t *text, size_t len)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    uint8_t open = CP_OTHER;
    uint64_t count = 0;

    while (at < end) {
        uint8_t token_class;
        uint32_t code;

        if (*at < 0x80) {
            token_class = ascii_fold[*at] ? CP_RUN : CP_OTHER;
            at++;
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
