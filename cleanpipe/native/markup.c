#include "markup.h"

#include <stdbool.h>
#include <string.h>

#include "characters.h"

#define A8(c, x) [c] = x, [c + 1] = x, [c + 2] = x, [c + 3] = x, [c + 4] = x, [c + 5] = x, \
                 [c + 6] = x, [c + 7] = x

enum {
    LETTER = 1,
    DIGIT = 2,
    HEX = 4,      /* as digits of a number */
    LABEL = 8,    /* in a domain */
    LOCAL = 16,   /* before an @ */
    URL = 32,     /* RFC 3986 */
    TRAILING = 64, /* not at the end of a URL */

    WORD = LABEL | LOCAL | URL,
    X = LETTER | HEX | WORD,
    L = LETTER | WORD,
    D = DIGIT | HEX | WORD,
    T = URL | TRAILING,
};

static const uint8_t classes[256] = {
    A8('0', D), ['8'] = D, ['9'] = D,
    ['A'] = X, ['B'] = X, ['C'] = X, ['D'] = X, ['E'] = X, ['F'] = X,
    A8('G', L), A8('O', L), ['W'] = L, ['X'] = L, ['Y'] = L, ['Z'] = L,
    ['a'] = X, ['b'] = X, ['c'] = X, ['d'] = X, ['e'] = X, ['f'] = X,
    A8('g', L), A8('o', L), ['w'] = L, ['x'] = L, ['y'] = L, ['z'] = L,
    ['-'] = LABEL | LOCAL | URL, ['.'] = LOCAL | T, ['_'] = LOCAL | URL, ['%'] = LOCAL | URL,
    ['+'] = LOCAL | URL, ['~'] = URL, [':'] = T, ['/'] = URL, ['?'] = T, ['#'] = URL,
    ['['] = URL, [']'] = URL, ['@'] = URL, ['!'] = T, ['$'] = URL, ['&'] = URL, ['\''] = T,
    ['('] = URL, [')'] = URL, ['*'] = URL, [','] = T, [';'] = T, ['='] = URL,
};

/* All that is counted shows itself by one of these: a URL by :// or by the stop of www. */
static const uint8_t signs[256] = {
    ['<'] = 1, ['&'] = 1, ['{'] = 1, ['}'] = 1, ['@'] = 1, [':'] = 1, ['.'] = 1,
};
static const uint8_t angles[256] = {['<'] = 1, ['>'] = 1};

static inline bool is(const uint8_t *at, const uint8_t *end, uint8_t wanted)
{
    return at < end && classes[*at] & wanted;
}

/* Over up to `most` bytes of such classes. */
static inline const uint8_t *over(const uint8_t *at, const uint8_t *end, uint8_t wanted,
                                  ptrdiff_t most)
{
    if (end - at > most)
        end = at + most;
    while (is(at, end, wanted))
        at++;
    return at;
}

/* Each below gives the end of what it looks for, or NULL if that is not there. */

/* At a `<`. */
static const uint8_t *tag_end(const uint8_t *at, const uint8_t *end)
{
    if (++at < end && *at == '/')
        at++;
    else if (at < end && *at == '!') {
        at++;
        if (end - at >= 2 && at[0] == '-' && at[1] == '-')
            goto inside;
    }
    if (!is(at, end, LETTER))
        return NULL;
inside:
    at = cp_skip_bytes(at, end, angles);
    return at < end && *at == '>' ? at + 1 : NULL;
}

/* At an `&`. */
static const uint8_t *entity_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = ++at;
    ptrdiff_t least = 1;

    if (is(at, end, LETTER)) {
        at = over(at, end, LETTER | DIGIT, 32);
        least = 2;
    } else if (at < end && *at == '#') {
        from = ++at;
        if (at < end && (*at == 'x' || *at == 'X')) {
            from = ++at;
            at = over(at, end, HEX, 6);
        } else {
            at = over(at, end, DIGIT, 7);
        }
    }
    return at - from >= least && at < end && *at == ';' ? at + 1 : NULL;
}

/* `word` in any case before `at`, not before `from`, and no letter or digit of the text before
 * it; `word` is in lower case. Gives its first character. */
