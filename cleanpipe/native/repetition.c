#include "repetition.h"

#include <stdlib.h>
#include <string.h>

#include "characters.h"

enum {
    LONGEST_GRAM = 10,
    FIRST_DUPLICATE = 5, /* shorter n-grams are looked at for the most frequent one */
    LONGEST_SPAN = 13,
};

/* Scratch for more tokens than this, 12 MiB, is given back when it is far more than needed. */
#define LARGE ((size_t)1 << 20)

static int reserve(cp_repetition_scratch *scratch, size_t tokens)
{
    if (scratch->capacity > LARGE && scratch->capacity / 16 > tokens)
        cp_repetition_free(scratch);
    if (tokens <= scratch->capacity)
        return CP_OK;
    if (tokens < scratch->capacity + scratch->capacity / 2)
        tokens = scratch->capacity + scratch->capacity / 2;
    free(scratch->before);
    scratch->capacity = 0;
    if (tokens > SIZE_MAX / (3 * sizeof(uint32_t)) - 1 ||
        !(scratch->before = malloc((3 * tokens + 1) * sizeof(uint32_t))))
        return CP_NO_MEMORY;
    scratch->at = scratch->before + tokens + 1;
    scratch->gram = scratch->at + tokens;
    scratch->capacity = tokens;
    return CP_OK;
}

void cp_repetition_free(cp_repetition_scratch *scratch)
{
    cp_table_free(&scratch->table);
    free(scratch->before);
    *scratch = (cp_repetition_scratch){0};
}

/* The first bytes of code points among the `length` bytes from `at`; 8 bytes may be read there. */
static inline uint32_t characters_in_word(const uint8_t *at, uint32_t length)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word, tails;

    memcpy(&word, at, sizeof word);
    tails = word >> 7 & ~(word >> 6) & ones;
    /* Where a word's first byte in memory is decides which bits are the token's. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    tails >>= 64 - 8 * length;
#else
    tails <<= 64 - 8 * length;
#endif
    return length - (uint32_t)(tails * ones >> 56);
}

/* Fills before[0 ... count], count > 0, whatever bytes the tokens hold. */
static void sum_characters_of_any(const cp_tokens *tokens, const uint8_t *text, uint32_t *before)
{
    before[0] = 0;
    for (size_t i = 0; i < tokens->count; i++)
        before[i + 1] = before[i] + (uint32_t)cp_characters(text + tokens->start[i],
                                                            text + tokens->end[i]);
}

/* The same where a token holds well-formed UTF-8 only. */
static void sum_characters(const cp_tokens *tokens, const uint8_t *text, uint32_t *before)
{
    uint32_t sum = 0, end = tokens->end[tokens->count - 1];

    for (size_t i = 0; i < tokens->count; i++) {
        uint32_t from = tokens->start[i], to = tokens->end[i];

        before[i] = sum;
        while (to - from >= 8) {
            sum += characters_in_word(text + from, 8);
            from += 8;
        }
        if (from < to && end - from >= 8)
            sum += characters_in_word(text + from, to - from);
        else
            for (; from < to; from++)
                sum += (text[from] & 0xC0) != 0x80;
    }
    before[tokens->count] = sum;
}

/* The most times that a span of 1 to LONGEST_SPAN tokens occurs in a row. A span of p tokens that
 * occurs k times is a run of (k - 1) * p tokens that each equal the one p before. To beat `best`
 * a run needs best * p, so one look every best * p tokens finds it. */
static uint64_t span_repeats(const uint64_t *hash, size_t count)
{
    size_t best = 1;

    for (size_t p = 1; p <= LONGEST_SPAN && best * p < count; p++) {
        size_t looked = p - 1; /* no run that matters reaches to here or before */

        while (count - looked > best * p) {
            size_t i = looked + best * p, first = i, last = i;

            if (hash[i] != hash[i - p]) {
                looked = i;
                continue;
            }
            while (first > looked + 1 && hash[first - 1] == hash[first - 1 - p])
                first--;
            while (last + 1 < count && hash[last + 1] == hash[last + 1 - p])
                last++;
            if ((last + 1 - first) / p + 1 > best)
                best = (last + 1 - first) / p + 1;
            looked = last;
        }
    }
    return count ? best : 0;
}

/* ---- n-grams ----
 *
 * An n-gram can be repeated only if the (n-1)-grams at its place and at the next are, and it is
 * known by their two numbers. So each length looks only at what was repeated one token shorter;
 * that becomes little soon. */

/* Begins with all tokens as 1-grams. */
static int number_tokens(const cp_tokens *tokens, cp_repetition_scratch *s)
{
    if (cp_table_begin(&s->table, tokens->count) != CP_OK)
        return CP_NO_MEMORY;
    for (size_t i = 0; i < tokens->count; i++) {
        uint32_t gram;

        if (tokens->count - i > CP_TABLE_AHEAD)
            cp_table_expect(&s->table, tokens->hash[i + CP_TABLE_AHEAD]);
        gram = cp_table_add(&s->table, tokens->hash[i]);
        if (gram == CP_TABLE_NO_MEMORY)
            return CP_NO_MEMORY;
        s->table.entries[gram].count++;
        s->at[i] = (uint32_t)i;
        s->gram[i] = gram;
    }
    return CP_OK;
}

/* Keeps of *count grams those that are repeated. */
static void keep_repeated(cp_repetition_scratch *s, size_t *count)
{
    size_t kept = 0;

    for (size_t j = 0; j < *count; j++) {
        uint32_t at = s->at[j], gram = s->gram[j];

        s->at[kept] = at;
        s->gram[kept] = gram;
        kept += s->table.entries[gram].count > 1;
    }
    *count = kept;
}

