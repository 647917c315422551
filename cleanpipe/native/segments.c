#include "segments.h"

#include <stdlib.h>
#include <string.h>

#include "characters.h"

/* Where units go: counted, and kept if there are spans. */
typedef struct {
    const uint8_t *text;
    cp_spans *spans;
    uint64_t count;
} sink;

static bool reserve(cp_spans *spans)
{
    size_t capacity = spans->capacity ? spans->capacity + spans->capacity / 2 : 64;
    void *grown;

    if (capacity > SIZE_MAX / sizeof *spans->start)
        return false;
    /* Each array is stored as soon as it has moved, so a later failure loses nothing. */
    if (!(grown = realloc(spans->start, capacity * sizeof *spans->start)))
        return false;
    spans->start = grown;
    if (!(grown = realloc(spans->end, capacity * sizeof *spans->end)))
        return false;
    spans->end = grown;
    spans->capacity = capacity;
    return true;
}

/* False when memory is short. */
static inline bool add(sink *into, const uint8_t *start, const uint8_t *end)
{
    cp_spans *spans = into->spans;

    into->count++;
    if (!spans)
        return true;
    if (spans->count == spans->capacity && !reserve(spans))
        return false;
    spans->start[spans->count] = (uint32_t)(start - into->text);
    spans->end[spans->count++] = (uint32_t)(end - into->text);
    return true;
}

void cp_spans_free(cp_spans *spans)
{
    free(spans->start);
    free(spans->end);
    *spans = (cp_spans){0};
}

bool cp_next_line(const uint8_t **at, const uint8_t *end, cp_line *line)
{
    const uint8_t *begin = *at, *newline, *start;
    bool blank = false;

    for (; begin < end; begin = newline + 1, blank = true) {
        newline = memchr(begin, '\n', (size_t)(end - begin));
        if (!newline)
            newline = end;
        start = cp_skip_space(begin, newline);
        if (start < newline) {
            line->after_blank = blank && line->end;
            line->begin = begin;
            line->start = start;
            line->end = cp_trim_space(start, newline);
            *at = newline < end ? newline + 1 : end;
            return true;
        }
        if (newline == end)
            break;
    }
    *at = end;
    return false;
}

static bool lines(const uint8_t *at, const uint8_t *end, sink *into)
{
    cp_line line = {0};

    while (cp_next_line(&at, end, &line))
        if (!add(into, line.begin, line.end))
            return false;
    return true;
}

static bool paragraphs(const uint8_t *at, const uint8_t *end, sink *into)
{
    size_t first = into->spans ? into->spans->count : 0;
    const uint8_t *begin = NULL, *last = NULL;
    bool blank = false; /* a blank line was met: until then each line may be one */
    cp_line line = {0};

    while (cp_next_line(&at, end, &line)) {
        if (line.after_blank) {
            if (!blank) {
                blank = true;
                into->count = 0;
                if (into->spans) {
                    begin = into->text + into->spans->start[first];
                    into->spans->count = first;
                }
            }
            if (!add(into, begin, last))
                return false;
            begin = line.begin;
        }
        if (!blank && !add(into, line.begin, line.end))
            return false;
        last = line.end;
    }
    return !blank || add(into, begin, last);
}

/* The newline, and bytes with which a stop or wide stop begins. */
static const uint8_t may_end[256] = {
    ['\n'] = 1, ['.'] = 1,  ['!'] = 1,  ['?'] = 1,  [0xD6] = 1, [0xD8] = 1,
    [0xDB] = 1, [0xE0] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1, [0xEF] = 1,
};

/* Whether a byte belongs to a letter, a digit or a character beyond ASCII. */
static bool in_word(uint8_t byte)
{
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z');
}

/* Whether the full stop at `stop` in the text follows an initial, a title, or a letter and dot. */
static bool abbreviates(const uint8_t *text, const uint8_t *stop)
{
    static const char titles[][5] = {"Mr", "Mrs", "Ms", "Dr", "Prof", "St"};
    uint16_t traits;
    uint32_t code;
    uint8_t before;
    int length;

    if (stop == text)
        return false;
    code = cp_code_before(text, stop, &length);
    if (code >= 0x800)
        return false;
    traits = cp_unicode_kinds[cp_unicode_kind_of(code)].traits;
    before = stop - length > text ? stop[-length - 1] : ' ';
    if ((traits & CP_LETTER && before == '.') || (traits & CP_UPPER && !in_word(before)))
        return true;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        ptrdiff_t letters = (ptrdiff_t)strlen(titles[i]);

        if (stop - text >= letters && !memcmp(stop - letters, titles[i], (size_t)letters) &&
            (stop - text == letters || !in_word(stop[-letters - 1])))
            return true;
    }
    return false;
}

/* Reads closing quotes and brackets from `at` on. */
static const uint8_t *closings(const uint8_t *at, const uint8_t *end)
{
    int length, next;

    while (at < end) {
        uint16_t traits = cp_traits_at(at, end, &length);

        if (!(traits & CP_CLOSING) &&
            !(traits & CP_CLOSING_BEFORE_SPACE &&
              (at + length == end || !cp_traits_at(at + length, end, &next))))
            break;
        at += length;
    }
    return at;
}

static bool sentences(const uint8_t *at, const uint8_t *end, sink *into)
{
    const uint8_t *start = at = cp_skip_space(at, end), *marks;
    uint16_t traits, found;
    int length;

    while ((at = cp_skip_bytes(at, end, may_end)) < end) {
        if (*at == '\n') {
            if (!add(into, start, cp_trim_space(start, at)))
                return false;
            start = at = cp_skip_space(at, end);
            continue;
        }
        marks = at;
        found = 0;
        do {
            traits = cp_traits_at(at, end, &length) & (CP_STOP | CP_WIDE_STOP);
            if (!traits)
                break;
            found |= traits;
            at += length;
        } while (at < end);
        if (!found) {
            at += length;
            continue;
        }
        at = closings(at, end);
        if (!(found & CP_WIDE_STOP) &&
            ((at < end && cp_traits_at(at, end, &length)) ||
             (at - marks == 1 && *marks == '.' && abbreviates(into->text, marks))))
            continue;
        if (!add(into, start, at))
            return false;
        start = at = cp_skip_space(at, end);
    }
    end = cp_trim_space(start, end);
    return start == end || add(into, start, end);
}

static bool read_units(const uint8_t *text, size_t len, cp_unit unit, sink *into)
{
    const uint8_t *end = len ? text + len : text;

    return unit == CP_LINE        ? lines(text, end, into)
           : unit == CP_PARAGRAPH ? paragraphs(text, end, into)
                                  : sentences(text, end, into);
}

int cp_segments(const uint8_t *text, size_t len, cp_unit unit, cp_spans *out)
{
    size_t before = out->count;
    sink into = {text, out, 0};

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    if (read_units(text, len, unit, &into))
        return CP_OK;
    out->count = before;
    return CP_NO_MEMORY;
}

uint64_t cp_segments_count(const uint8_t *text, size_t len, cp_unit unit)
{
    sink into = {text, NULL, 0};

    read_units(text, len, unit, &into);
    return into.count;
}
