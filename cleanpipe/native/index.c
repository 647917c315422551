#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "ngrams.h"
#include "unicode_tables.h"

/* Arrays are copied to and from the file as they lie in memory. */
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "n-gram indexes are little-endian"
#endif

enum { BLOCK = 256 }; /* grams filtered at a time */

enum { VALUED = 1, CODE = 2 }; /* flags of the header */

static const uint8_t magic[8] = {0x63, 0x70, 0x6E, 0x67, 0x72, 0x61, 0x6D, 0x73}; /* cpngrams */

_Static_assert(sizeof CP_UNICODE_VERSION <= 16, "the header has room for the Unicode version");

/* Ascends with the hash, so hashes in order fill the buckets in order. */
static inline uint64_t bucket_of(uint64_t hash, uint64_t buckets)
{
    return (hash >> 32) * buckets >> 32;
}

/* From the low bits, which the bucket does not depend on. */
static inline uint64_t filter_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) |
           UINT64_C(1) << (hash >> 12 & 63);
}

/* Places behind the header, for count <= UINT32_MAX. */
typedef struct {
    uint64_t buckets, filters, starts, values, size;
} layout;

static layout layout_of(uint64_t count, bool valued)
{
    layout at;

    at.buckets = count / 4 + 1;
    at.filters = CP_INDEX_HEADER + count * sizeof(uint64_t);
    at.starts = at.filters + at.buckets * sizeof(uint64_t);
    at.values = at.starts + (at.buckets + 1) * sizeof(uint32_t);
    at.size = at.values + (valued ? count * sizeof(uint32_t) : 0);
    return at;
}

size_t cp_index_size(uint64_t count, bool valued)
{
    uint64_t size;

    if (count > UINT32_MAX)
        return 0;
    size = layout_of(count, valued).size;
    return size <= SIZE_MAX ? (size_t)size : 0;
}

int cp_index_write(uint8_t *out, const uint64_t *hashes, const uint32_t *values, uint64_t count,
                   uint32_t n, bool code)
{
    const layout at = layout_of(count, values != NULL);
    const uint32_t versions[2] = {CP_INDEX_FORMAT, CP_TOKEN_TABLE_VERSION};
    const uint32_t shape[2] = {n, (values ? VALUED : 0) | (code ? CODE : 0)};
    uint8_t *starts = out + at.starts, *filters = out + at.filters;
    uint64_t filter = 0, bucket = 0;

    memset(out, 0, CP_INDEX_HEADER);
    memcpy(out, magic, sizeof magic);
    memcpy(out + 8, versions, sizeof versions);
    memcpy(out + 16, CP_UNICODE_VERSION, sizeof CP_UNICODE_VERSION);
    memcpy(out + 32, shape, sizeof shape);
    memcpy(out + 40, &count, sizeof count);
    if (count)
        memcpy(out + CP_INDEX_HEADER, hashes, (size_t)count * sizeof *hashes);
    if (count && values)
        memcpy(out + at.values, values, (size_t)count * sizeof *values);

    memset(starts, 0, sizeof(uint32_t));
    for (uint64_t i = 0; i <= count; i++) {
        /* Behind the last hash, all buckets that are left. */
        uint64_t next = i < count ? bucket_of(hashes[i], at.buckets) : at.buckets;
        uint32_t start = (uint32_t)i;

        if (i && i < count && hashes[i] <= hashes[i - 1])
            return CP_INDEX_UNSORTED;
        for (; bucket < next; bucket++, filter = 0) {
            memcpy(filters + bucket * sizeof filter, &filter, sizeof filter);
            memcpy(starts + (bucket + 1) * sizeof start, &start, sizeof start);
        }
        if (i < count)
            filter |= filter_bits(hashes[i]);
    }
    return CP_OK;
}