/* The key of the n-gram that the (n-1)-grams j and j + 1 make. */
static inline uint64_t pair(const cp_repetition_scratch *s, size_t j)
{
    return (uint64_t)s->gram[j] << 32 | s->gram[j + 1];
}

/* Makes of *count repeated grams those that are one token longer. */
static int number_longer(cp_repetition_scratch *s, size_t *count)
{
    size_t made = 0;

    if (cp_table_begin(&s->table, *count) != CP_OK)
        return CP_NO_MEMORY;
    for (size_t j = 0; j + 1 < *count; j++) {
        uint32_t at = s->at[j], gram;

        if (at + 1 != s->at[j + 1])
            continue;
        if (*count - j > CP_TABLE_AHEAD + 1)
            cp_table_expect(&s->table, pair(s, j + CP_TABLE_AHEAD));
        gram = cp_table_add(&s->table, pair(s, j));
        if (gram == CP_TABLE_NO_MEMORY)
            return CP_NO_MEMORY;
        s->table.entries[gram].count++;
        s->at[made] = at;
        s->gram[made++] = gram;
    }
    *count = made;
    return CP_OK;
}

/* `count` n-grams are left that may be repeated; the text has at least one n-gram. */
static void measure_top(const cp_repetition_scratch *s, size_t count, uint32_t n,
                        cp_repetition *out)
{
    const cp_entry *entries = s->table.entries;
    const uint32_t *before = s->before;
    uint32_t top = 0, covered_to = 0;
    uint64_t covered = 0, occurrences = 0, gram_characters = 0;

    for (uint32_t i = 1; count && i < s->table.count; i++)
        if (entries[i].count > entries[top].count)
            top = i;
    if (!count || entries[top].count < 2) { /* all occur once, and the first is the text's */
        covered = gram_characters = before[n];
        occurrences = 1;
        count = 0;
    }
    for (size_t j = 0; j < count; j++) {
        uint32_t at = s->at[j];

        if (s->gram[j] != top)
            continue;
        if (!occurrences++)
            gram_characters = before[at + n] - before[at];
        covered += before[at + n] - before[at > covered_to ? at : covered_to];
        covered_to = at + n;
    }
    out->top[n - 2].covered = covered;
    out->top[n - 2].occurrences = occurrences;
    out->top[n - 2].gram_characters = gram_characters;
}

/* `count` n-grams are left, all repeated; the text has at least one n-gram. */
static void measure_duplicates(cp_repetition_scratch *s, size_t count, size_t tokens, uint32_t n,
                               cp_repetition *out)
{
    const uint32_t *before = s->before;
    uint32_t covered_to = 0, read_to = 0;
    uint64_t covered = 0, datatrove = 0, dolma = 0, all = 0;

    for (size_t j = 0; j < count; j++) {
        uint32_t at = s->at[j], characters = before[at + n] - before[at];
        cp_entry *entry = &s->table.entries[s->gram[j]];

        covered += before[at + n] - before[at > covered_to ? at : covered_to];
        covered_to = at + n;
        dolma += characters;
        if (at >= read_to) {
            if (entry->note) {
                datatrove += characters;
                read_to = at + n;
            }
            entry->note = 1; /* met */
        }
    }
    /* The sum of before[i + n] - before[i]: all but the ends cancel. */
    for (uint32_t i = 0; i < n; i++)
        all += (uint64_t)before[tokens - i] - before[i];
    out->duplicate[n - FIRST_DUPLICATE].covered = covered;
    out->duplicate[n - FIRST_DUPLICATE].datatrove = datatrove;
    out->duplicate[n - FIRST_DUPLICATE].dolma = dolma;
    out->duplicate[n - FIRST_DUPLICATE].dolma_all = all;
}

static int measure_ngrams(const cp_tokens *tokens, const uint8_t *text, unsigned wanted,
                          cp_repetition_scratch *s, cp_repetition *out)
{
    size_t count = tokens->count;

    if (!count)
        return CP_OK;
    if (reserve(s, count) != CP_OK)
        return CP_NO_MEMORY;
    if (wanted & CP_REPETITION_ANY_BYTES)
        sum_characters_of_any(tokens, text, s->before);
    else
        sum_characters(tokens, text, s->before);
    out->token_characters = s->before[count];
    if (number_tokens(tokens, s) != CP_OK)
        return CP_NO_MEMORY;
    for (uint32_t n = 2; n <= LONGEST_GRAM && n <= tokens->count && wanted >> n; n++) {
        keep_repeated(s, &count);
        if (count && number_longer(s, &count) != CP_OK)
            return CP_NO_MEMORY;
        if (!(wanted >> n & 1))
            continue;
        if (n < FIRST_DUPLICATE) {
            measure_top(s, count, n, out);
        } else {
            keep_repeated(s, &count);
            measure_duplicates(s, count, tokens->count, n, out);
        }
    }
    return CP_OK;
}

int cp_repetition_measure(const cp_tokens *tokens, const uint8_t *text, unsigned wanted,
                          cp_repetition_scratch *scratch, cp_repetition *out)
{
    cp_repetition found = {0};

    if (wanted & CP_REPETITION_SPANS)
        found.span_repeats = span_repeats(tokens->hash, tokens->count);
    if (wanted & CP_REPETITION_ALL & ~CP_REPETITION_SPANS &&
        measure_ngrams(tokens, text, wanted & ~CP_REPETITION_SPANS, scratch, &found) != CP_OK)
        return CP_NO_MEMORY;
    *out = found;
    return CP_OK;
}
