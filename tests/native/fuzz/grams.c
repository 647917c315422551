/* ngrams.h, minhash.h and index.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "minhash.h"
#include "ngrams.h"

uint64_t fuzz_ngrams(const fuzz_input *in)
{
    size_t tokens, n = in->parameter[0] == 0xFF ? SIZE_MAX : 1 + in->parameter[0] % 24u;
    uint64_t *hash = fuzz_words(in, &tokens), *gram, digest;
    size_t width = tokens < n ? tokens : n;
    size_t count = cp_ngrams_count(tokens, n);

    FUZZ_CHECK(count == (tokens ? tokens - width + 1 : 0));
    gram = fuzz_allocate(count * sizeof *gram);
    cp_ngrams_roll(hash, tokens, n, gram);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0, power = 1;

        for (size_t j = width; j-- > 0; power *= CP_NGRAM_BASE)
            sum += hash[i + j] * power;
        FUZZ_CHECK(gram[i] == cp_hash_mix(sum));
    }
    cp_ngrams_roll(hash, tokens, n, hash);
    FUZZ_CHECK(count == 0 || memcmp(hash, gram, count * sizeof *gram) == 0);
    digest = fuzz_digest(0, gram, count * sizeof *gram);
    free(gram);
    free(hash);
    return digest;
}

/* ---- MinHash ---- */

/* Numbers that differ from text to text, some of them more than once: `each` from each byte. */
static uint64_t *make_grams(const fuzz_input *in, size_t each, size_t *count)
{
    uint64_t *gram = fuzz_allocate(in->len * each * sizeof *gram), state = 0;

    *count = in->len * each;
    for (size_t i = 0; i < *count; i++) {
        state = i % each ? state : in->text[i / each];
        gram[i] = fuzz_random(&state);
    }
    return gram;
}

static void check_bands(const uint32_t *signature, size_t num_perm, size_t rows, uint64_t *digest)
{
    size_t bands = num_perm / rows;
    uint64_t *keys = fuzz_allocate(bands * sizeof *keys);

    cp_band_keys(signature, bands, rows, keys);
    for (size_t band = 0; band < bands; band++) {
        uint64_t key = cp_hash_mix(CP_HASH_START ^ band);

        for (size_t row = 0; row < rows; row += 2) {
            uint64_t word = signature[band * rows + row];

            if (row + 1 < rows)
                word |= (uint64_t)signature[band * rows + row + 1] << 32;
            key = cp_hash_mix(key ^ word);
        }
        FUZZ_CHECK(keys[band] == key);
    }
    *digest = fuzz_digest(*digest, keys, bands * sizeof *keys);
    free(keys);
}

uint64_t fuzz_minhash(const fuzz_input *in)
{
    size_t num_perm = 1 + in->parameter[0] % 100u, rows = 1 + in->parameter[1] % 12u, count;
    /* Enough for the block that is mixed at a time, now and then. */
    uint64_t *gram = make_grams(in, in->parameter[2] % 16 ? 1 : 12, &count);
    uint64_t state = in->parameter[3], digest;
    uint32_t *a = fuzz_allocate(num_perm * sizeof *a);
    uint32_t *b = fuzz_allocate(num_perm * sizeof *b);
    uint32_t *signature = fuzz_allocate(num_perm * sizeof *signature);

    for (size_t k = 0; k < num_perm; k++) {
        a[k] = (uint32_t)fuzz_random(&state) | 1;
        b[k] = (uint32_t)fuzz_random(&state);
    }
    cp_minhash(gram, count, a, b, num_perm, signature);
    for (size_t k = 0; k < num_perm; k++) {
        uint32_t minimum = UINT32_MAX;

        for (size_t i = 0; i < count; i++) {
            uint32_t value = a[k] * cp_fmix32((uint32_t)gram[i]) + b[k];

            minimum = value < minimum ? value : minimum;
        }
        FUZZ_CHECK(signature[k] == minimum);
    }
    digest = fuzz_digest(0, signature, num_perm * sizeof *signature);
    check_bands(signature, num_perm, rows, &digest);
    free(gram);
    free(a);
    free(b);
    free(signature);
    return digest;
}