int cp_index_open(const uint8_t *data, size_t size, cp_index *index)
{
    uint32_t flags;
    layout at;

    *index = (cp_index){0};
    if (size < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return CP_INDEX_NOT_ONE;
    index->size = CP_INDEX_HEADER;
    if (size < CP_INDEX_HEADER)
        return CP_INDEX_SIZE;
    index->format = cp_load32(data + 8);
    index->token_table = cp_load32(data + 12);
    memcpy(index->unicode, data + 16, 16);
    if (index->format != CP_INDEX_FORMAT)
        return CP_INDEX_OTHER_FORMAT;
    index->n = cp_load32(data + 32);
    flags = cp_load32(data + 36);
    index->count = cp_load64(data + 40);
    if (index->token_table != CP_TOKEN_TABLE_VERSION ||
        strcmp(index->unicode, CP_UNICODE_VERSION) != 0)
        return CP_INDEX_OTHER_TOKENS;
    if (index->n == 0 || flags > (VALUED | CODE) || index->count > UINT32_MAX)
        return CP_INDEX_BROKEN;
    index->code = flags & CODE;
    at = layout_of(index->count, flags & VALUED);
    index->buckets = at.buckets;
    index->size = at.size;
    if (size != at.size)
        return CP_INDEX_SIZE;
    index->hashes = data + CP_INDEX_HEADER;
    index->filters = data + at.filters;
    index->starts = data + at.starts;
    index->values = flags & VALUED ? data + at.values : NULL;
    return CP_OK;
}

/* Finds the hash: its ordinal, -1 if it is not there, CP_INDEX_BROKEN. */
static int64_t find(const cp_index *index, uint64_t hash)
{
    const uint8_t *start = index->starts + bucket_of(hash, index->buckets) * sizeof(uint32_t);
    uint64_t low = cp_load32(start), high = cp_load32(start + sizeof(uint32_t));
    const uint64_t end = high;

    if (low > high || high > index->count)
        return CP_INDEX_BROKEN;
    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (cp_load64(index->hashes + middle * sizeof hash) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || cp_load64(index->hashes + low * sizeof hash) != hash)
        return -1;
    return (int64_t)low;
}

static bool add_hit(cp_hits *out, cp_hit hit)
{
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? out->capacity * 2 : 64;
        cp_hit *grown = capacity <= SIZE_MAX / sizeof *grown
                            ? realloc(out->hit, capacity * sizeof *grown)
                            : NULL;

        if (!grown)
            return false;
        out->hit = grown;
        out->capacity = capacity;
    }
    out->hit[out->count++] = hit;
    return true;
}

int cp_index_query(const cp_index *index, const cp_tokens *tokens, uint64_t *gram, cp_hits *out)
{
    const size_t grams = cp_ngrams_count(tokens->count, index->n);
    const size_t width = tokens->count < index->n ? tokens->count : index->n;
    const size_t before = out->count;

    cp_ngrams_roll(tokens->hash, tokens->count, index->n, gram);
    for (size_t first = 0; first < grams;) {
        /* A block is filtered without a branch, so that its loads overlap. */
        uint16_t maybe[BLOCK];
        size_t size = grams - first < BLOCK ? grams - first : BLOCK, found = 0;

        for (size_t i = 0; i < size; i++) {
            uint64_t hash = gram[first + i], bits = filter_bits(hash);
            uint64_t at = bucket_of(hash, index->buckets) * sizeof(uint64_t);

            maybe[found] = (uint16_t)i;
            found += (cp_load64(index->filters + at) & bits) == bits;
        }
        for (size_t i = 0; i < found; i++) {
            size_t at = first + maybe[i];
            int64_t ordinal = find(index, gram[at]);

            if (ordinal == -1)
                continue;
            if (ordinal < 0 ||
                !add_hit(out, (cp_hit){(uint32_t)at, tokens->start[at], tokens->end[at + width - 1],
                                       (uint32_t)ordinal})) {
                out->count = before;
                return ordinal < 0 ? CP_INDEX_BROKEN : CP_NO_MEMORY;
            }
        }
        first += size;
    }
    return CP_OK;
}

void cp_hits_free(cp_hits *hits)
{
    free(hits->hit);
    *hits = (cp_hits){0};
}
