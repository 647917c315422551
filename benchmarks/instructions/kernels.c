/* Runs each kernel twice over each kind of text, in run_kernel, which callgrind counts and dumps,
 * and prints a line for each pair: kernel, kind of text, bytes; tab-separated, in the order of the
 * dumps. The second run is the one to look at: all arrays have grown then. */
#include <stdio.h>
#include <stdlib.h>

#include "code_tokens.h"
#include "index.h"
#include "isa.h"
#include "measures.h"
#include "minhash.h"
#include "ngrams.h"
#include "repetition.h"
#include "segments.h"
#include "sets.h"
#include "texts.h"
#include "tokens.h"

enum {
    PERMUTATIONS = 128,
    INDEX_ENTRIES = 1 << 17,
};

static cp_tokens tokens;
static uint64_t ill_formed;
static uint32_t multipliers[PERMUTATIONS], addends[PERMUTATIONS], signature[PERMUTATIONS];
static uint8_t *index_bytes;
static cp_index index_view;
static cp_hits hits;
static cp_repetition repetition;
static cp_repetition_scratch repetition_scratch;
static cp_spans spans;
static cp_sets sets;
static cp_measures_scratch *measures_scratch;

static int scan(const uint8_t *text, size_t len)
{
    tokens.count = 0;
    return cp_tokens_scan(text, len, &tokens, &ill_formed);
}

static int scan_code(const uint8_t *text, size_t len)
{
    tokens.count = 0;
    return cp_code_tokens_scan(text, len, &tokens, &ill_formed);
}

static int count(const uint8_t *text, size_t len)
{
    tokens.count = cp_tokens_count(text, len);
    return CP_OK;
}

static int roll(const uint8_t *text, size_t len)
{
    int code = scan(text, len);

    if (code == CP_OK)
        cp_ngrams_roll(tokens.hash, tokens.count, 5, tokens.hash);
    return code;
}

static int sign(const uint8_t *text, size_t len)
{
    int code = roll(text, len);

    if (code == CP_OK)
        cp_minhash(tokens.hash, cp_ngrams_count(tokens.count, 5), multipliers, addends,
                   PERMUTATIONS, signature);
    return code;
}

static int collect(const uint8_t *text, size_t len)
{
    int code = roll(text, len);
    uint64_t digest[2];

    sets.count = 0;
    if (code == CP_OK)
        code = cp_sets_append(&sets, tokens.hash, cp_ngrams_count(tokens.count, 5));
    if (code == CP_OK)
        cp_set_digest(sets.hash, sets.count, 5, digest);
    return code;
}

/* The set with itself: each hash is shared. */
static int merge(const uint8_t *text, size_t len)
{
    int code = collect(text, len);

    if (code == CP_OK && cp_set_shared(sets.hash, sets.count, sets.hash, sets.count) != sets.count)
        code = CP_TOO_LONG;
    return code;
}

static int look_up(const uint8_t *text, size_t len)
{
    int code = scan(text, len);

    hits.count = 0;
    return code == CP_OK ? cp_index_query(&index_view, &tokens, tokens.hash, &hits) : code;
}

static int repeat(const uint8_t *text, size_t len)
{
    int code = scan(text, len);

    return code == CP_OK ? cp_repetition_measure(&tokens, text, CP_REPETITION_ALL,
                                                 &repetition_scratch, &repetition)
                         : code;
}

static int cut(const uint8_t *text, size_t len)
{
    spans.count = 0;
    return cp_segments(text, len, CP_SENTENCE, &spans);
}

static int measure(const uint8_t *text, size_t len)
{
    double values[CP_MEASURE_COUNT];
    cp_measure_set all = CP_MEASURE_BIT(CP_MEASURE_COUNT) - 1;

    return cp_measures_take(text, len, all, measures_scratch, values);
}

/* What the kernels need before the first text. */
static bool prepare(void)
{
    uint64_t *hashes = malloc(INDEX_ENTRIES * sizeof *hashes);
    size_t size = cp_index_size(INDEX_ENTRIES, false);

    for (uint32_t k = 0; k < PERMUTATIONS; k++) {
        multipliers[k] = (uint32_t)cp_hash_mix(k) | 1;
        addends[k] = (uint32_t)(cp_hash_mix(k) >> 32);
    }
    index_bytes = malloc(size);
    measures_scratch = cp_measures_open();
    if (!hashes || !index_bytes || !measures_scratch)
        return false;
    /* Evenly spread, ascending, found by no text but by chance. */
    for (uint64_t i = 0; i < INDEX_ENTRIES; i++)
        hashes[i] = i << 47 | cp_hash_mix(i) >> 17;
    if (cp_index_write(index_bytes, hashes, NULL, INDEX_ENTRIES, 8, false) != CP_OK)
        return false;
    free(hashes);
    return cp_index_open(index_bytes, size, &index_view) == CP_OK;
}

/* A new kernel is a row here. */
static const struct {
    const char *name;
    int (*run)(const uint8_t *text, size_t len); /* CP_OK, or a kernel's code */
} kernels[] = {
    {"token counts", count},
    {"tokens", scan},
    {"code tokens", scan_code},
    {"tokens and 5-grams", roll},
    {"MinHash, 128 permutations", sign},
    {"5-gram set and digest", collect},
    {"5-gram set, digest, Jaccard", merge},
    {"index query", look_up},
    {"repetition", repeat},
    {"sentences", cut},
    {"all measures", measure},
};

/* callgrind is told this name, so it stays a function. */
__attribute__((noinline, noclone)) void run_kernel(size_t kernel, const texts *in);

void run_kernel(size_t kernel, const texts *in)
{
    size_t start = 0;

    for (size_t i = 0; i < in->count; i++) {
        int code = kernels[kernel].run(in->bytes + start, in->end[i] - start);

        if (code != CP_OK) {
            fprintf(stderr, "%s: code %d\n", kernels[kernel].name, code);
            exit(1);
        }
        start = in->end[i];
    }
}

int main(void)
{
    static texts in;

    if (!cp_isa_choose(getenv("CLEANPIPE_ISA")) || !prepare()) {
        fprintf(stderr, "no such instruction set, or no memory\n");
        return 1;
    }
    for (size_t kind = 0; kind < TEXT_KINDS; kind++) {
        if (!texts_make(kind, &in)) {
            fprintf(stderr, "no memory\n");
            return 1;
        }
        for (size_t kernel = 0; kernel < sizeof kernels / sizeof *kernels; kernel++) {
            run_kernel(kernel, &in);
            run_kernel(kernel, &in);
            printf("%s\t%s\t%zu\n", kernels[kernel].name, text_names[kind], in.end[in.count - 1]);
        }
        free(in.bytes);
    }
    cp_tokens_free(&tokens);
    cp_hits_free(&hits);
    cp_repetition_free(&repetition_scratch);
    cp_spans_free(&spans);
    cp_sets_free(&sets);
    cp_measures_close(measures_scratch);
    free(index_bytes);
    return 0;
}
