#include "profiles.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "characters.h"

/* What a byte is to a sentence; WIDE: it begins what is not ASCII. */
enum { PART, BLANK, LINE_END, STOP, MARK, NUL, WIDE };

enum {
    MOST = 4,        /* bytes that one becomes, at most: NUL is U+FFFD behind a space */
    AHEAD = 32,      /* tokens that are looked up together */
    BLOCK = 4096,    /* ASCII bytes for whose tokens there is room at a time */
    HAN = 0x3400,    /* as the models were trained */
    HAN_END = 0xA000,
};

/* U+4000 to U+9FFF, which are Han: they are in NFKC, and neither white space nor digits. */
static inline bool is_han_at(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 3 && *at >= 0xE4 && *at <= 0xE9 && cp_utf8_is_tail(at[1]) &&
           cp_utf8_is_tail(at[2]);
}

/* ---- memory ---- */

/* Room for so many numbers more. */
static int reserve(cp_numbers *to, size_t more)
{
    size_t room = to->room + to->room / 2 + 256 + more;
    int64_t *grown;

    if (to->room - to->count >= more)
        return CP_OK;
    if (room > SIZE_MAX / sizeof *grown || !(grown = realloc(to->number, room * sizeof *grown)))
        return CP_NO_MEMORY;
    to->number = grown;
    to->room = room;
    return CP_OK;
}

static int push(cp_numbers *to, size_t number)
{
    if (to->count == to->room && reserve(to, 1) != CP_OK)
        return CP_NO_MEMORY;
    to->number[to->count++] = (int64_t)number;
    return CP_OK;
}

static void numbers_free(cp_numbers *of)
{
    free(of->number);
    *of = (cp_numbers){0};
}

int cp_prepared_begin(cp_prepared *p, cp_profile profile, const cp_vocabulary *vocabulary)
{
    p->profile = profile;
    p->vocabulary = vocabulary;
    p->salt = cp_salt_of_process();
    p->text.size = 0;
    p->sentences = 0;
    p->fresh_start.count = p->fresh_end.count = p->unseen.count = 0;
    memset(p->class, WIDE, sizeof p->class);
    for (uint32_t code = 0; code < 128; code++) {
        const cp_form_kind *kind = cp_form_of(code);
        const bool stop = code == '.' || code == '!' || code == '?';

        p->class[code] = kind->traits & CP_FORM_WORD    ? PART
                         : code == '\n'                 ? LINE_END
                         : kind->traits & CP_FORM_SPACE ? BLANK
                         : stop                         ? STOP
                         : code                         ? MARK
                                                        : NUL;
        p->becomes[code] = kind->traits & CP_FORM_DECIMAL ? '0'
                           : profile == CP_WORDS          ? (uint8_t)cp_lower(code, kind)
                                                          : (uint8_t)code;
    }
    for (int byte = 0; byte < 256; byte++)
        p->ending[byte] =
            p->class[byte] == LINE_END || p->class[byte] == STOP || p->class[byte] == WIDE;
    return cp_table_begin(&p->fresh, SIZE_MAX / 4);
}

void cp_prepared_free(cp_prepared *p)
{
    cp_bytes_free(&p->text);
    cp_bytes_free(&p->formed);
    cp_table_free(&p->fresh);
    cp_row_free(&p->row);
    numbers_free(&p->fresh_start);
    numbers_free(&p->fresh_end);
    numbers_free(&p->unseen);
    numbers_free(&p->starts);
}

/* ---- which tokens the model knows ---- */

static int take_unseen(cp_prepared *p, uint64_t hash, size_t start, size_t end)
{
    const uint32_t before = p->fresh.count, number = cp_table_add(&p->fresh, hash);

    if (number == CP_TABLE_NO_MEMORY || push(&p->unseen, number) != CP_OK)
        return CP_NO_MEMORY;
    if (number == before &&
        (push(&p->fresh_start, start) != CP_OK || push(&p->fresh_end, end) != CP_OK))
        return CP_NO_MEMORY;
    return CP_OK;
}

/* The sentence's tokens; `end` is that of the last. */
static int count_known(cp_prepared *p, size_t end)
{
    const cp_vocabulary *const in = p->vocabulary;
    const uint8_t *const text = p->text.data;
    uint64_t hash[AHEAD];
    size_t end_of[AHEAD];

    for (size_t first = 0; first < p->starts.count; first += AHEAD) {
        const int64_t *const start = p->starts.number + first;
        const size_t left = p->starts.count - first, count = left < AHEAD ? left : AHEAD;

        for (size_t i = 0; i < count; i++) {
            end_of[i] = i + 1 < left ? (size_t)start[i + 1] - 1 : end;
            hash[i] = cp_word_hash(text + start[i], end_of[i] - (size_t)start[i], &p->salt);
#ifdef __GNUC__
            __builtin_prefetch(&in->number[cp_vocabulary_slot(in, hash[i])]);
#endif
        }
        for (size_t i = 0; i < count; i++) {
            const uint64_t entry = cp_vocabulary_find(in, hash[i]);

            if (entry)
                p->known += (int64_t)(entry & CP_WORD_KNOWN);
            else if (take_unseen(p, hash[i], (size_t)start[i], end_of[i]) != CP_OK)
                return CP_NO_MEMORY;
        }
    }
    return CP_OK;
}

