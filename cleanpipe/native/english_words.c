#include "english_words.h"

#include <stdbool.h>
#include <string.h>

#include "characters.h"

enum { MARK = CP_PUNCTUATION | CP_SYMBOL, ALPHANUMERIC = CP_LETTER | CP_DIGIT };

/* What is left at the ends of a word, though it is a mark. */
static const char stays_in_front[] = "-/@~|^\\+", stays_behind[] = "-/@~|^\\+=$";

typedef struct {
    uint32_t code;
    uint16_t traits; /* 0 also where there is no character */
    int length;
} character;

static inline character character_at(const uint8_t *at, const uint8_t *end)
{
    character c = {0, 0, 0};

    if (at < end) {
        c.length = cp_utf8_decode(at, end, &c.code);
        c.length = c.length < 0 ? -c.length : c.length;
        c.traits = cp_unicode_kinds[cp_unicode_kind_of(c.code)].traits;
    }
    return c;
}

/* ---- ASCII ---- */

static inline bool is_lower(uint32_t code)
{
    return code - 'a' < 26;
}

static inline bool is_upper(uint32_t code)
{
    return code - 'A' < 26;
}

static inline bool is_digit(uint32_t code)
{
    return code - '0' < 10;
}

static inline bool is_alphanumeric(uint32_t code)
{
    return is_lower(code | 0x20) || is_digit(code);
}

static inline bool is_one_of(const char *set, uint32_t code)
{
    return code && code < 0x80 && strchr(set, (int)code);
}

/* ---- words ---- */

static uint64_t hash_of(const uint8_t *at, size_t len)
{
    uint64_t hash = CP_HASH_START ^ len, word; /* the length, as NUL may be in a word */

    for (; len >= 8; len -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = cp_hash_mix(hash ^ word);
    }
    word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)at[i] << 8 * i;
    return cp_hash_mix(hash ^ word);
}

typedef struct {
    const uint8_t *text;
    cp_tokens *out;
    bool no_memory;
} writer;

/* Appends [at, end), if that is anything. */
static void add(writer *w, const uint8_t *at, const uint8_t *end)
{
    cp_tokens *out = w->out;

    if (at == end || w->no_memory)
        return;
    if (out->count == out->capacity && cp_tokens_reserve(out, 64) != CP_OK) {
        w->no_memory = true;
        return;
    }
    out->start[out->count] = (uint32_t)(at - w->text);
    out->end[out->count] = (uint32_t)(end - w->text);
    out->hash[out->count++] = hash_of(at, (size_t)(end - at));
}

static const uint8_t *skip_stops(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at == '.')
        at++;
    return at;
}

/* Appends the marks that a word ends with; a row of full stops is one. */
static void add_marks(writer *w, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint8_t *next =
            *at == '.' ? skip_stops(at, end) : at + character_at(at, end).length;

        add(w, at, next);
        at = next;
    }
}

/* Appends the marks that a word begins with; returns the place behind them. */
static const uint8_t *add_front(writer *w, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        character c = character_at(at, end);
        const uint8_t *next = c.code == '.' ? skip_stops(at, end) : at + c.length;

        if (!(c.traits & MARK) || is_one_of(stays_in_front, c.code) ||
            (c.code == '.' && next == at + 1 && next < end))
            break;
        add(w, at, next);
        at = next;
    }
    return at;
}

/* Where the marks begin that [at, end) ends with. Forwards, as what is ill-formed reads otherwise
 * from behind. */
static const uint8_t *marks_behind(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *found = at;
    uint32_t last = 0, before_last = 0;

    while (at < end) {
        character c = character_at(at, end);
        const uint8_t *next = c.code == '.' ? skip_stops(at, end) : at + c.length;
        /* That of an initial: `J.`, `U.S.` */
        bool belongs = c.code == '.' && next == at + 1 && is_upper(last) && !is_upper(before_last);

        if (!(c.traits & MARK) || is_one_of(stays_behind, c.code) || belongs)
            found = next;
        before_last = last;
        last = c.code;
        at = next;
    }
    return found;
}

/* Whether [at, end) is an address: a scheme or none, a user or none, a domain that ends in two or
 * more small letters, and behind `:`, `/`, `?` or `#` anything. */
static bool is_address(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next = at, *label;
    bool small = true;

    while (next < end && is_alphanumeric(*next))
        next++;
    if (end - next > 3 && next > at && !is_digit(*at) && memcmp(next, "://", 3) == 0)
        at = next + 3;
    for (next = at; next < end && (is_alphanumeric(*next) || is_one_of("._%+-", *next));)
        next++;
    if (next < end && next > at && *next == '@')
        at = next + 1;
    for (next = label = at; next < end; next++) {
        if (*next == '.') {
            if (next == label)
                return false;
            label = next + 1;
            small = true;
        } else if (is_alphanumeric(*next) || *next == '-') {
            small &= is_lower(*next);
        } else {
            break;
        }
    }
    return label > at && small && next - label >= 2 &&
           (next == end || is_one_of(":/?#", *next));
}