/* ---- the index ---- */

static int compare(const void *left, const void *right)
{
    uint64_t a, b;

    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* One in `share` of the n-grams, sorted and each once. With `crowd` every other one is replaced by
 * a number near the first, so that one bucket has many. */
static uint64_t *pick_grams(const uint64_t *gram, size_t grams, unsigned share, bool crowd,
                            size_t *count)
{
    uint64_t *picked = fuzz_allocate((grams + 1) * sizeof *picked);
    size_t kept = 0, distinct = 0;

    for (size_t i = 0; i < grams; i++)
        if (gram[i] % share == 0)
            picked[kept++] = crowd && i % 2 ? gram[0] - gram[i] % 256 : gram[i];
    qsort(picked, kept, sizeof *picked, compare);
    for (size_t i = 0; i < kept; i++)
        if (i == 0 || picked[i] != picked[i - 1])
            picked[distinct++] = picked[i];
    *count = distinct;
    return picked;
}

/* What holds of hits whatever the index: they lie in the text, in order, at their n-gram. */
static void check_hits(const cp_hits *hits, const cp_tokens *tokens, const cp_index *index)
{
    size_t grams = cp_ngrams_count(tokens->count, index->n);
    size_t width = tokens->count < index->n ? tokens->count : index->n;

    for (size_t i = 0; i < hits->count; i++) {
        const cp_hit *hit = &hits->hit[i];

        FUZZ_CHECK(hit->position < grams && hit->ordinal < index->count);
        FUZZ_CHECK(i == 0 || hit->position > hits->hit[i - 1].position);
        FUZZ_CHECK(hit->start == tokens->start[hit->position]);
        FUZZ_CHECK(hit->end == tokens->end[hit->position + width - 1]);
    }
}

static bool scan(const fuzz_input *in, cp_tokens *tokens)
{
    uint64_t ill_formed = 0;

    tokens->count = 0;
    return !fuzz_no_memory(cp_tokens_scan(in->text, in->len, tokens, &ill_formed));
}

enum { LONGER = 8 };

/* Changes some of the bytes, now and then the number of them, to up to LONGER more. */
static size_t damage(uint8_t *data, size_t size, uint64_t state)
{
    for (uint64_t times = 1 + fuzz_random(&state) % 6; times; times--) {
        static const uint8_t ends[] = {0, 1, 0x7F, 0xFF};
        uint64_t any = fuzz_random(&state);
        size_t at = (size_t)(any >> 16) % (any % 4 ? size : CP_INDEX_HEADER);

        /* Seldom what makes it an index of this version, or nearly all would be refused. */
        if (at >= 32 || any % 64 == 0)
            data[at] = any >> 2 & 1 ? (uint8_t)(any >> 8) : ends[any >> 8 & 3];
    }
    if (fuzz_random(&state) % 8)
        return size;
    return (size_t)fuzz_random(&state) % (size + LONGER + 1);
}

/* Opens and asks damaged bytes, which lie at an odd address and end where their block ends. */
static uint64_t ask_damaged(const fuzz_input *in, const uint8_t *data, size_t size, bool anything)
{
    uint64_t state = 0, digest = 0;
    cp_tokens tokens = {0};
    cp_hits hits = {0};
    cp_index index;
    uint8_t *copy = fuzz_allocate(size + LONGER), *block;
    int status;

    for (int i = 0; i < FUZZ_PARAMETERS - 1; i++)
        state = state << 8 | in->parameter[i];
    memset(copy + size, 0, LONGER);
    if (size)
        memcpy(copy, data, size);
    if (!anything)
        size = damage(copy, size, state);
    block = fuzz_allocate(size + 1);
    if (size)
        memcpy(block + 1, copy, size);

    status = cp_index_open(block + 1, size, &index);
    digest = fuzz_digest(digest, &status, sizeof status);
    if (status == CP_OK && scan(in, &tokens)) {
        size_t count;

        FUZZ_CHECK(index.size == size && index.n && index.count <= UINT32_MAX);
        status = cp_index_query(&index, &tokens, tokens.hash, &hits);
        if (status != CP_INDEX_BROKEN)
            (void)fuzz_no_memory(status);
        FUZZ_CHECK(status == CP_OK || hits.count == 0);
        check_hits(&hits, &tokens, &index);
        count = hits.count * sizeof *hits.hit;
        digest = fuzz_digest(fuzz_digest(digest, &status, sizeof status), hits.hit, count);
    } else {
        FUZZ_CHECK(status == CP_OK || (status <= CP_INDEX_NOT_ONE && status >= CP_INDEX_BROKEN));
    }
    cp_hits_free(&hits);
    cp_tokens_free(&tokens);
    free(block);
    free(copy);
    return digest;
}

uint64_t fuzz_index(const fuzz_input *in)
{
    size_t n = 1 + in->parameter[0] % 6u, grams, count, size, found = 0;
    bool valued = in->parameter[1] & 1, crowd = in->parameter[1] & 2, code = in->parameter[1] & 4;
    uint64_t *picked, *gram, *beside, digest = 0;
    cp_tokens tokens = {0};
    cp_hits hits = {0};
    uint32_t *values;
    cp_index index;
    uint8_t *data;

    digest = ask_damaged(in, in->text, in->len, true);
    if (!scan(in, &tokens)) {
        cp_tokens_free(&tokens);
        return 0;
    }
    grams = cp_ngrams_count(tokens.count, n);
    gram = fuzz_allocate((grams + 1) * sizeof *gram);
    cp_ngrams_roll(tokens.hash, tokens.count, n, gram);
    picked = pick_grams(gram, grams, 1 + in->parameter[2] % 4u, crowd, &count);
    values = fuzz_allocate((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (uint32_t)(picked[i] >> 7);

    size = cp_index_size(count, valued);
    data = fuzz_allocate(size);
    memset(data, 0xA5, size); /* all is written, zeros too */
    FUZZ_CHECK(cp_index_write(data, picked, valued ? values : NULL, count, (uint32_t)n, code) ==
               CP_OK);
    FUZZ_CHECK(cp_index_open(data, size, &index) == CP_OK);
    FUZZ_CHECK(index.n == n && index.count == count && (index.values != NULL) == valued);
    FUZZ_CHECK(index.code == code);
    digest = fuzz_digest(digest, data, size);

    beside = fuzz_allocate((tokens.count + 1) * sizeof *beside);
    if (fuzz_no_memory(cp_index_query(&index, &tokens, beside, &hits))) {
        FUZZ_CHECK(hits.count == 0);
        FUZZ_CHECK(!fuzz_no_memory(cp_index_query(&index, &tokens, beside, &hits)));
    }
    check_hits(&hits, &tokens, &index);
    for (size_t i = 0; i < grams; i++) {
        uint64_t *at = count ? bsearch(&gram[i], picked, count, sizeof *picked, compare) : NULL;

        if (!at)
            continue;
        FUZZ_CHECK(found < hits.count && hits.hit[found].position == i);
        FUZZ_CHECK(hits.hit[found].ordinal == (uint32_t)(at - picked));
        found++;
    }
    FUZZ_CHECK(found == hits.count);
    digest = fuzz_digest(digest, hits.hit, hits.count * sizeof *hits.hit);
    /* The tokens are as they were, so the same is found in their place, and there is room. */
    hits.count = 0;
    FUZZ_CHECK(cp_index_query(&index, &tokens, tokens.hash, &hits) == CP_OK);
    FUZZ_CHECK(hits.count == found);
    check_hits(&hits, &tokens, &index);
    digest ^= ask_damaged(in, data, size, false);

    if (count) {
        picked[count - 1] = count == 1 ? picked[0] : picked[count - 2];
        FUZZ_CHECK(cp_index_write(data, picked, NULL, count, 1, false) ==
                   (count == 1 ? CP_OK : CP_INDEX_UNSORTED));
    }
    cp_hits_free(&hits);
    cp_tokens_free(&tokens);
    free(beside);
    free(gram);
    free(picked);
    free(values);
    free(data);
    return digest;
}