/* ---- tokens ---- */

/* There is room for a space. Returns where the token's bytes go, or NULL. */
static inline uint8_t *begin_token(cp_prepared *p, uint8_t *to)
{
    if (p->starts.count)
        *to++ = ' ';
    return push(&p->starts, (size_t)(to - p->text.data)) == CP_OK ? to : NULL;
}

/* Writes a code point that stands in its form; `in_run`: the token before it may go on. NULL where
 * there is no memory. */
static uint8_t *take_code(cp_prepared *p, uint32_t code, uint8_t *to, bool *in_run)
{
    const cp_form_kind *kind = cp_form_of(code);
    const bool han = p->profile == CP_CHARACTERS && code >= HAN && code < HAN_END;
    const bool part = kind->traits & CP_FORM_WORD && !han;

    if (kind->traits & CP_FORM_SPACE) {
        *in_run = false;
        return to;
    }
    if (!(part && *in_run) && !(to = begin_token(p, to)))
        return NULL;
    *in_run = part;
    if (kind->traits & CP_FORM_DECIMAL)
        *to++ = '0';
    else
        to += cp_utf8_encode(code, to);
    return to;
}

/* ASCII from `at` on, up to `stop`; there is room for twice as many bytes. Returns where it ends.
 *
 * Where words end cannot be foreseen, so nothing here branches on it: each byte is written, and a
 * space before it, and what is not to stand there is written over. */
static const uint8_t *take_ascii(cp_prepared *p, const uint8_t *at, const uint8_t *stop,
                                 uint8_t **into, bool *run)
{
    uint8_t *const text = p->text.data;
    int64_t *const start = p->starts.number;
    uint8_t *to = *into;
    size_t count = p->starts.count;
    unsigned in_run = *run;

    for (; at < stop; at++) {
        const unsigned class = p->class[*at], part = class == PART;
        unsigned begins;

        if (class >= NUL)
            break;
        begins = (class != BLANK) & !(part & in_run);
        *to = ' ';
        to += begins & (count > 0);
        start[count] = to - text;
        count += begins;
        *to = p->becomes[*at];
        to += class != BLANK;
        in_run = part;
    }
    *into = to;
    p->starts.count = count;
    *run = in_run;
    return at;
}

/* Han from `at` on, each a token; there is room. Returns where it ends, or NULL. */
static const uint8_t *take_han(cp_prepared *p, const uint8_t *at, const uint8_t *end,
                               uint8_t **into)
{
    const uint8_t *const stop = end - at > BLOCK ? at + BLOCK : end;
    int64_t *start;
    uint8_t *to = *into;
    size_t count = p->starts.count;

    if (reserve(&p->starts, BLOCK) != CP_OK)
        return NULL;
    start = p->starts.number;
    for (; is_han_at(at, stop); at += 3) {
        *to = ' ';
        to += count > 0;
        start[count++] = to - p->text.data;
        memcpy(to, at, 3);
        to += 3;
    }
    *into = to;
    p->starts.count = count;
    return at;
}

/* A sentence in NFKC. */
static int take_sentence(cp_prepared *p, const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *at = begin;
    bool in_run = false;
    uint8_t *to;

    p->starts.count = 0;
    if ((size_t)(end - begin) > SIZE_MAX / 8 ||
        cp_bytes_reserve(&p->text, (size_t)(end - begin) * MOST + 2) != CP_OK)
        return CP_NO_MEMORY;
    to = p->text.data + p->text.size;
    while (at < end) {
        uint32_t code;
        int length;

        if (*at < 0x80) {
            const uint8_t *const stop = end - at > BLOCK ? at + BLOCK : end;

            if (reserve(&p->starts, BLOCK + 1) != CP_OK)
                return CP_NO_MEMORY;
            at = take_ascii(p, at, stop, &to, &in_run);
            if (at == stop || *at)
                continue;
        } else if (p->profile == CP_CHARACTERS && is_han_at(at, end)) {
            at = take_han(p, at, end, &to);
            in_run = false;
            if (!at)
                return CP_NO_MEMORY;
            continue;
        }
        length = cp_utf8_decode(at, end, &code);
        length = length < 0 ? -length : length;
        if (!code)
            code = CP_REPLACEMENT;
        if (p->profile == CP_WORDS && code == CP_DOTTED_I) {
            to = take_code(p, 'i', to, &in_run);
            code = CP_DOT_ABOVE;
        } else if (p->profile == CP_WORDS)
            code = cp_lower_in(code, begin, at, at + length, end);
        if (!to || !(to = take_code(p, code, to, &in_run)))
            return CP_NO_MEMORY;
        at += length;
    }
    if (!p->starts.count)
        return CP_OK;
    p->text.size = (size_t)(to - p->text.data);
    if (count_known(p, p->text.size) != CP_OK)
        return CP_NO_MEMORY;
    p->text.data[p->text.size++] = '\n';
    p->tokens += (int64_t)p->starts.count;
    p->sentences++;
    return CP_OK;
}

