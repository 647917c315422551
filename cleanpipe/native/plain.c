#include "plain.h"

#include <stdbool.h>
#include <string.h>

#include "characters.h"
#include "utf8.h"

enum { NAME = 1, LETTER = 2, SPACE = 4, UNQUOTED = 8, HEX = 16, DIGIT = 32 };

static uint8_t class_of(uint8_t byte)
{
    const uint8_t small = byte | 0x20;

    if (small >= 'a' && small <= 'z')
        return NAME | LETTER | UNQUOTED | (small <= 'f' ? HEX : 0);
    if (byte >= '0' && byte <= '9')
        return NAME | UNQUOTED | HEX | DIGIT;
    switch (byte) {
    case ' ': case '\t': case '\n': case '\v': case '\f': case '\r':
        return SPACE;
    case '-': case '_': case ':': case '.': case '@':
        return NAME | UNQUOTED;
    case '<': case '>': case '"': case '\'': case '=': case '`':
        return 0;
    default:
        return UNQUOTED;
    }
}

static inline bool is(const uint8_t *at, const uint8_t *end, uint8_t wanted)
{
    return at < end && class_of(*at) & wanted;
}

static const uint8_t *over(const uint8_t *at, const uint8_t *end, uint8_t wanted)
{
    while (is(at, end, wanted))
        at++;
    return at;
}

/* What is between quotes, the first of which is at `at`: its end, or NULL. */
static const uint8_t *quoted_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t quote = *at++;

    while (at < end && *at != quote && *at != '<')
        at++;
    return at < end && *at == quote ? at : NULL;
}

/* The end of the tag at `at`, a `<`, or NULL. Writes its blanks to `out`, which has its bytes. */
static const uint8_t *tag_end(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    const uint8_t *const start = at, *blank = at; /* what is before `blank` is as it shall be */
    const uint8_t *keep[8][2];
    int kept = 0, bare = 0;

    at++;
    if (at < end && *at == '!') {
        const uint8_t *const limit = end - at > 64 ? at + 64 : end;

        if (!is(at + 1, limit, LETTER))
            return NULL;
        while (at < limit && *at != '<' && *at != '>')
            at++;
        if (at == limit || *at != '>')
            return NULL;
        memset(out, ' ', (size_t)(at + 1 - start));
        return at + 1;
    }
    if (at < end && *at == '/') {
        if (!is(++at, end, LETTER))
            return NULL;
        at = over(over(at, end, NAME), end, SPACE);
        bare = 3;
    } else {
        if (!is(at, end, LETTER))
            return NULL;
        at = over(at, end, NAME);
    }
    for (;;) {
        const uint8_t *name;

        at = over(at, end, SPACE);
        if (at < end && *at == '/')
            at++;
        if (at < end && *at == '>')
            break;
        name = at;
        at = over(at, end, NAME);
        if (at == name || bare > 2)
            return NULL;
        at = over(at, end, SPACE);
        if (!(at < end && *at == '=')) {
            if (++bare > 2)
                return NULL;
            continue;
        }
        at = over(at + 1, end, SPACE);
        if (at < end && (*at == '"' || *at == '\'')) {
            const uint8_t *const value = at + 1;

            if (!(at = quoted_end(at, end)))
                return NULL;
            if (at - value > CP_PLAIN_VALUE && kept < 8) {
                keep[kept][0] = value;
                keep[kept++][1] = at;
            }
            at++;
        } else if (is(at, end, UNQUOTED)) {
            at = over(at, end, UNQUOTED);
        } else {
            return NULL;
        }
    }
    for (int i = 0; i < kept; i++) {
        memset(out + (blank - start), ' ', (size_t)(keep[i][0] - blank));
        blank = keep[i][1];
    }
    memset(out + (blank - start), ' ', (size_t)(at + 1 - blank));
    return at + 1;
}