static inline bool is_hyphen(uint32_t code)
{
    return code == '-' || code == 0x2013 || code == 0x2014 || code == '~';
}

/* The place behind what divides a word at `at`, or NULL. `last` is the character before. */
static const uint8_t *divider(const uint8_t *at, const uint8_t *end, character last, character c)
{
    const uint8_t *next = at + c.length;
    character then;

    if (c.code == 0x2026)
        return next;
    if (c.code == '.' && skip_stops(at, end) > next)
        return skip_stops(at, end);
    if (!(c.traits & MARK) || !last.length)
        return NULL;
    then = character_at(next, end);
    if ((is_one_of("+-*^", c.code) && is_digit(last.code) && is_digit(then.code)) ||
        (c.code == '.' && is_lower(last.code) && is_upper(then.code)) ||
        (c.code == ',' && last.traits & CP_LETTER && then.traits & CP_LETTER) ||
        (is_one_of(":<>=/", c.code) && last.traits & ALPHANUMERIC && then.traits & CP_LETTER))
        return next;
    if (!is_hyphen(c.code) || !(last.traits & ALPHANUMERIC))
        return NULL;
    for (; is_hyphen(then.code); then = character_at(next, end))
        next += then.length;
    return then.traits & CP_LETTER ? next : NULL;
}

/* Where `'s`, `n't` and the like begin, that [at, end) ends with, or `end`. */
static const uint8_t *contraction(const uint8_t *at, const uint8_t *end)
{
    static const char endings[][3] = {"s", "m", "re", "ve", "ll", "d", "t"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        ptrdiff_t size = (ptrdiff_t)strlen(endings[i]);
        const uint8_t *found = end - size;
        bool same = end - at > size;

        for (ptrdiff_t j = 0; same && j < size; j++)
            same = (found[j] | 0x20) == endings[i][j];
        if (!same)
            continue;
        if (found[-1] == '\'')
            found -= 1;
        else if (found - at >= 3 && memcmp(found - 3, "\xE2\x80\x99", 3) == 0) /* U+2019 */
            found -= 3;
        else
            continue;
        if (endings[i][0] == 't' && (found == at || (*--found | 0x20) != 'n'))
            continue;
        return found > at ? found : end;
    }
    return end;
}

/* Appends what lies between the marks of a word. */
static void add_inside(writer *w, const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = at, *found;
    character last = {0, 0, 0};

    if (at == end)
        return;
    if (!is_address(at, end))
        while (at < end) {
            character c = character_at(at, end);
            const uint8_t *behind = divider(at, end, last, c);

            if (behind) {
                add(w, from, at);
                add(w, at, behind);
                from = behind;
            }
            last = c;
            at = behind ? behind : at + c.length;
        }
    found = contraction(from, end);
    add(w, from, found);
    add(w, found, end);
}

int cp_english_words_scan(const uint8_t *text, size_t len, cp_tokens *out)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    const size_t before = out->count;
    writer w = {text, out, false};

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    while ((at = cp_skip_space(at, end)) < end && !w.no_memory) {
        const uint8_t *from, *behind, *next = at;
        character c;

        while ((c = character_at(next, end)).traits)
            next += c.length;
        from = add_front(&w, at, next);
        behind = marks_behind(from, next);
        add_inside(&w, from, behind);
        add_marks(&w, behind, next);
        at = next;
    }
    if (!w.no_memory)
        return CP_OK;
    out->count = before;
    return CP_NO_MEMORY;
}

/* Whether datatrove counts no word that is made of such characters alone. */
static inline bool is_bare(character c)
{
    return (c.traits & CP_PUNCTUATION && !(c.traits & CP_BULLET)) ||
           (c.traits & CP_SYMBOL && c.code < 0x80);
}

cp_english_word_counts cp_english_words_count(const cp_tokens *words, const uint8_t *text)
{
    cp_english_word_counts counts = {0, 0, 0};

    for (size_t i = 0; i < words->count; i++) {
        const uint8_t *at = text + words->start[i], *const end = text + words->end[i];
        uint64_t characters = 0;
        bool letter = false, other = false;

        for (; at < end; characters++) {
            character c = character_at(at, end);

            letter |= (c.traits & CP_LETTER) != 0;
            other |= !is_bare(c);
            at += c.length;
        }
        counts.words += other;
        counts.characters += other ? characters : 0;
        counts.alphabetic += letter;
    }
    return counts;
}
