/* Passages for Python: columns of candidates and parts, checked as far as they are used. */
#include "binding.h"

#include <stdlib.h>

#include "code_tokens.h"
#include "load.h"
#include "ngrams.h"
#include "passages.h"

/* The arrays, in the order of the arguments. */
enum {
    DOCUMENTS, PARTS, SEED_OFFSETS, SEEDS, PART_OFFSETS, PART_TOKENS, PART_WEIGHTS, GRAM_OFFSETS,
    GRAMS, GRAM_POSITIONS, GRAM_LENGTHS, NEED, SPAN, COLUMNS,
};

static const struct {
    const char *name, *dtype;
} columns[COLUMNS] = {
    [DOCUMENTS] = {"documents", "int64"},
    [PARTS] = {"parts", "int64"},
    [SEED_OFFSETS] = {"seed_offsets", "int64"},
    [SEEDS] = {"seeds", "int64"},
    [PART_OFFSETS] = {"part_offsets", "int64"},
    [PART_TOKENS] = {"part_tokens", "uint64"},
    [PART_WEIGHTS] = {"part_weights", "uint32"},
    [GRAM_OFFSETS] = {"gram_offsets", "int64"},
    [GRAMS] = {"grams", "uint64"},
    [GRAM_POSITIONS] = {"gram_positions", "uint32"},
    [GRAM_LENGTHS] = {"gram_lengths", "uint8"},
    [NEED] = {"need", "uint64"},
    [SPAN] = {"span", "uint32"},
};

typedef struct {
    size_t document; /* the row of its text */
    const uint8_t *seeds;
    size_t count;
    cp_part part;
} candidate;

typedef struct {
    Py_buffer column[COLUMNS];
    int opened; /* how many of them */
    Py_ssize_t candidates, parts;
    candidate *candidate; /* as they were when they were checked */
    size_t n;
    int code; /* code tokens */
    cp_tokens tokens;
    cp_passages_scratch *scratch;
    cp_passages found;
    Py_ssize_t next; /* candidate */
} passages_context;

static const uint8_t *item(const passages_context *of, int column, Py_ssize_t at)
{
    return (const uint8_t *)of->column[column].buf + at * of->column[column].itemsize;
}

static int64_t integer(const passages_context *of, int column, Py_ssize_t at)
{
    return (int64_t)cp_load64(item(of, column, at));
}

static Py_ssize_t length_of(const passages_context *of, int column)
{
    return of->column[column].shape[0];
}

/* Whether the column has `expected` numbers, as `other` asks for. */
static bool check_length(const passages_context *of, int column, Py_ssize_t expected, int other)
{
    if (length_of(of, column) == expected)
        return true;
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, where %s has %zd", columns[column].name,
                 length_of(of, column), columns[other].name, length_of(of, other));
    return false;
}

/* Whether offsets[at] to offsets[at + 1] are in the column; then the first one and how many. */
static bool range_of(const passages_context *of, int offsets, int column, Py_ssize_t at,
                     Py_ssize_t *first, Py_ssize_t *count)
{
    int64_t start = integer(of, offsets, at), end = integer(of, offsets, at + 1);

    if (start >= 0 && end >= start && end <= length_of(of, column)) {
        *first = (Py_ssize_t)start;
        *count = (Py_ssize_t)(end - start);
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s[%zd] to [%zd] are %lld to %lld, with %zd numbers of %s",
                 columns[offsets].name, at, at + 1, (long long)start, (long long)end,
                 length_of(of, column), columns[column].name);
    return false;
}

static bool take_candidate(passages_context *of, Py_ssize_t i, Py_ssize_t rows)
{
    const int64_t document = integer(of, DOCUMENTS, i), part = integer(of, PARTS, i);
    const int64_t before = i ? (int64_t)of->candidate[i - 1].document : 0;
    Py_ssize_t seed, seeds, token, tokens, gram, grams;

    if (document < before || document >= rows) {
        PyErr_Format(PyExc_ValueError,
                     "documents[%zd] is %lld: expected %lld to %zd, as they ascend and there are "
                     "%zd texts",
                     i, (long long)document, (long long)before, rows - 1, rows);
        return false;
    }
    if (part < 0 || part >= of->parts) {
        PyErr_Format(PyExc_ValueError, "parts[%zd] is %lld, of %zd parts", i, (long long)part,
                     of->parts);
        return false;
    }
    if (!range_of(of, SEED_OFFSETS, SEEDS, i, &seed, &seeds) ||
        !range_of(of, PART_OFFSETS, PART_TOKENS, (Py_ssize_t)part, &token, &tokens) ||
        !range_of(of, GRAM_OFFSETS, GRAMS, (Py_ssize_t)part, &gram, &grams))
        return false;
    if ((uint64_t)tokens > UINT32_MAX || (uint64_t)grams > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "part %lld has %zd tokens and %zd grams: too many",
                     (long long)part, tokens, grams);
        return false;
    }
    of->candidate[i] = (candidate){
        .document = (size_t)document,
        .seeds = item(of, SEEDS, seed),
        .count = (size_t)seeds,
        .part = {
            .tokens = item(of, PART_TOKENS, token),
            .weights = item(of, PART_WEIGHTS, token),
            .grams = item(of, GRAMS, gram),
            .positions = item(of, GRAM_POSITIONS, gram),
            .lengths = item(of, GRAM_LENGTHS, gram),
            .grams_count = (size_t)grams,
            .length = (size_t)tokens,
            .need = cp_load64(item(of, NEED, (Py_ssize_t)part)),
            .span = cp_load32(item(of, SPAN, (Py_ssize_t)part)),
        },
    };
    return true;
}

