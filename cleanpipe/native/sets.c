#include "sets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"
#include "tokens.h"

enum {
    FEW = 24,         /* hashes that are sorted by insertion */
    FIRST_BITS = 12,  /* of the first digit at most: its counters stay in L1 */
    NEXT_BITS = 9,    /* of others, whose counters are on the stack together */
    MUCH_LARGER = 32, /* a set so many times another is searched rather than merged */
};

/* ---- sorting: by the highest bits in which hashes differ, as many as make one or two buckets a
 * hash. A level takes 5 bits or more, so 13 levels are the most, whatever the hashes. ---- */

/* Sorts `from` into `to`, which may be the same array. */
static void insert_all(const uint64_t *from, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = from[i];
        size_t at = i;

        for (; at && to[at - 1] > hash; at--)
            to[at] = to[at - 1];
        to[at] = hash;
    }
}

static uint64_t differing_bits(const uint64_t *hash, size_t count)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < count; i++)
        differ |= hash[i] ^ hash[0];
    return differ;
}

static int bit_length(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

/* Moves `from` into `to`, by buckets of the digit (hash >> shift) % 2^bits in ascending order;
 * leaves in end[] where each ends. Returns the size of the largest. */
static size_t distribute(const uint64_t *from, uint64_t *to, size_t count, int shift, int bits,
                         uint32_t *end)
{
    const size_t buckets = (size_t)1 << bits;
    uint32_t at = 0, largest = 0;

    memset(end, 0, buckets * sizeof *end);
    for (size_t i = 0; i < count; i++)
        end[from[i] >> shift & (buckets - 1)]++;
    for (size_t i = 0; i < buckets; i++) {
        uint32_t size = end[i];

        largest = size > largest ? size : largest;
        end[i] = at;
        at += size;
    }
    for (size_t i = 0; i < count; i++)
        to[end[from[i] >> shift & (buckets - 1)]++] = from[i];
    return largest;
}

static void sort(uint64_t *from, uint64_t *other, size_t count, bool stay);

/* Sorts the hashes that are in `from`, with `other` as room of the same size: back into `from`
 * when `stay`, else into `other`. A digit has `most` bits or less, and end[] 2^most elements. */
static void sort_with(uint64_t *from, uint64_t *other, size_t count, bool stay, int most,
                      uint32_t *end)
{
    uint64_t *const into = stay ? from : other;
    uint64_t differ = count > FEW ? differing_bits(from, count) : 0;
    int length = bit_length(differ), bits = bit_length(count);
    uint32_t begin = 0;

    if (count <= FEW) {
        insert_all(from, into, count);
        return;
    }
    if (!differ) {
        if (!stay)
            memcpy(into, from, count * sizeof *into);
        return;
    }
    bits = bits < most ? bits : most;
    bits = bits < length ? bits : length;
    if (distribute(from, other, count, length - bits, bits, end) <= FEW) {
        /* All at once: none moves further than within its bucket. */
        insert_all(other, into, count);
        return;
    }
    for (size_t i = 0; i < (size_t)1 << bits; begin = end[i++])
        if (end[i] > begin)
            sort(other + begin, from + begin, end[i] - begin, !stay);
}

static void sort(uint64_t *from, uint64_t *other, size_t count, bool stay)
{
    uint32_t end[1 << NEXT_BITS];

    sort_with(from, other, count, stay, NEXT_BITS, end);
}

static bool reserve(cp_sets *out, size_t more)
{
    size_t least, capacity;
    uint64_t *grown;

    if (more <= out->capacity - out->count)
        return true;
    if (more > SIZE_MAX / sizeof *grown - out->count)
        return false;
    least = out->count + more;
    capacity = out->capacity <= SIZE_MAX / sizeof *grown / 2 ? out->capacity * 2 : least;
    capacity = capacity > least ? capacity : least;
    if (!(grown = realloc(out->hash, capacity * sizeof *grown)))
        return false;
    out->hash = grown;
    out->capacity = capacity;
    return true;
}

int cp_sets_append(cp_sets *out, uint64_t *gram, size_t count)
{
    uint32_t end[1 << FIRST_BITS];
    uint64_t *set;
    size_t distinct = 0;

    if (!count)
        return CP_OK;
    if (count > UINT32_MAX)
        return CP_TOO_LONG;
    if (!reserve(out, count))
        return CP_NO_MEMORY;
    set = out->hash + out->count;
    sort_with(gram, set, count, false, FIRST_BITS, end);
    for (size_t i = 1; i < count; i++) {
        distinct += set[i] != set[distinct];
        set[distinct] = set[i];
    }
    out->count += distinct + 1;
    return CP_OK;
}

void cp_sets_free(cp_sets *sets)
{
    free(sets->hash);
    *sets = (cp_sets){0};
}

/* ---- what is said of sets ---- */

void cp_set_digest(const uint64_t *set, size_t count, uint64_t n, uint64_t *digest)
{
    static const uint64_t K[2] = {CP_HASH_START, UINT64_C(0x243F6A8885A308D3)};
    uint64_t sum[2] = {0, 0};

    for (size_t i = 0; i < count; i++) {
        sum[0] += cp_hash_mix(set[i] ^ K[0]);
        sum[1] += cp_hash_mix(set[i] ^ K[1]);
    }
    for (int j = 0; j < 2; j++)
        digest[j] = cp_hash_mix(cp_hash_mix(cp_hash_mix(K[j] ^ n) ^ count) + sum[j]);
}

/* Looks each hash of the small set up in the large one, in steps that double from the last. */
static size_t gallop(const uint64_t *small, size_t small_count, const uint64_t *large,
                     size_t large_count)
{
    size_t at = 0, shared = 0;

    for (size_t i = 0; i < small_count && at < large_count; i++) {
        size_t step = 1, low = at, high;

        while (step <= large_count - low && large[low + step - 1] < small[i]) {
            low += step;
            step *= 2;
        }
        high = step <= large_count - low ? low + step - 1 : large_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (large[middle] < small[i])
                low = middle + 1;
            else
                high = middle;
        }
        at = low;
        shared += at < large_count && large[at] == small[i];
    }
    return shared;
}

size_t cp_set_merge_scalar(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    const uint64_t *const a_end = a + a_count, *const b_end = b + b_count;
    size_t shared = 0;

    while (a < a_end && b < b_end) { /* no branch on the hashes, which no CPU foresees */
        uint64_t left = *a, right = *b;

        shared += left == right;
        a += left <= right;
        b += right <= left;
    }
    return shared;
}

size_t cp_set_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    if (!a_count || !b_count)
        return 0;
    if (a_count / MUCH_LARGER >= b_count)
        return gallop(b, b_count, a, a_count);
    if (b_count / MUCH_LARGER >= a_count)
        return gallop(a, a_count, b, b_count);
    return cp_isa_used->set_merge(a, a_count, b, b_count);
}

size_t cp_signature_agreement(const uint32_t *a, const uint32_t *b, size_t num_perm)
{
    size_t agree = 0, marks = 0;

    for (size_t k = 0; k < num_perm; k++) {
        agree += a[k] == b[k];
        marks += a[k] == UINT32_MAX;
    }
    return agree == num_perm && marks == num_perm ? 0 : agree;
}