/* ---- sentences ---- */

/* The characters from *at on that may be composed with one another, in NFKC. */
static int form_row(cp_prepared *p, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *from = *at;
    cp_row *const row = &p->row;
    uint32_t code;
    int length;

    row->count = 0;
    do {
        length = cp_utf8_decode(from, end, &code);
        if (from > *at && cp_form_of(code)->traits & CP_FORM_BEGINS)
            break;
        if (cp_row_decompose(row, code, true) != CP_OK)
            return CP_NO_MEMORY;
        from += length < 0 ? -length : length;
    } while (from < end);
    *at = from;
    if (row->count > 1) {
        cp_row_order(row);
        cp_row_compose(row);
    }
    if (cp_bytes_reserve(&p->formed, row->count * 4) != CP_OK)
        return CP_NO_MEMORY;
    for (size_t i = 0; i < row->count; i++)
        p->formed.size += (size_t)cp_utf8_encode(cp_row_code(row, i), p->formed.data + p->formed.size);
    return CP_OK;
}

static int copy_formed(cp_prepared *p, const uint8_t *from, const uint8_t *to)
{
    const size_t size = (size_t)(to - from);

    if (cp_bytes_reserve(&p->formed, size) != CP_OK)
        return CP_NO_MEMORY;
    if (size)
        memcpy(p->formed.data + p->formed.size, from, size);
    p->formed.size += size;
    return CP_OK;
}

/* A sentence as it came. Most of it is in NFKC nevertheless: a character that begins and is stable,
 * where the next one begins too. */
static int form_sentence(cp_prepared *p, const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = at, *last = at; /* what is to be copied; its last character */

    p->formed.size = 0;
    while (at < end) {
        uint16_t traits;
        uint32_t code;
        int length;

        if (*at < 0x80 || is_han_at(at, end)) {
            last = at;
            at += *at < 0x80 ? 1 : 3;
            continue;
        }
        length = cp_utf8_decode(at, end, &code);
        traits = cp_form_of(code)->traits;
        if (!(~traits & (CP_FORM_BEGINS | CP_FORM_STABLE))) {
            last = at;
            at += length < 0 ? -length : length;
            continue;
        }
        if (!(traits & CP_FORM_BEGINS))
            at = last;
        if (copy_formed(p, from, at) != CP_OK || form_row(p, &at, end) != CP_OK)
            return CP_NO_MEMORY;
        from = last = at;
    }
    if (copy_formed(p, from, end) != CP_OK)
        return CP_NO_MEMORY;
    return take_sentence(p, p->formed.data, p->formed.data + p->formed.size);
}

static bool is_space_at(const uint8_t *at, const uint8_t *end)
{
    uint32_t code;

    if (at == end)
        return false;
    cp_utf8_decode(at, end, &code);
    return cp_form_of(code)->traits & CP_FORM_SPACE;
}

/* The first byte from `at` on that is in p->ending, or `end`. */
static const uint8_t *skip_plain(const cp_prepared *p, const uint8_t *at, const uint8_t *end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')),
                                          _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('!')),
                                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('?'))));
        const __m128i line = _mm_or_si128(stop, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
        const unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(line, bytes));

        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    return cp_skip_bytes(at, end, p->ending);
}

/* Behind the sentence that begins at `at`: at its line feed, or at the next one. Tells whether it
 * is in NFKC as it stands. */
static const uint8_t *sentence_end(const cp_prepared *p, const uint8_t *at, const uint8_t *end,
                                   bool *formed)
{
    *formed = true;
    while (at < end) {
        uint32_t code;
        int length;

        switch (p->class[*at]) {
        case LINE_END:
            return at;
        case STOP:
            at++;
            if (is_space_at(at, end))
                return at;
            continue;
        case WIDE:
            if (is_han_at(at, end)) {
                at += 3;
                continue;
            }
            break;
        default:
            at = skip_plain(p, at, end);
            continue;
        }
        length = cp_utf8_decode(at, end, &code);
        at += length < 0 ? -length : length;
        if (~cp_form_of(code)->traits & (CP_FORM_BEGINS | CP_FORM_STABLE))
            *formed = false;
        if (code == 0x3002 || code == 0xFF01 || code == 0xFF1F) /* 。 ！ ？ */
            return at;
    }
    return end;
}

int cp_prepared_add(cp_prepared *p, const uint8_t *text, size_t len)
{
    const uint8_t *at = text, *const end = len ? text + len : text;

    p->tokens = p->known = 0;
    while (at < end) {
        bool formed;
        const uint8_t *const stop = sentence_end(p, at, end, &formed);

        if ((formed ? take_sentence : form_sentence)(p, at, stop) != CP_OK)
            return CP_NO_MEMORY;
        at = stop < end && *stop == '\n' ? stop + 1 : stop;
    }
    return CP_OK;
}
