#include "code_tokens.h"

#include <stdbool.h>

#include "tokens_inner.h"
#include "unicode_tables.h"
#include "utf8.h"

/* Beside the classes of unicode_tables.h, of which CP_OTHER is what separates. */
enum { SINGLE = CP_SILENT + 1 };

#define X13(class) class, class, class, class, class, class, class, class, class, class, class, \
                   class, class

static const uint8_t ascii_class[128] = {
    ['!'] = X13(SINGLE), SINGLE, SINGLE, /* to / */
    ['0'] = CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN, CP_RUN,
    [':'] = SINGLE, SINGLE, SINGLE, SINGLE, SINGLE, SINGLE, SINGLE, /* to @ */
    ['A'] = X13(CP_RUN), X13(CP_RUN),
    ['['] = SINGLE, SINGLE, SINGLE, SINGLE, CP_RUN /* _ */, SINGLE,
    ['a'] = X13(CP_RUN), X13(CP_RUN),
    ['{'] = SINGLE, SINGLE, SINGLE, SINGLE,
};

typedef struct {
    uint8_t class;
    bool ill_formed;
    bool folds; /* or is silent: not hashed as it stands */
    int length;
} character;

static inline character character_at(const uint8_t *at, const uint8_t *end)
{
    uint32_t code;
    uint8_t kind;
    character c = {CP_OTHER, false, false, 1};

    if (*at < 0x80) {
        c.class = ascii_class[*at];
        return c;
    }
    c.length = cp_utf8_decode(at, end, &code);
    if (c.length < 0) {
        c.ill_formed = true;
        c.length = -c.length;
    }
    kind = cp_unicode_kind_of(code);
    c.class = cp_unicode_kinds[kind].token_class;
    c.folds = kind >= CP_PLAIN_KINDS;
    if (c.class == CP_OTHER && cp_is_operator(code, kind))
        c.class = SINGLE;
    return c;
}

/* A text being read; `at` is behind the last token. */
typedef struct {
    const uint8_t *at, *end;
    uint64_t ill_formed; /* before `at` */
} reader;

typedef struct {
    const uint8_t *start, *end;
    bool decode; /* its hash needs cp_tokens_hash_decoded */
} found;

static inline bool next_token(reader *r, found *token)
{
    const uint8_t *at = r->at;
    character first;

    for (;; at += first.length) {
        if (at >= r->end) {
            r->at = at;
            return false;
        }
        first = character_at(at, r->end);
        r->ill_formed += first.ill_formed;
        if (first.class != CP_OTHER && first.class != CP_SILENT)
            break;
    }
    *token = (found){at, at + first.length, first.folds};
    at += first.length;
    if (first.class == CP_RUN || first.class == CP_CLUSTER)
        while (at < r->end) {
            character c = character_at(at, r->end);

            if (c.class != CP_MARK && c.class != CP_SILENT &&
                !(c.class == CP_RUN && first.class == CP_RUN))
                break;
            token->decode |= c.folds;
            at += c.length;
        }
    token->end = r->at = at;
    return true;
}

int cp_code_tokens_scan_scalar(const uint8_t *text, size_t len, cp_tokens *out,
                               uint64_t *ill_formed)
{
    reader r = {text, len ? text + len : text, 0};
    const size_t before = out->count;
    found token;

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    while (next_token(&r, &token)) {
        size_t start = (size_t)(token.start - text), end = (size_t)(token.end - text);

        if (out->count == out->capacity && cp_tokens_reserve(out, 64) != CP_OK) {
            out->count = before;
            return CP_NO_MEMORY;
        }
        out->start[out->count] = (uint32_t)start;
        out->end[out->count] = (uint32_t)end;
        out->hash[out->count++] = token.decode ? cp_tokens_hash_decoded(text, start, end)
                                               : cp_code_tokens_hash(text, start, end);
    }
    *ill_formed += r.ill_formed;
    return CP_OK;
}

uint64_t cp_code_tokens_count_scalar(const uint8_t *text, size_t len)
{
    reader r = {text, len ? text + len : text, 0};
    uint64_t count = 0;
    found token;

    while (next_token(&r, &token))
        count++;
    return count;
}

int cp_code_tokens_scan(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed)
{
    return cp_isa_used->code_tokens_scan(text, len, out, ill_formed);
}

uint64_t cp_code_tokens_count(const uint8_t *text, size_t len)
{
    return cp_isa_used->code_tokens_count(text, len);
}