static bool check_shapes(passages_context *of)
{
    of->candidates = length_of(of, DOCUMENTS);
    of->parts = length_of(of, NEED);
    return check_length(of, PARTS, of->candidates, DOCUMENTS) &&
           check_length(of, SEED_OFFSETS, of->candidates + 1, DOCUMENTS) &&
           check_length(of, PART_WEIGHTS, length_of(of, PART_TOKENS), PART_TOKENS) &&
           check_length(of, GRAM_POSITIONS, length_of(of, GRAMS), GRAMS) &&
           check_length(of, GRAM_LENGTHS, length_of(of, GRAMS), GRAMS) &&
           check_length(of, PART_OFFSETS, of->parts + 1, NEED) &&
           check_length(of, GRAM_OFFSETS, of->parts + 1, NEED) &&
           check_length(of, SPAN, of->parts, NEED);
}

static bool take_candidates(passages_context *of, Py_ssize_t rows)
{
    of->candidate = calloc((size_t)of->candidates + 1, sizeof *of->candidate);
    of->scratch = cp_passages_open();
    if (!of->candidate || !of->scratch) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < of->candidates; i++)
        if (!take_candidate(of, i, rows))
            return false;
    return true;
}

enum { AHEAD = 4 /* candidates */, LINE = 64 /* bytes */ };

/* Parts are all over an index that no cache holds: the first grams of one to come. */
static void fetch(const cp_part *part)
{
    for (size_t at = 0; at < 3 * LINE; at += LINE)
        if (at < part->grams_count * sizeof(uint64_t))
            __builtin_prefetch(part->grams + at);
    __builtin_prefetch(part->lengths);
}

/* Judges a text's candidates, which are the next ones. */
static int judge_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    passages_context *of = context;
    const candidate *c = &of->candidate[of->next], *const end = of->candidate + of->candidates;
    uint64_t ill_formed = 0;
    int code = CP_OK;

    if (c == end || c->document != row)
        return CP_OK;
    of->tokens.count = 0;
    code = of->code ? cp_code_tokens_scan(text, len, &of->tokens, &ill_formed)
                    : cp_tokens_scan(text, len, &of->tokens, &ill_formed);
    for (; code == CP_OK && c < end && c->document == row; c++, of->next++) {
        if (end - c > AHEAD)
            fetch(&c[AHEAD].part);
        code = cp_passages_find(&c->part, &of->tokens, c->seeds, c->count, of->n,
                                (size_t)of->next, of->scratch, &of->found);
    }
    return code;
}

static void write_found(const passages_context *of, const output out[6])
{
    for (size_t i = 0; i < of->found.count; i++) {
        const cp_passage *passage = &of->found.passage[i];

        ((int64_t *)out[0].view.buf)[i] = (int64_t)passage->candidate;
        ((int64_t *)out[1].view.buf)[i] = passage->first;
        ((int64_t *)out[2].view.buf)[i] = passage->last;
        ((int64_t *)out[3].view.buf)[i] = passage->start;
        ((int64_t *)out[4].view.buf)[i] = passage->end;
        ((uint64_t *)out[5].view.buf)[i] = passage->covered;
    }
}

PyObject *passages(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "code", NULL};
    PyObject *texts, *object[COLUMNS];
    Py_ssize_t n;
    texts_input in = {0};
    output out[6] = {0}; /* candidates, firsts, lasts, starts, ends, covered */
    passages_context of = {0};
    bool good = true;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OOOOOnOOOOOOOOO|p:passages", names, &texts, &object[DOCUMENTS],
            &object[PARTS], &object[SEED_OFFSETS], &object[SEEDS], &n, &object[PART_OFFSETS],
            &object[PART_TOKENS], &object[PART_WEIGHTS], &object[GRAM_OFFSETS], &object[GRAMS],
            &object[GRAM_POSITIONS], &object[GRAM_LENGTHS], &object[NEED], &object[SPAN],
            &of.code) ||
        !check_n(n))
        return NULL;
    of.n = (size_t)n;
    while (good && of.opened < COLUMNS) {
        const int i = of.opened;

        good = numbers_view(&of.column[i], object[i], columns[i].name, columns[i].dtype, 1);
        of.opened += good;
    }
    good = good && check_shapes(&of) && texts_open(&in, texts) &&
           take_candidates(&of, rows_of(&in)) && run(&in, judge_text, &of);
    texts_close(&in);
    for (int i = 0; i < 6; i++)
        good = good && output_open(&out[i], module, (Py_ssize_t)of.found.count,
                                   i < 5 ? "int64" : "uint64");
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        write_found(&of, out);
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < of.opened; i++)
        PyBuffer_Release(&of.column[i]);
    free(of.candidate);
    cp_tokens_free(&of.tokens);
    cp_passages_close(of.scratch);
    cp_passages_free(&of.found);
    return outputs_close(out, 6, good);
}
