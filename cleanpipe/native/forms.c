#include "forms.h"

#include <stdlib.h>
#include <string.h>

#include "characters.h"

#define CCC(packed) ((packed) >> 24)

/* Marks in a row that are sorted by insertion; the time for more of them must not be quadratic. */
enum { FEW_MARKS = 24, CLASSES = 256 };

void cp_row_free(cp_row *row)
{
    free(row->code);
    free(row->spare);
    *row = (cp_row){0};
}

static int make_room(cp_row *row, size_t more)
{
    size_t room = row->room + row->room / 2 + 64;
    uint32_t *code, *spare;

    if (row->room - row->count >= more)
        return CP_OK;
    room = room < row->count + more ? row->count + more : room;
    if (room > SIZE_MAX / sizeof *code)
        return CP_NO_MEMORY;
    if ((spare = realloc(row->spare, room * sizeof *spare)))
        row->spare = spare;
    if (!spare || !(code = realloc(row->code, room * sizeof *code)))
        return CP_NO_MEMORY;
    row->code = code;
    row->room = room;
    return CP_OK;
}

static void put(cp_row *row, uint32_t code)
{
    row->code[row->count++] = code | (uint32_t)cp_form_of(code)->ccc << 24;
}

int cp_row_add(cp_row *row, uint32_t code)
{
    if (make_room(row, 1) != CP_OK)
        return CP_NO_MEMORY;
    put(row, code);
    return CP_OK;
}

int cp_row_decompose(cp_row *row, uint32_t code, bool compatible)
{
    const cp_decomposition *found;
    const uint32_t *from;
    uint32_t letters[3];
    size_t count;

    if (cp_is_hangul(code)) {
        count = (size_t)cp_hangul_letters(code, letters);
        from = letters;
    } else {
        found = cp_decomposition_of(code);
        from = cp_decomposed + found->at;
        count = found->canonical;
        if (compatible && found->compatible) {
            from += count;
            count = found->compatible;
        }
        if (!count)
            return cp_row_add(row, code);
    }
    if (make_room(row, count) != CP_OK)
        return CP_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        put(row, from[i]);
    return CP_OK;
}

static void sort_few(uint32_t *mark, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t moving = mark[i];
        size_t at = i;

        for (; at && CCC(mark[at - 1]) > CCC(moving); at--)
            mark[at] = mark[at - 1];
        mark[at] = moving;
    }
}

static void sort_many(uint32_t *mark, uint32_t *spare, size_t count)
{
    size_t next[CLASSES] = {0}, before = 0;

    memcpy(spare, mark, count * sizeof *spare);
    for (size_t i = 0; i < count; i++)
        next[CCC(spare[i])]++;
    for (int class = 0; class < CLASSES; class++) {
        size_t of_class = next[class];

        next[class] = before;
        before += of_class;
    }
    for (size_t i = 0; i < count; i++)
        mark[next[CCC(spare[i])]++] = spare[i];
}

void cp_row_order(cp_row *row)
{
    for (size_t at = 0, end; at < row->count; at = end) {
        end = at + 1;
        if (!CCC(row->code[at]))
            continue;
        while (end < row->count && CCC(row->code[end]))
            end++;
        if (end - at <= FEW_MARKS)
            sort_few(row->code + at, end - at);
        else
            sort_many(row->code + at, row->spare, end - at);
    }
}

/* The composite of two code points, or 0. */
static uint32_t composite(uint32_t first, uint32_t second)
{
    const uint32_t lead = first - CP_HANGUL_LEAD, vowel = second - CP_HANGUL_VOWEL;
    const uint32_t tail = second - CP_HANGUL_TAIL;

    if (!(cp_form_of(second)->traits & CP_FORM_COMPOSES))
        return 0;
    if (lead < CP_HANGUL_LEADS && vowel < CP_HANGUL_VOWELS)
        return CP_HANGUL + (lead * CP_HANGUL_VOWELS + vowel) * CP_HANGUL_TAILS;
    if (cp_is_hangul(first) && (first - CP_HANGUL) % CP_HANGUL_TAILS == 0 && tail &&
        tail < CP_HANGUL_TAILS)
        return first + tail;
    return cp_composite_of(first, second);
}

void cp_row_compose(cp_row *row)
{
    uint32_t *const code = row->code;
    size_t out = 0, starter = SIZE_MAX;

    for (size_t i = 0; i < row->count; i++) {
        const uint32_t ccc = CCC(code[i]);
        uint32_t whole;

        if (starter != SIZE_MAX && (starter + 1 == out || CCC(code[out - 1]) < ccc) &&
            (whole = composite(cp_row_code(row, starter), cp_row_code(row, i)))) {
            code[starter] = whole; /* a starter too */
            continue;
        }
        if (!ccc)
            starter = out;
        code[out++] = code[i];
    }
    row->count = out;
}

bool cp_is_final_sigma(const uint8_t *begin, const uint8_t *at, const uint8_t *after,
                       const uint8_t *end)
{
    uint16_t traits = CP_FORM_IGNORABLE;
    uint32_t code;
    int length;

    while (at > begin && traits & CP_FORM_IGNORABLE) {
        traits = cp_form_of(cp_code_before(begin, at, &length))->traits;
        at -= length;
    }
    if (traits & CP_FORM_IGNORABLE || !(traits & CP_FORM_CASED))
        return false;
    traits = CP_FORM_IGNORABLE;
    while (after < end && traits & CP_FORM_IGNORABLE) {
        length = cp_utf8_decode(after, end, &code);
        traits = cp_form_of(code)->traits;
        after += length < 0 ? -length : length;
    }
    return traits & CP_FORM_IGNORABLE || !(traits & CP_FORM_CASED);
}
