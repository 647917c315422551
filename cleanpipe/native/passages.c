#include "passages.h"

#include <stdbool.h>
#include <stdlib.h>

#include "load.h"
#include "ngrams.h"

typedef struct {
    uint32_t begin; /* the first of its m tokens in the document */
    uint32_t gram;  /* the first of the part's grams that are it */
    uint32_t grams; /* how many of them count */
} match;

struct cp_passages_scratch {
    uint64_t *covering; /* for each token of the part; all 0 between candidates */
    size_t covering_room;
    uint64_t *rolled; /* the m-grams of a region */
    size_t rolled_room;
    match *matches; /* of a region */
    size_t matches_room;
};

cp_passages_scratch *cp_passages_open(void)
{
    return calloc(1, sizeof(cp_passages_scratch));
}

void cp_passages_close(cp_passages_scratch *scratch)
{
    if (!scratch)
        return;
    free(scratch->covering);
    free(scratch->rolled);
    free(scratch->matches);
    free(scratch);
}

void cp_passages_free(cp_passages *passages)
{
    free(passages->passage);
    *passages = (cp_passages){0};
}

/* The block with room for `count` items, or NULL and the block stays; its content may be lost. */
static void *with_room(void *block, size_t *room, size_t count, size_t size)
{
    void *grown;

    if (count <= *room)
        return block;
    if (count < *room + *room / 2)
        count = *room + *room / 2;
    if (count > SIZE_MAX / size || !(grown = realloc(block, count * size)))
        return NULL;
    *room = count;
    return grown;
}

/* Room for a region of `tokens` tokens. */
static bool region_room(cp_passages_scratch *scratch, size_t tokens)
{
    uint64_t *rolled =
        with_room(scratch->rolled, &scratch->rolled_room, tokens, sizeof *scratch->rolled);
    match *matches;

    if (!rolled)
        return false;
    scratch->rolled = rolled;
    matches = with_room(scratch->matches, &scratch->matches_room, tokens, sizeof *matches);
    if (!matches)
        return false;
    scratch->matches = matches;
    return true;
}

static bool part_room(cp_passages_scratch *scratch, size_t length)
{
    uint64_t *grown;

    if (length <= scratch->covering_room)
        return true;
    /* All 0 as it is, so nothing is lost. */
    if (!(grown = calloc(length, sizeof *grown)))
        return false;
    free(scratch->covering);
    scratch->covering = grown;
    scratch->covering_room = length;
    return true;
}

static bool append(cp_passages *out, cp_passage passage)
{
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? out->capacity * 2 : 64;
        cp_passage *grown = capacity <= SIZE_MAX / sizeof *grown
                                ? realloc(out->passage, capacity * sizeof *grown)
                                : NULL;

        if (!grown)
            return false;
        out->passage = grown;
        out->capacity = capacity;
    }
    out->passage[out->count++] = passage;
    return true;
}

/* ---- the part ---- */

/* A candidate at work. */
typedef struct {
    const cp_part *part;
    const cp_tokens *document;
    size_t width; /* m */
    size_t grams; /* of the part */
    cp_passages_scratch *scratch;
    uint64_t covered; /* by the window */
    size_t free;      /* the first token of the document behind the last passage */
} search;

static inline uint64_t gram_at(const search *s, size_t at)
{
    return cp_load64(s->part->grams + at * sizeof(uint64_t));
}

static inline uint32_t position_at(const search *s, size_t at)
{
    return cp_load32(s->part->positions + at * sizeof(uint32_t));
}

static inline uint64_t token_at(const search *s, size_t at)
{
    return cp_load64(s->part->tokens + at * sizeof(uint64_t));
}