/* The character in place of the `length` bytes at `out`. */
static void write_character(uint8_t *out, size_t length, uint32_t code)
{
    /* Silent (docs/tokens.md), of three bytes and of four. */
    static const uint8_t joiner[] = {0xE2, 0x80, 0x8D}, selector[] = {0xF3, 0xA0, 0x84, 0x80};
    size_t left;

    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        code = 0xFFFD;
    left = length - (size_t)cp_utf8_encode(code, out);
    out += length - left;
    if (left == 1 || left == 2 || left == 5 ||
        (code < 0x80 && !(class_of((uint8_t)code) & (LETTER | DIGIT)))) {
        memset(out, ' ', left);
        return;
    }
    for (; left % 4; left -= sizeof joiner, out += sizeof joiner)
        memcpy(out, joiner, sizeof joiner);
    for (; left; left -= sizeof selector, out += sizeof selector)
        memcpy(out, selector, sizeof selector);
}

static uint32_t hex_value(const uint8_t *at, size_t digits)
{
    uint32_t value = 0;

    for (size_t i = 0; i < digits; i++)
        value = value * 16 + (uint32_t)(at[i] <= '9' ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
    return value;
}

/* The end of the entity at `at`, an `&`, or NULL. */
static const uint8_t *entity_end(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    static const struct {
        const char *name;
        uint8_t byte;
    } named[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    const uint8_t *const start = at++, *from = at;
    uint32_t code = 0;

    if (is(at, end, LETTER)) {
        while (is(at, end, LETTER | DIGIT) && at - from < 33)
            at++;
        if (at - from < 2 || at - from > 32 || at == end || *at != ';')
            return NULL;
        memset(out, ' ', (size_t)(at + 1 - start));
        for (size_t i = 0; i < sizeof named / sizeof *named; i++)
            if (strlen(named[i].name) == (size_t)(at - from) &&
                memcmp(named[i].name, from, (size_t)(at - from)) == 0)
                *out = named[i].byte;
        return at + 1;
    }
    if (at == end || *at != '#')
        return NULL;
    from = ++at;
    if (at < end && (*at | 0x20) == 'x') {
        from = ++at;
        while (is(at, end, HEX) && at - from < 7)
            at++;
        if (at == from || at - from > 6)
            return NULL;
        code = hex_value(from, (size_t)(at - from));
    } else {
        for (; is(at, end, DIGIT) && at - from < 8; at++)
            code = code * 10 + (uint32_t)(*at - '0');
        if (at == from || at - from > 7)
            return NULL;
    }
    if (at == end || *at != ';')
        return NULL;
    write_character(out, (size_t)(at + 1 - start), code);
    return at + 1;
}

/* Whether \uXXXX is at `at`, and its number. */
static bool escape_at(const uint8_t *at, const uint8_t *end, uint32_t *code)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++)
        if (!(class_of(at[i]) & HEX))
            return false;
    *code = hex_value(at + 2, 4);
    return true;
}

/* The end of the escape at `at`, a backslash, or NULL. */
static const uint8_t *escape_end(const uint8_t *text, const uint8_t *at, const uint8_t *end,
                                 uint8_t *out)
{
    uint32_t code, low;
    size_t length = 6;

    if ((at > text && at[-1] == '\\') || !escape_at(at, end, &code))
        return NULL;
    if (code >= 0xD800 && code < 0xDC00 && escape_at(at + 6, end, &low) && low >= 0xDC00 &&
        low <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        length = 12;
    }
    write_character(out, length, code);
    return at + length;
}

void cp_plain_text(const uint8_t *text, size_t len, uint8_t *out)
{
    static const uint8_t begins[256] = {['<'] = 1, ['&'] = 1, ['\\'] = 1};
    const uint8_t *at = text, *const end = len ? text + len : text;

    if (len)
        memcpy(out, text, len);
    while ((at = cp_skip_bytes(at, end, begins)) < end) {
        uint8_t *const here = out + (at - text);
        const uint8_t *stop = *at == '<'   ? tag_end(at, end, here)
                              : *at == '&' ? entity_end(at, end, here)
                                           : escape_end(text, at, end, here);

        at = stop ? stop : at + 1;
    }
}
