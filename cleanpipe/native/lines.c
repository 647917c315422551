#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "segments.h"

/* ---- which spans were met before ---- */

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* SipHash-1-3 (Aumasson and Bernstein 2012) but for the padding: the last word overlaps the one
 * before it, and the length is a word. Never stored, so byte order is the machine's. */
static uint64_t hash_bytes(const uint64_t salt[2], const uint8_t *at, size_t len)
{
    uint64_t v[4] = {
        salt[0] ^ UINT64_C(0x736F6D6570736575),
        salt[1] ^ UINT64_C(0x646F72616E646F6D),
        salt[0] ^ UINT64_C(0x6C7967656E657261),
        salt[1] ^ UINT64_C(0x7465646279746573),
    };
    uint64_t word = 0;

    if (len < 8) {
        for (size_t i = 0; i < len; i++)
            word |= (uint64_t)at[i] << 8 * i;
    } else {
        for (size_t i = 0; i + 8 < len; i += 8) {
            memcpy(&word, at + i, 8);
            sip_word(v, word);
        }
        memcpy(&word, at + len - 8, 8);
    }
    sip_word(v, word);
    sip_word(v, len);
    v[2] ^= 0xFF;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void put(cp_line_set *set, size_t place)
{
    size_t slot = set->seen[place].hash & (set->size - 1);

    while (set->slots[slot])
        slot = (slot + 1) & (set->size - 1);
    set->slots[slot] = (uint32_t)place + 1;
}

/* Twice the slots, or the first ones; only those in use are ever cleared. */
static bool grow_slots(cp_line_set *set)
{
    size_t size = set->size ? set->size * 2 : 64;

    if (size > set->slot_capacity) {
        uint32_t *slots = size <= SIZE_MAX / sizeof *slots ? malloc(size * sizeof *slots) : NULL;

        if (!slots)
            return false;
        free(set->slots);
        set->slots = slots;
        set->slot_capacity = size;
    }
    set->size = size;
    memset(set->slots, 0, size * sizeof *set->slots);
    for (size_t place = 0; place < set->count; place++)
        put(set, place);
    return true;
}

static bool grow_seen(cp_line_set *set)
{
    size_t capacity = set->capacity ? set->capacity * 2 : 32;
    void *grown = capacity <= SIZE_MAX / sizeof *set->seen
                      ? realloc(set->seen, capacity * sizeof *set->seen)
                      : NULL;

    if (!grown)
        return false;
    set->seen = grown;
    set->capacity = capacity;
    return true;
}

/* 1 if the set has an equal span, 0 if it has one now, or CP_NO_MEMORY. */
static int meet(cp_line_set *set, const uint64_t salt[2], const uint8_t *text,
                const uint8_t *start, const uint8_t *end)
{
    size_t len = (size_t)(end - start), slot;
    uint64_t hash = hash_bytes(salt, start, len);

    if (set->count >= set->size / 2 && !grow_slots(set))
        return CP_NO_MEMORY;
    for (slot = hash & (set->size - 1); set->slots[slot]; slot = (slot + 1) & (set->size - 1)) {
        const struct cp_line_seen *seen = &set->seen[set->slots[slot] - 1];

        if (seen->hash == hash && seen->end - seen->start == len &&
            !memcmp(text + seen->start, start, len))
            return 1;
    }
    if (set->count == set->capacity && !grow_seen(set))
        return CP_NO_MEMORY;
    set->seen[set->count++] =
        (struct cp_line_seen){hash, (uint32_t)(start - text), (uint32_t)(end - text)};
    set->slots[slot] = (uint32_t)set->count;
    return 0;
}

static void forget(cp_line_set *set)
{
    set->count = 0;
    set->size = 0;
}

void cp_lines_free(cp_lines_scratch *scratch)
{
    cp_line_set *sets[] = {&scratch->lines, &scratch->paragraphs};

    for (int i = 0; i < 2; i++) {
        free(sets[i]->seen);
        free(sets[i]->slots);
        *sets[i] = (cp_line_set){0};
    }
}

/* ---- the counts ---- */

static void count_edges(const cp_line *line, cp_line_counts *counts)
{
    const uint8_t first = *line->start;
    const uint8_t *next;
    uint32_t code;
    int length;

    /* No bullet but - and * is ASCII. */
    if (first >= 0x80 || first == '-' || first == '*') {
        length = cp_utf8_decode(line->start, line->end, &code);
        next = line->start + (length < 0 ? -length : length);
        if (cp_unicode_kinds[cp_unicode_kind_of(code)].traits & CP_BULLET)
            counts->bullets++;
        else if (code == '-' || code == '*' || code == 0x2013)
            counts->bullets += next == line->end || !cp_traits_at(next, line->end, &length);
    }
    code = cp_code_before(line->start, line->end, &length);
    if (cp_unicode_kinds[cp_unicode_kind_of(code)].traits & CP_TERMINAL)
        counts->terminal++;
    if (code == 0x2026 ||
        (code == '.' && line->end - line->start >= 3 && !memcmp(line->end - 3, "...", 3)))
        counts->ellipses++;
}

/* The paragraph being read. */
typedef struct {
    const uint8_t *start, *end;
    uint64_t characters;
} block;

static int count_paragraph(const block *read, const uint8_t *text, bool duplicates,
                           cp_lines_scratch *scratch, cp_line_counts *counts)
{
    int met = 0;

    counts->paragraphs++;
    counts->paragraph_characters += read->characters;
    if (duplicates) {
        met = meet(&scratch->paragraphs, scratch->salt, text, read->start, read->end);
        if (met == 1) {
            counts->duplicate_paragraphs++;
            counts->duplicate_paragraph_characters += read->characters;
        }
    }
    return met < 0 ? met : CP_OK;
}

int cp_lines_count(const uint8_t *text, size_t len, unsigned wanted, cp_lines_scratch *scratch,
                   cp_line_counts *counts)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    const bool same_paragraphs = wanted & CP_LINES_DUPLICATE_PARAGRAPHS;
    const bool paragraphs = wanted & CP_LINES_PARAGRAPHS || same_paragraphs;
    /* Where no blank line comes, the lines are the paragraphs. */
    bool blank = false, same_lines = wanted & CP_LINES_DUPLICATES || same_paragraphs;
    cp_line_counts found = {0};
    cp_line line = {0};
    block read = {0};

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    forget(&scratch->lines);
    forget(&scratch->paragraphs);
    while (cp_next_line(&at, end, &line)) {
        uint64_t characters = 0;

        found.lines++;
        if (wanted & CP_LINES_EDGES)
            count_edges(&line, &found);
        if (wanted & CP_LINES_CHARACTERS || paragraphs) {
            characters = cp_characters(line.start, line.end);
            found.characters += characters;
            found.short_lines += characters < CP_SHORT_LINE;
        }
        if (paragraphs && line.after_blank) {
            int code = count_paragraph(&read, text, same_paragraphs, scratch, &found);

            if (code != CP_OK)
                return code;
            blank = true;
            same_lines = wanted & CP_LINES_DUPLICATES;
            read = (block){0};
        }
        if (same_lines) {
            int met = meet(&scratch->lines, scratch->salt, text, line.start, line.end);

            if (met < 0)
                return met;
            if (met) {
                found.duplicates++;
                found.duplicate_characters +=
                    characters ? characters : cp_characters(line.start, line.end);
            }
        }
        if (paragraphs) {
            if (read.start)
                read.characters += cp_characters(read.end, line.start);
            else
                read.start = line.start;
            read.characters += characters;
            read.end = line.end;
        }
    }
    if (blank) {
        int code = count_paragraph(&read, text, same_paragraphs, scratch, &found);

        if (code != CP_OK)
            return code;
    } else {
        found.paragraphs = found.lines;
        found.paragraph_characters = found.characters;
        found.duplicate_paragraphs = found.duplicates;
        found.duplicate_paragraph_characters = found.duplicate_characters;
    }
    *counts = found;
    return CP_OK;
}
