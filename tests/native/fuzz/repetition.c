/* table.h and repetition.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "repetition.h"
#include "table.h"

/* ---- the table ---- */

/* Adds a key for each byte of the text, as many distinct ones as `mask` lets through. */
static uint64_t add_keys(cp_table *table, const fuzz_input *in, uint32_t mask, uint64_t spread)
{
    static uint32_t rank[1 << 16]; /* 1 + the key's number, 0 if it has not come */
    uint64_t digest = 0, previous = 0;
    uint32_t distinct = 0;

    memset(rank, 0, sizeof rank);
    for (size_t i = 0; i < in->len; i++) {
        uint32_t plain = (uint32_t)(previous << 8 | in->text[i]) & mask;
        uint32_t number = cp_table_add(table, plain * spread);

        previous = in->text[i];
        if (number == CP_TABLE_NO_MEMORY) {
            FUZZ_CHECK(fuzz_no_memory(CP_NO_MEMORY));
            return 0;
        }
        if (!rank[plain])
            rank[plain] = ++distinct;
        FUZZ_CHECK(number == rank[plain] - 1);
        FUZZ_CHECK(table->entries[number].key == plain * spread);
        table->entries[number].count++;
        digest = fuzz_digest(digest, &number, sizeof number);
    }
    FUZZ_CHECK(table->count == distinct);
    for (uint32_t i = 0; i < distinct; i++)
        digest = fuzz_digest(digest, &table->entries[i].count, sizeof table->entries[i].count);
    return digest;
}

uint64_t fuzz_table(const fuzz_input *in)
{
    static const uint64_t spreads[] = {1, (uint64_t)1 << 48, CP_HASH_START, UINT32_MAX};
    uint64_t spread = spreads[in->parameter[0] % 4], digest = 0;
    uint32_t mask = in->parameter[1] % 2 ? 0xFFFF : in->parameter[1];
    cp_table table = {0};

    for (int times = 0; times < 2; times++) {
        size_t most = in->parameter[2 + times] % 2 ? in->len : in->parameter[2 + times];

        if (!fuzz_no_memory(cp_table_begin(&table, most)))
            digest += add_keys(&table, in, mask, spread);
    }
    cp_table_free(&table);
    return digest;
}

/* ---- repetition, slowly: docs/measures.md ---- */

enum { SLOWLY = 100 }; /* tokens at most */

static bool equal(const cp_tokens *t, size_t a, size_t b, size_t n)
{
    return memcmp(t->hash + a, t->hash + b, n * sizeof *t->hash) == 0;
}

static uint64_t characters(const cp_tokens *t, const uint8_t *text, size_t first, size_t n)
{
    uint64_t count = 0;

    for (size_t i = first; i < first + n; i++)
        for (uint32_t at = t->start[i]; at < t->end[i]; at++)
            count += (text[at] & 0xC0) != 0x80;
    return count;
}

/* The characters of the tokens in the n-grams that begin where `chosen` says. */
static uint64_t covered(const cp_tokens *t, const uint8_t *text, const bool *chosen, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->count; i++)
        for (size_t first = i < n ? 0 : i - n + 1; first <= i && first + n <= t->count; first++)
            if (chosen[first]) {
                sum += characters(t, text, i, 1);
                break;
            }
    return sum;
}

static void check_top(const cp_tokens *t, const uint8_t *text, size_t n, const cp_repetition *r)
{
    bool chosen[SLOWLY] = {0};
    size_t grams = t->count - n + 1, top = 0;
    uint64_t most = 0;

    for (size_t i = 0; i < grams; i++) {
        uint64_t times = 0;

        for (size_t j = 0; j < grams; j++)
            times += equal(t, i, j, n);
        if (times > most) {
            most = times;
            top = i;
        }
    }
    for (size_t i = 0; i < grams; i++)
        chosen[i] = equal(t, i, top, n);
    FUZZ_CHECK(r->top[n - 2].occurrences == most);
    FUZZ_CHECK(r->top[n - 2].gram_characters == characters(t, text, top, n));
    FUZZ_CHECK(r->top[n - 2].covered == covered(t, text, chosen, n));
}

