/* sets.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sets.h"

static int compare(const void *left, const void *right)
{
    uint64_t a, b;

    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* Hashes that depend on the text, some more than once, by a shape that is no friend of sorting. */
static uint64_t *make_hashes(const fuzz_input *in, size_t from, size_t to, unsigned shape,
                             size_t each, size_t *count)
{
    uint64_t *hash = fuzz_allocate((to - from) * each * sizeof *hash), state = 0;

    *count = (to - from) * each;
    for (size_t i = 0; i < *count; i++) {
        uint64_t any;

        if (i % each == 0)
            state = in->text[from + i / each];
        any = fuzz_random(&state);
        switch (shape % 8) {
        case 0: hash[i] = any; break;
        case 1: hash[i] = any & 0xFF; break;                   /* few, alike but for low bits */
        case 2: hash[i] = any & UINT64_C(0xF) << 60; break;    /* alike but for high bits */
        case 3: hash[i] = UINT64_C(1) << any % 64; break;      /* a bucket for each level */
        case 4: hash[i] = UINT64_MAX << any % 64; break;
        case 5: hash[i] = any % 8 ? any % 8 : any; break;      /* many and a few others */
        case 6: hash[i] = UINT64_MAX - i; break;               /* descending */
        default: hash[i] = UINT64_C(0x0101010101010101) * (any & 0xFF); break;
        }
    }
    return hash;
}

/* Appends the set of these to `sets`, against sorting by the library. */
static void append(cp_sets *sets, uint64_t *hash, size_t count)
{
    uint64_t *sorted = fuzz_copy(hash, count * sizeof *hash);
    const size_t before = sets->count;
    uint64_t *kept = fuzz_copy(sets->hash, before * sizeof *kept);
    size_t distinct = 0;

    if (count)
        qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[distinct++] = sorted[i];
    if (fuzz_no_memory(cp_sets_append(sets, hash, count))) {
        FUZZ_CHECK(sets->count == before);
        FUZZ_CHECK(!fuzz_no_memory(cp_sets_append(sets, hash, count)));
    }
    FUZZ_CHECK(sets->count == before + distinct && sets->count <= sets->capacity);
    FUZZ_CHECK(!before || memcmp(sets->hash, kept, before * sizeof *kept) == 0);
    FUZZ_CHECK(!distinct ||
               memcmp(sets->hash + before, sorted, distinct * sizeof *sorted) == 0);
    free(kept);
    free(sorted);
}

static size_t shared_slowly(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    size_t shared = 0;

    for (size_t i = 0; i < a_count; i++)
        shared += b_count && bsearch(&a[i], b, b_count, sizeof *b, compare);
    return shared;
}

static void check_agreement(const uint64_t *a, const uint64_t *b, size_t num_perm)
{
    uint32_t *left = fuzz_allocate(num_perm * sizeof *left);
    uint32_t *right = fuzz_allocate(num_perm * sizeof *right);
    size_t agree = 0;

    for (size_t k = 0; k < num_perm; k++) {
        left[k] = (uint32_t)a[k];
        right[k] = (uint32_t)b[k];
        agree += left[k] == right[k];
    }
    FUZZ_CHECK(num_perm == 0 || left[0] == UINT32_MAX ||
               cp_signature_agreement(left, left, num_perm) == num_perm);
    FUZZ_CHECK(num_perm == 0 || left[0] == UINT32_MAX ||
               cp_signature_agreement(left, right, num_perm) == agree);
    if (num_perm)
        memset(left, 0xFF, num_perm * sizeof *left);
    FUZZ_CHECK(cp_signature_agreement(left, left, num_perm) == 0);
    free(left);
    free(right);
}

uint64_t fuzz_sets(const fuzz_input *in)
{
    /* Two sets, of two parts of the text that overlap; in one of eight cases one is small. */
    size_t each = in->parameter[0] % 4 ? 1 : 40;
    size_t begin = in->len * (in->parameter[1] % 4u) / 8;
    size_t end = in->parameter[2] % 8 ? in->len * (4 + in->parameter[2] % 5u) / 8
                                      : begin + (in->len > begin);
    size_t first_count, second_count, a_count, b_count, shared, least;
    uint64_t *first = make_hashes(in, 0, end, in->parameter[3], each, &first_count);
    uint64_t *second = make_hashes(in, begin, in->len, in->parameter[3], each, &second_count);
    uint64_t digests[2][2] = {{0}}, digest, *a, *b;
    cp_sets sets = {0};

    least = first_count < second_count ? first_count : second_count;
    check_agreement(first, second, least);
    append(&sets, first, first_count);
    a_count = sets.count;
    append(&sets, second, second_count);
    b_count = sets.count - a_count;
    /* Blocks that end where the sets do. */
    a = fuzz_copy(sets.hash, a_count * sizeof *a);
    b = b_count ? fuzz_copy(sets.hash + a_count, b_count * sizeof *b) : NULL;
    shared = cp_set_shared(a, a_count, b, b_count);
    FUZZ_CHECK(shared == shared_slowly(a, a_count, b, b_count));
    FUZZ_CHECK(shared == cp_set_shared(b, b_count, a, a_count));
    FUZZ_CHECK(cp_set_shared(a, a_count, a, a_count) == a_count);

    cp_set_digest(a, a_count, in->parameter[4], digests[0]);
    cp_set_digest(b, b_count, in->parameter[4], digests[1]);
    if (a_count == b_count && shared == a_count)
        FUZZ_CHECK(memcmp(digests[0], digests[1], sizeof *digests) == 0);
    else
        FUZZ_CHECK(digests[0][0] != digests[1][0] && digests[0][1] != digests[1][1]);

    digest = fuzz_digest(0, sets.hash, sets.count * sizeof *sets.hash);
    digest = fuzz_digest(fuzz_digest(digest, &shared, sizeof shared), digests, sizeof digests);
    cp_sets_free(&sets);
    FUZZ_CHECK(!sets.hash && !sets.count && !sets.capacity);
    free(a);
    free(b);
    free(first);
    free(second);
    return digest;
}