/* The first gram from `low` on that is not less than the hash, or greater than it. */
static size_t bisect(const search *s, size_t low, uint64_t hash, bool greater)
{
    size_t high = s->grams;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t gram = gram_at(s, middle);

        if (gram < hash || (greater && gram == hash))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the part has a gram where it should have the gram number `at`. */
static inline bool sound(const search *s, size_t at)
{
    return position_at(s, at) <= s->part->length - s->width;
}

/* ---- windows ---- */

static void add(search *s, const match *m)
{
    for (uint32_t g = 0; g < m->grams; g++) {
        size_t from = position_at(s, m->gram + g);

        for (size_t t = from; t < from + s->width; t++)
            if (!s->scratch->covering[t]++)
                s->covered += cp_load32(s->part->weights + t * sizeof(uint32_t));
    }
}

static void take_away(search *s, const match *m)
{
    for (uint32_t g = 0; g < m->grams; g++) {
        size_t from = position_at(s, m->gram + g);

        for (size_t t = from; t < from + s->width; t++)
            if (!--s->scratch->covering[t])
                s->covered -= cp_load32(s->part->weights + t * sizeof(uint32_t));
    }
}

/* Whether the window from match l to match r is too long. */
static inline bool too_long(const search *s, const match *l, const match *r)
{
    return r->begin + s->width - l->begin > s->part->span;
}

/* Adds the matches behind r that the passage of matches l to r is to have; returns its last. */
static size_t grow(search *s, size_t l, size_t r, size_t count)
{
    const match *const matches = s->scratch->matches;
    uint64_t most = s->covered;
    size_t last = r, at = r + 1;

    for (; at < count && !too_long(s, &matches[l], &matches[at]); at++) {
        if (at - last > last - l + 1 + CP_PASSAGE_PATIENCE)
            break;
        add(s, &matches[at]);
        if (s->covered > most) {
            most = s->covered;
            last = at;
        }
    }
    while (--at > last)
        take_away(s, &matches[at]);
    return last;
}

/* The first match from l on without which something is not covered. */
static size_t trim(search *s, size_t l)
{
    const match *const matches = s->scratch->matches;
    const uint64_t covered = s->covered;

    for (;; l++) {
        take_away(s, &matches[l]);
        if (s->covered < covered) {
            add(s, &matches[l]);
            return l;
        }
    }
}

/* How many tokens the passage is longer on the left: k, where first - k is the part's q - k. */
static size_t left_edge(const search *s, size_t first, size_t q)
{
    size_t most = first - (s->free < first ? s->free : first);

    most = most < q ? most : q;
    for (size_t k = most < CP_PASSAGE_EDGE ? most : CP_PASSAGE_EDGE; k; k--)
        if (s->document->hash[first - k] == token_at(s, q - k))
            return k;
    return 0;
}

static size_t right_edge(const search *s, size_t last, size_t e)
{
    size_t most = s->document->count - 1 - last, left = s->part->length - 1 - e;

    most = most < left ? most : left;
    for (size_t k = most < CP_PASSAGE_EDGE ? most : CP_PASSAGE_EDGE; k; k--)
        if (s->document->hash[last + k] == token_at(s, e + k))
            return k;
    return 0;
}

static int emit(search *s, const match *left, const match *right, size_t candidate,
                cp_passages *out)
{
    size_t first = left->begin, last = right->begin + s->width - 1;
    size_t greatest = bisect(s, right->gram, gram_at(s, right->gram), true);

    /* Of damaged grams, bisection may find what is before the match. */
    greatest = greatest > right->gram ? greatest - 1 : right->gram;
    if (!sound(s, greatest))
        return CP_PASSAGES_PART;
    first -= left_edge(s, first, position_at(s, left->gram));
    last += right_edge(s, last, position_at(s, greatest) + s->width - 1);
    s->free = last + 1;
    return append(out, (cp_passage){candidate, s->covered, (uint32_t)first, (uint32_t)last,
                                    s->document->start[first], s->document->end[last]})
               ? CP_OK
               : CP_NO_MEMORY;
}

static int sweep(search *s, size_t count, size_t candidate, cp_passages *out)
{
    const match *const matches = s->scratch->matches;
    size_t l = 0;
    int code = CP_OK;

    for (size_t r = 0; r < count; r++) {
        add(s, &matches[r]);
        for (; l <= r && too_long(s, &matches[l], &matches[r]); l++)
            take_away(s, &matches[l]);
        if (s->part->need && s->covered >= s->part->need) {
            r = grow(s, l, r, count);
            l = trim(s, l);
            code = emit(s, &matches[l], &matches[r], candidate, out);
            for (; l <= r; l++)
                take_away(s, &matches[l]);
            if (code != CP_OK)
                return code;
        }
    }
    for (; l < count; l++)
        take_away(s, &matches[l]);
    return CP_OK;
}

/* ---- regions ---- */

/* The matches of [begin, end) to scratch->matches. */
static int find_matches(search *s, size_t begin, size_t end, size_t *count)
{
    const size_t places = end - begin - s->width + 1;
    const uint64_t *rolled;

    *count = 0;
    if (!region_room(s->scratch, end - begin))
        return CP_NO_MEMORY;
    rolled = s->scratch->rolled;
    cp_ngrams_roll(s->document->hash + begin, end - begin, s->width, s->scratch->rolled);
    for (size_t i = 0; i < places; i++) {
        size_t at = bisect(s, 0, rolled[i], false), behind = at;

        for (; behind < s->grams && behind - at < CP_PASSAGE_POSITIONS &&
               gram_at(s, behind) == rolled[i];
             behind++)
            if (!sound(s, behind))
                return CP_PASSAGES_PART;
        if (behind > at)
            s->scratch->matches[(*count)++] =
                (match){(uint32_t)(begin + i), (uint32_t)at, (uint32_t)(behind - at)};
    }
    return CP_OK;
}

int cp_passages_find(const cp_part *part, const cp_tokens *document, const uint8_t *seeds,
                     size_t count, size_t n, size_t candidate, cp_passages_scratch *scratch,
                     cp_passages *out)
{
    const size_t before = out->count, tokens = document->count;
    search s = {.part = part, .document = document, .scratch = scratch};
    size_t begin = 0, end = 0; /* of the region so far */
    uint64_t previous = 0;
    int code = CP_OK;

    s.width = part->length < CP_PASSAGE_GRAM ? part->length : CP_PASSAGE_GRAM;
    s.grams = cp_ngrams_count(part->length, CP_PASSAGE_GRAM);
    if (!part_room(scratch, part->length))
        return CP_NO_MEMORY;
    for (size_t i = 0; i <= count && code == CP_OK; i++) {
        /* Behind the last seed, one that no region reaches. */
        uint64_t seed = i < count ? cp_load64(seeds + i * sizeof seed) : UINT64_MAX;
        size_t matches = 0, from = 0, room;

        if (i < count) {
            if (seed < previous || seed >= tokens) {
                code = CP_PASSAGES_SEEDS;
                break;
            }
            previous = seed;
            from = (size_t)seed - (seed < part->span ? (size_t)seed : part->span);
        }
        if (i == count || from > end) {
            if (s.width && end - begin >= s.width &&
                (code = find_matches(&s, begin, end, &matches)) == CP_OK)
                code = sweep(&s, matches, candidate, out);
            begin = from;
        }
        if (i < count) {
            room = tokens - (size_t)seed;
            room -= n < room ? n : room;
            end = tokens - room + (part->span < room ? part->span : room);
        }
    }
    if (code != CP_OK)
        out->count = before;
    return code;
}