static void check_duplicate(const cp_tokens *t, const uint8_t *text, size_t n,
                            const cp_repetition *r)
{
    bool repeated[SLOWLY] = {0}, met[SLOWLY] = {0};
    size_t grams = t->count - n + 1;
    uint64_t datatrove = 0, dolma = 0, all = 0;

    for (size_t i = 0; i < grams; i++) {
        for (size_t j = 0; j < grams; j++)
            repeated[i] = repeated[i] || (i != j && equal(t, i, j, n));
        all += characters(t, text, i, n);
        dolma += repeated[i] ? characters(t, text, i, n) : 0;
    }
    for (size_t i = 0; i < grams;) {
        bool before = false;

        for (size_t j = 0; j < i; j++)
            before = before || (met[j] && equal(t, i, j, n));
        datatrove += before ? characters(t, text, i, n) : 0;
        met[i] = !before;
        i += before ? n : 1;
    }
    FUZZ_CHECK(r->duplicate[n - 5].covered == covered(t, text, repeated, n));
    FUZZ_CHECK(r->duplicate[n - 5].datatrove == datatrove);
    FUZZ_CHECK(r->duplicate[n - 5].dolma == dolma);
    FUZZ_CHECK(r->duplicate[n - 5].dolma_all == all);
}

static void check_spans(const cp_tokens *t, const cp_repetition *r)
{
    size_t most = 0;

    for (size_t p = 1; p <= 13; p++)
        for (size_t i = 0; i + p <= t->count; i++) {
            size_t times = 1;

            while (i + (times + 1) * p <= t->count && equal(t, i, i + times * p, p))
                times++;
            most = times > most ? times : most;
        }
    FUZZ_CHECK(r->span_repeats == most);
}

/* What `wanted` leaves of all measures. */
static cp_repetition only(const cp_repetition *all, unsigned wanted)
{
    cp_repetition left = {0};

    for (unsigned n = 2; n <= 10; n++) {
        if (!(wanted & CP_REPETITION_NGRAMS(n)))
            continue;
        left.token_characters = all->token_characters;
        if (n < 5)
            left.top[n - 2] = all->top[n - 2];
        else
            left.duplicate[n - 5] = all->duplicate[n - 5];
    }
    if (wanted & CP_REPETITION_SPANS)
        left.span_repeats = all->span_repeats;
    return left;
}

uint64_t fuzz_repetition(const fuzz_input *in)
{
    unsigned wanted = (in->parameter[0] | (unsigned)in->parameter[1] << 8) & CP_REPETITION_ALL;
    cp_repetition_scratch scratch = {0};
    cp_repetition all = {0}, some = {0}, expected;
    cp_tokens tokens = {0};
    uint64_t ill_formed = 0, digest = 0;

    if (fuzz_no_memory(cp_tokens_scan(in->text, in->len, &tokens, &ill_formed)))
        goto end;
    if (tokens.count > SLOWLY && in->parameter[2] % 4)
        tokens.count = SLOWLY;
    /* The same scratch for both, and after it was refused memory. */
    for (int times = 0; fuzz_no_memory(cp_repetition_measure(&tokens, in->text, CP_REPETITION_ALL,
                                                             &scratch, &all)); times++)
        FUZZ_CHECK(times == 0 && all.token_characters == 0 && all.span_repeats == 0);
    if (fuzz_no_memory(cp_repetition_measure(&tokens, in->text, wanted, &scratch, &some)))
        goto end;
    expected = only(&all, wanted);
    FUZZ_CHECK(memcmp(&some, &expected, sizeof some) == 0);
    digest = fuzz_digest(0, &all, sizeof all);

    if (tokens.count <= SLOWLY) {
        FUZZ_CHECK(all.token_characters == characters(&tokens, in->text, 0, tokens.count));
        for (size_t n = 2; n <= 10 && n <= tokens.count; n++)
            (n < 5 ? check_top : check_duplicate)(&tokens, in->text, n, &all);
        check_spans(&tokens, &all);
    }
end:
    cp_tokens_free(&tokens);
    cp_repetition_free(&scratch);
    return digest;
}
