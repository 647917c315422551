#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "residue.h"
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

static inline uint64_t load(const uint8_t *at)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++)
        word |= (uint64_t)at[i] << 8 * i;
    return word;
}

/* SipHash-1-3 (Aumasson and Bernstein 2012). */
static uint64_t hash_bytes(const uint64_t salt[2], const uint8_t *at, const uint8_t *end)
{
    const size_t len = (size_t)(end - at), left = len & 7;
    uint64_t word = 0, v[4] = {
        salt[0] ^ UINT64_C(0x736F6D6570736575),
        salt[1] ^ UINT64_C(0x646F72616E646F6D),
        salt[0] ^ UINT64_C(0x6C7967656E657261),
        salt[1] ^ UINT64_C(0x7465646279746573),
    };

    for (; end - at >= 8; at += 8)
        sip_word(v, load(at));
    if (len >= 8 && left)
        word = load(end - 8) >> (64 - 8 * left);
    else
        for (size_t i = 0; i < left; i++)
            word |= (uint64_t)at[i] << 8 * i;
    sip_word(v, word | (uint64_t)len << 56);
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

/* Clears so many slots, a power of two, and puts what was met into them; no others are touched. */
static bool take_slots(cp_line_set *set, size_t size)
{
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

/* Empties the set for a text of `len` bytes: as many slots as it is likely to need. */
static bool begin(cp_line_set *set, size_t len)
{
    size_t size = 16;

    while (size < len / 32)
        size *= 2;
    set->count = 0;
    return take_slots(set, size);
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

/* 1 if the set has a span of these bytes, 0 if it has one now, or CP_NO_MEMORY. */
static int meet(cp_line_set *set, uint64_t hash, const uint8_t *text, const uint8_t *start,
                const uint8_t *end)
{
    const size_t len = (size_t)(end - start);
    size_t slot;

    if (set->count >= set->size / 2 && !take_slots(set, set->size * 2))
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
    uint64_t hash; /* over the hashes of its lines, and of what is between them */
} block;

static void add_line(block *read, const cp_line *line, uint64_t hash, uint64_t characters,
                     const uint64_t salt[2])
{
    if (read->start) {
        read->characters += cp_characters(read->end, line->start);
        /* Between most lines is a newline and no more. */
        if (line->start - read->end > 1)
            read->hash = cp_hash_mix(read->hash ^ ~hash_bytes(salt, read->end, line->start));
    } else {
        read->start = line->start;
    }
    read->hash = cp_hash_mix(read->hash ^ hash);
    read->characters += characters;
    read->end = line->end;
}

static int end_paragraph(block *read, const uint8_t *text, cp_line_set *set,
                         cp_line_counts *counts)
{
    int met = set ? meet(set, read->hash, text, read->start, read->end) : 0;

    if (met < 0)
        return met;
    counts->paragraphs++;
    counts->paragraph_characters += read->characters;
    if (met) {
        counts->duplicate_paragraphs++;
        counts->duplicate_paragraph_characters += read->characters;
    }
    *read = (block){0};
    return CP_OK;
}

int cp_lines_count(const uint8_t *text, size_t len, unsigned wanted, cp_lines_scratch *scratch,
                   cp_line_counts *counts)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    cp_line_set *const paragraph_set =
        wanted & CP_LINES_DUPLICATE_PARAGRAPHS ? &scratch->paragraphs : NULL;
    const bool paragraphs = wanted & (CP_LINES_PARAGRAPHS | CP_LINES_DUPLICATE_PARAGRAPHS);
    const bool hashes = wanted & (CP_LINES_DUPLICATES | CP_LINES_DUPLICATE_PARAGRAPHS);
    bool blank = false;     /* until a blank line comes, the lines are the paragraphs, */
    bool line_set = hashes; /* and so are their duplicates */
    cp_line_counts found = {0};
    cp_line line = {0};
    block read = {0};
    int code;

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    if (hashes && !begin(&scratch->lines, len))
        return CP_NO_MEMORY;
    while (cp_next_line(&at, end, &line)) {
        uint64_t characters = 0, hash = 0;

        found.lines++;
        if (wanted & CP_LINES_EDGES)
            count_edges(&line, &found);
        if (wanted & CP_LINES_RESIDUE)
            found.residue += cp_is_residue(line.start, line.end);
        if (paragraphs || wanted & CP_LINES_CHARACTERS) {
            characters = cp_characters(line.start, line.end);
            found.characters += characters;
            found.short_lines += characters < CP_SHORT_LINE;
        }
        if (hashes)
            hash = hash_bytes(scratch->salt, line.start, line.end);
        if (paragraphs && line.after_blank) {
            if (!blank && paragraph_set && !begin(paragraph_set, len / 4))
                return CP_NO_MEMORY;
            blank = true;
            line_set = wanted & CP_LINES_DUPLICATES;
            if ((code = end_paragraph(&read, text, paragraph_set, &found)) != CP_OK)
                return code;
        }
        if (line_set) {
            int met = meet(&scratch->lines, hash, text, line.start, line.end);

            if (met < 0)
                return met;
            if (met) {
                found.duplicates++;
                found.duplicate_characters +=
                    characters ? characters : cp_characters(line.start, line.end);
            }
        }
        if (paragraphs)
            add_line(&read, &line, hash, characters, scratch->salt);
    }
    if (blank) {
        if ((code = end_paragraph(&read, text, paragraph_set, &found)) != CP_OK)
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