static const uint8_t *word_before(const uint8_t *text, const uint8_t *from, const uint8_t *at,
                                  const char *word)
{
    ptrdiff_t length = (ptrdiff_t)strlen(word);

    if (at - from < length)
        return NULL;
    at -= length;
    for (ptrdiff_t i = 0; i < length; i++)
        if ((at[i] | 0x20) != word[i])
            return NULL;
    return at > text && classes[at[-1]] & (LETTER | DIGIT) ? NULL : at;
}

/* `at` is behind the `://` or `www.`. */
static const uint8_t *url_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = at;

    while (is(at, end, URL))
        at++;
    while (at > from && classes[at[-1]] & TRAILING)
        at--;
    return at > from ? at : NULL;
}

/* Behind the `@`: the most whole labels that make a domain. */
static const uint8_t *domain_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *found = NULL, *const limit = end - at > 253 ? at + 253 : end;

    for (int labels = 1;; labels++) {
        const uint8_t *label = at;
        bool letters = true;

        for (; is(at, end, LABEL) && at <= limit; at++)
            letters = letters && classes[*at] & LETTER;
        if (at == label || at > limit)
            return found;
        if (labels >= 2 && letters && at - label >= 2)
            found = at;
        if (at >= limit || *at != '.')
            return found;
        at++;
    }
}

/* The tokens from *next on that begin in [from, to), which lies behind all that was asked before;
 * *next goes on behind them. */
static uint64_t tokens_in(const cp_tokens *tokens, size_t *next, size_t from, size_t to)
{
    uint64_t found = 0;

    if (!tokens)
        return 0;
    while (*next < tokens->count && tokens->start[*next] < from)
        ++*next;
    for (; *next < tokens->count && tokens->start[*next] < to; ++*next)
        found++;
    return found;
}

void cp_markup_count(const uint8_t *text, size_t len, const cp_tokens *tokens,
                     cp_markup_counts *counts)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    const uint8_t *from = text; /* the end of what was found last */
    size_t token = 0;
    cp_markup_counts found = {0};

    while ((at = cp_skip_bytes(at, end, signs)) < end) {
        const uint8_t *start = at, *stop = NULL;
        bool link = true;

        switch (*at++) {
        case '<':
            link = false;
            if ((stop = tag_end(start, end))) {
                found.html_tags++;
                for (const uint8_t *in = start; in < stop; in++)
                    found.curly_brackets += *in == '{' || *in == '}';
            }
            break;
        case '&':
            link = false;
            if ((stop = entity_end(start, end)))
                found.html_entities++;
            break;
        case '@':
            while (start > from && at - start <= 64 && classes[start[-1]] & LOCAL)
                start--;
            if (start < at - 1 && (stop = domain_end(at, end)))
                found.email_addresses++;
            break;
        case ':':
            if (end - at < 2 || at[0] != '/' || at[1] != '/')
                break;
            if (((start = word_before(text, from, at - 1, "http")) ||
                 (start = word_before(text, from, at - 1, "https")) ||
                 (start = word_before(text, from, at - 1, "ftp"))) &&
                (stop = url_end(at + 2, end)))
                found.urls++;
            break;
        case '.':
            if ((start = word_before(text, from, at - 1, "www")) && (stop = url_end(at, end)))
                found.urls++;
            break;
        default:
            found.curly_brackets++;
        }
        if (stop) {
            uint64_t inside = tokens_in(tokens, &token, (size_t)(start - text),
                                        (size_t)(stop - text));

            *(link ? &found.link_characters : &found.markup_characters) +=
                cp_characters(start, stop);
            *(link ? &found.link_tokens : &found.markup_tokens) += inside;
            from = at = stop;
        }
    }
    *counts = found;
}

size_t cp_markup_emails(const uint8_t *text, size_t len, size_t room, int64_t *start, int64_t *end)
{
    const uint8_t *at = text, *from = text, *const limit = len ? text + len : text;
    size_t count = 0;

    while (at < limit && (at = memchr(at, '@', (size_t)(limit - at)))) {
        const uint8_t *local = at, *stop;

        while (local > from && at - local < 64 && classes[local[-1]] & LOCAL)
            local--;
        while (local < at && (*local == '.' || *local == '-'))
            local++;
        if (local == at || !(stop = domain_end(at + 1, limit))) {
            at++;
            continue;
        }
        if (count < room) {
            start[count] = local - text;
            end[count] = stop - text;
        }
        count++;
        from = at = stop;
    }
    return count;
}
