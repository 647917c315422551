#include "passages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "ngrams.h"

typedef struct {
    uint32_t begin, end; /* its tokens in the document, half-open */
    uint32_t gram;       /* the first of the part's grams that are it */
    uint32_t grams;      /* how many of them count */
} match;

enum { FILTER_BITS = 12 };

struct cp_passages_scratch {
    /* Of the grams of the part, by their first FILTER_BITS bits: most of a text's are not there. */
    uint64_t filter[1 << (FILTER_BITS - 6)];
    uint64_t *covering; /* for each token of the part; all 0 between candidates */
    size_t covering_room;
    uint64_t *rolled; /* the grams of a region, of one token, then of two, and so on */
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
    const size_t grams = tokens <= SIZE_MAX / CP_PASSAGE_GRAM ? tokens * CP_PASSAGE_GRAM : SIZE_MAX;
    uint64_t *rolled =
        with_room(scratch->rolled, &scratch->rolled_room, grams, sizeof *scratch->rolled);
    match *matches;

    if (!rolled)
        return false;
    scratch->rolled = rolled;
    matches = with_room(scratch->matches, &scratch->matches_room, grams, sizeof *matches);
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
    bool has[CP_PASSAGE_GRAM + 1]; /* whether the part has grams of that length */
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
    size_t high = s->part->grams_count;

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

static inline size_t length_at(const search *s, size_t at)
{
    return s->part->lengths[at];
}

/* The place of a gram in the filter: a bit of a word. */
static inline uint64_t *filter_word(const search *s, uint64_t gram)
{
    return &s->scratch->filter[gram >> (64 - FILTER_BITS + 6)];
}

static inline uint64_t filter_bit(uint64_t gram)
{
    return UINT64_C(1) << (gram >> (64 - FILTER_BITS) & 63);
}

static void fill_filter(search *s)
{
    memset(s->scratch->filter, 0, sizeof s->scratch->filter);
    for (size_t at = 0; at < s->part->grams_count; at++) {
        if (s->part->lengths[at] <= CP_PASSAGE_GRAM)
            s->has[s->part->lengths[at]] = true;
        *filter_word(s, gram_at(s, at)) |= filter_bit(gram_at(s, at));
    }
}

/* Whether the gram number `at` lies in the part. */
static inline bool sound(const search *s, size_t at)
{
    return position_at(s, at) + length_at(s, at) <= s->part->length;
}

/* ---- windows ---- */

static void add(search *s, const match *m)
{
    for (uint32_t g = 0; g < m->grams; g++) {
        size_t from = position_at(s, m->gram + g);

        for (size_t t = from; t < from + (m->end - m->begin); t++)
            if (!s->scratch->covering[t]++)
                s->covered += cp_load32(s->part->weights + t * sizeof(uint32_t));
    }
}

static void take_away(search *s, const match *m)
{
    for (uint32_t g = 0; g < m->grams; g++) {
        size_t from = position_at(s, m->gram + g);

        for (size_t t = from; t < from + (m->end - m->begin); t++)
            if (!--s->scratch->covering[t])
                s->covered -= cp_load32(s->part->weights + t * sizeof(uint32_t));
    }
}

/* Whether the window from match l to match r is too long. */
static inline bool too_long(const search *s, const match *l, const match *r)
{
    return (uint64_t)r->end > (uint64_t)l->begin + s->part->span;
}

/* From the window of matches *l to r, which has what is needed, to the best one behind it. */
static size_t best_window(search *s, size_t *l, size_t r, size_t count)
{
    const match *const matches = s->scratch->matches;
    uint64_t most = s->covered;
    size_t best = r, best_l = *l, from = *l, at = r + 1;

    for (; at < count && at - best <= best - best_l + 1 + CP_PASSAGE_PATIENCE &&
           matches[at].begin <= (uint64_t)matches[best].end + s->part->span;
         at++) {
        add(s, &matches[at]);
        for (; too_long(s, &matches[from], &matches[at]); from++)
            take_away(s, &matches[from]);
        if (s->covered < s->part->need) {
            at++;
            break;
        }
        if (s->covered > most) {
            most = s->covered;
            best = at;
            best_l = from;
        }
    }
    for (; from < at; from++)
        take_away(s, &matches[from]);
    for (at = best_l; at <= best; at++)
        add(s, &matches[at]);
    *l = best_l;
    return best;
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

static int emit(search *s, size_t l, size_t r, size_t candidate, cp_passages *out)
{
    const match *const matches = s->scratch->matches, *left = &matches[l], *right = &matches[r];
    size_t first, last = right->end - 1, greatest;

    /* A longer gram may end behind a shorter one, and begin before it. */
    for (size_t at = l; at <= r && matches[at].end < left->begin + CP_PASSAGE_GRAM; at++)
        if (matches[at].begin < left->begin)
            left = &matches[at];
    first = left->begin;
    greatest = bisect(s, right->gram, gram_at(s, right->gram), true);
    /* Of damaged grams, bisection may find what is before the match. */
    greatest = greatest > right->gram ? greatest - 1 : right->gram;
    if (!sound(s, greatest) || length_at(s, greatest) == 0)
        return CP_PASSAGES_PART;
    first -= left_edge(s, first, position_at(s, left->gram));
    last += right_edge(s, last, position_at(s, greatest) + length_at(s, greatest) - 1);
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
            r = best_window(s, &l, r, count);
            l = trim(s, l);
            code = emit(s, l, r, candidate, out);
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

/* The matches of [begin, end) to scratch->matches, by their ends, then their begins. */
static int find_matches(search *s, size_t begin, size_t end, size_t *count)
{
    const size_t tokens = end - begin;

    *count = 0;
    if (!region_room(s->scratch, tokens))
        return CP_NO_MEMORY;
    for (size_t width = 1; width <= CP_PASSAGE_GRAM; width++)
        if (s->has[width])
            cp_ngrams_roll(s->document->hash + begin, tokens, width,
                           s->scratch->rolled + (width - 1) * tokens);
    for (size_t stop = 1; stop <= tokens; stop++)
        for (size_t width = stop < CP_PASSAGE_GRAM ? stop : CP_PASSAGE_GRAM; width; width--) {
            uint64_t gram;
            size_t at, behind;

            if (!s->has[width])
                continue;
            gram = s->scratch->rolled[(width - 1) * tokens + stop - width];
            if (!(*filter_word(s, gram) & filter_bit(gram)))
                continue;
            at = behind = bisect(s, 0, gram, false);
            for (; behind < s->part->grams_count && behind - at < CP_PASSAGE_POSITIONS &&
                   gram_at(s, behind) == gram && length_at(s, behind) == width;
                 behind++)
                if (!sound(s, behind))
                    return CP_PASSAGES_PART;
            if (behind > at)
                s->scratch->matches[(*count)++] =
                    (match){(uint32_t)(begin + stop - width), (uint32_t)(begin + stop),
                            (uint32_t)at, (uint32_t)(behind - at)};
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

    fill_filter(&s);
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
            if (end > begin && (code = find_matches(&s, begin, end, &matches)) == CP_OK)
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
