/* passages.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ngrams.h"
#include "passages.h"

typedef struct {
    uint64_t gram;
    uint32_t position;
    uint8_t length;
} placed;

static int compare(const void *a, const void *b)
{
    const placed *x = a, *y = b;

    if (x->gram != y->gram)
        return x->gram < y->gram ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The arrays of a part, each in a block of its own at an odd address, to be freed. */
typedef struct {
    uint8_t *tokens, *weights, *grams, *positions, *lengths;
} blocks;

static uint8_t *block(size_t size)
{
    return (uint8_t *)fuzz_allocate(size + 1);
}

static blocks make_part(const uint64_t *hash, size_t length, uint64_t *state, bool damaged,
                        cp_part *part)
{
    /* As many as there are of lines of one token each, or fewer. */
    blocks b = {block(8 * length), block(4 * length), block(8 * length), block(4 * length),
                block(length)};
    placed *order = fuzz_allocate((length + 1) * sizeof *order);
    size_t grams = 0;

    if (length)
        memcpy(b.tokens + 1, hash, 8 * length);
    for (size_t line = 0, size; line < length; line += size) {
        uint64_t gram[40];
        uint8_t width;

        size = 1 + fuzz_random(state) % (fuzz_random(state) % 2 ? 3 : 40);
        size = size < length - line ? size : length - line;
        width = (uint8_t)(size < CP_PASSAGE_GRAM ? size : CP_PASSAGE_GRAM);
        cp_ngrams_roll(hash + line, size, width, gram);
        for (size_t i = 0; i + width <= size; i++)
            order[grams++] = (placed){gram[i], (uint32_t)(line + i), width};
    }
    for (size_t i = 0; i < length; i++) {
        uint32_t weight = fuzz_random(state) % 8 ? (uint32_t)(fuzz_random(state) % 4) : UINT32_MAX;

        memcpy(b.weights + 1 + 4 * i, &weight, sizeof weight);
    }
    if (grams)
        qsort(order, grams, sizeof *order, compare);
    for (size_t i = 0; i < grams; i++) {
        if (damaged && fuzz_random(state) % 4 == 0)
            order[i].position = (uint32_t)(fuzz_random(state) >> 32 >> fuzz_random(state) % 32);
        if (damaged && fuzz_random(state) % 4 == 0)
            order[i].gram = order[fuzz_random(state) % grams].gram;
        memcpy(b.grams + 1 + 8 * i, &order[i].gram, sizeof order[i].gram);
        if (damaged && fuzz_random(state) % 4 == 0)
            order[i].length = (uint8_t)(fuzz_random(state) % 6);
        memcpy(b.positions + 1 + 4 * i, &order[i].position, sizeof order[i].position);
        b.lengths[1 + i] = order[i].length;
    }
    *part = (cp_part){
        .tokens = b.tokens + 1,
        .weights = b.weights + 1,
        .grams = b.grams + 1,
        .positions = b.positions + 1,
        .lengths = b.lengths + 1,
        .grams_count = grams,
        .length = length,
    };
    free(order);
    return b;
}

/* What holds of all passages: their windows ascend (of which edges hide some tokens), they lie in
 * the text and have what is needed. */
static void check_passages(const cp_passages *found, size_t from, const cp_part *part,
                           const cp_tokens *tokens)
{
    for (size_t i = from; i < found->count; i++) {
        const cp_passage *p = &found->passage[i];

        FUZZ_CHECK(p->candidate == 7 && p->covered >= part->need && part->need > 0);
        FUZZ_CHECK(p->first <= p->last && p->last < tokens->count);
        FUZZ_CHECK(p->start == tokens->start[p->first] && p->end == tokens->end[p->last]);
        FUZZ_CHECK(i == from || p->last + CP_PASSAGE_EDGE >= p[-1].last);
    }
}

/* The part is some of the text's own tokens, so that passages are frequent. */
uint64_t fuzz_passages(const fuzz_input *in)
{
    const bool damaged = in->parameter[0] & 1;
    cp_passages_scratch *scratch = NULL;
    cp_passages found = {0};
    cp_tokens tokens = {0};
    uint64_t state = in->parameter[1], ill_formed = 0, digest = 0;
    size_t from, length, once = SIZE_MAX, n = 1 + in->parameter[2] % 9u;
    uint64_t seeds[4], odd[5];
    cp_part part;
    blocks b;

    if (fuzz_no_memory(cp_tokens_scan(in->text, in->len, &tokens, &ill_formed)) ||
        !(scratch = cp_passages_open())) {
        cp_tokens_free(&tokens);
        return 0;
    }
    from = (size_t)fuzz_random(&state) % (tokens.count + 1);
    length = (size_t)fuzz_random(&state) % (tokens.count - from + 1) % 200;
    b = make_part(tokens.count ? tokens.hash + from : NULL, length, &state, damaged, &part);
    part.need = in->parameter[3] % 64u;
    part.span = in->parameter[4] == 0xFF ? UINT32_MAX : in->parameter[4];
    for (size_t i = 0; i < 4; i++)
        seeds[i] = tokens.count ? (fuzz_random(&state) % tokens.count + 3 * i * tokens.count) / 10
                                : 0;
    memcpy((uint8_t *)odd + 1, seeds, sizeof seeds);

    /* Twice: nothing is left over from the first time. */
    for (int times = 1; times <= 2; times++) {
        const size_t before = found.count, count = tokens.count ? 1 + in->parameter[5] % 4u : 0;
        int code = cp_passages_find(&part, &tokens, (uint8_t *)odd + 1, count, n, 7, scratch,
                                    &found);

        if (code == CP_NO_MEMORY)
            (void)fuzz_no_memory(code);
        FUZZ_CHECK(code == CP_OK || found.count == before);
        FUZZ_CHECK(code == CP_OK || code == CP_NO_MEMORY || (damaged && code == CP_PASSAGES_PART));
        check_passages(&found, before, &part, &tokens);
        if (times == 1 && code == CP_OK)
            once = found.count;
        if (times == 2 && code == CP_OK && once != SIZE_MAX)
            FUZZ_CHECK(found.count == 2 * once &&
                       (!once || memcmp(found.passage, found.passage + once,
                                        once * sizeof *found.passage) == 0));
        digest = fuzz_digest(digest, &code, sizeof code);
        for (size_t i = before; i < found.count; i++) {
            const cp_passage *p = &found.passage[i];
            const uint64_t all[] = {p->covered, p->first, p->last, p->start, p->end};

            digest = fuzz_digest(digest, all, sizeof all);
        }
    }
    seeds[0] = tokens.count;
    FUZZ_CHECK(cp_passages_find(&part, &tokens, (const uint8_t *)seeds, 1, n, 7, scratch, &found) <
               CP_OK);
    free(b.tokens);
    free(b.weights);
    free(b.grams);
    free(b.positions);
    free(b.lengths);
    cp_passages_close(scratch);
    cp_passages_free(&found);
    cp_tokens_free(&tokens);
    FUZZ_CHECK(!found.passage && !found.count && !found.capacity);
    return digest;
}
