/* cleanpipe._native: the kernels for Python. Only this and binding_*.c know Python;
 * _native.pyi says what each function takes, gives and raises. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include "code_tokens.h"
#include "index.h"
#include "isa.h"
#include "markup.h"
#include "measures.h"
#include "ngrams.h"
#include "plain.h"
#include "segments.h"
#include "tokens.h"
#include "unicode_tables.h"
#include "utf8.h"

/* ---- tokens ---- */

static void widen(int64_t *restrict to, const uint32_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

static int count_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    ((int64_t *)context)[row] = (int64_t)cp_tokens_count(text, len);
    return CP_OK;
}

static int check_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    ((int64_t *)context)[row] = (int64_t)cp_utf8_ill_formed(text, len);
    return CP_OK;
}

/* One int64 a text. */
static PyObject *per_text(PyObject *module, PyObject *texts, cp_text_kernel kernel)
{
    texts_input in;
    output out = {0};
    bool good = texts_open(&in, texts) && output_open(&out, module, rows_of(&in), "int64") &&
                run(&in, kernel, out.view.buf);

    texts_close(&in);
    return output_close(&out, good);
}

static PyObject *token_counts(PyObject *module, PyObject *texts)
{
    return per_text(module, texts, count_text);
}

static PyObject *replaced(PyObject *module, PyObject *texts)
{
    return per_text(module, texts, check_text);
}

/* ---- texts as they are shown ---- */

typedef struct {
    int64_t *offsets;
    uint8_t *bytes;
} plain_context;

static int measure_length(const uint8_t *text, size_t len, size_t row, void *context)
{
    plain_context *into = context;

    (void)text;
    into->offsets[row + 1] = into->offsets[row] + (int64_t)len;
    return CP_OK;
}

static int plain_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    plain_context *into = context;

    if ((int64_t)len != into->offsets[row + 1] - into->offsets[row])
        return CP_CHANGED;
    cp_plain_text(text, len, into->bytes + into->offsets[row]);
    return CP_OK;
}

static PyObject *plain_texts(PyObject *module, PyObject *texts)
{
    texts_input in;
    output out[2] = {0}; /* offsets, bytes */
    plain_context into;
    bool good = texts_open(&in, texts) && output_offsets(&out[0], module, &in, &into.offsets) &&
                run(&in, measure_length, &into) &&
                output_open(&out[1], module, (Py_ssize_t)into.offsets[rows_of(&in)], "uint8");

    if (good) {
        into.bytes = out[1].view.buf;
        good = run(&in, plain_text, &into);
    }
    texts_close(&in);
    return outputs_close(out, 2, good);
}

/* ---- e-mail addresses: counted first ---- */

typedef struct {
    int64_t *offsets, *start, *end;
} emails_context;

static int count_emails(const uint8_t *text, size_t len, size_t row, void *context)
{
    int64_t *offsets = ((emails_context *)context)->offsets;

    offsets[row + 1] = offsets[row] + (int64_t)cp_markup_emails(text, len, 0, NULL, NULL);
    return CP_OK;
}

static int find_emails(const uint8_t *text, size_t len, size_t row, void *context)
{
    emails_context *into = context;
    int64_t first = into->offsets[row];
    size_t room = (size_t)(into->offsets[row + 1] - first);

    if (!room)
        return CP_OK;
    return cp_markup_emails(text, len, room, into->start + first, into->end + first) == room
               ? CP_OK
               : CP_CHANGED;
}

static PyObject *email_spans(PyObject *module, PyObject *texts)
{
    texts_input in;
    output out[3] = {0}; /* offsets, starts, ends */
    emails_context into;
    bool good = texts_open(&in, texts) && output_offsets(&out[0], module, &in, &into.offsets) &&
                run(&in, count_emails, &into);

    if (good) {
        Py_ssize_t count = (Py_ssize_t)into.offsets[rows_of(&in)];

        good = output_open(&out[1], module, count, "int64") &&
               output_open(&out[2], module, count, "int64");
    }
    if (good) {
        into.start = out[1].view.buf;
        into.end = out[2].view.buf;
        good = run(&in, find_emails, &into);
    }
    texts_close(&in);
    return outputs_close(out, 3, good);
}

/* ---- tokens and n-grams: counted first, so that results go where they stay ---- */

typedef struct {
    cp_tokens tokens; /* of one text, reused */
    size_t n;
    int code;         /* code tokens */
    int64_t *offsets; /* of the results of each text */
    int64_t *start, *end;
    uint64_t *hash;
} scan_context;

static int size_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    scan_context *into = context;
    uint64_t tokens;

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    tokens = into->code ? cp_code_tokens_count(text, len) : cp_tokens_count(text, len);
    into->offsets[row + 1] =
        into->offsets[row] + (int64_t)cp_ngrams_count((size_t)tokens, into->n);
    return CP_OK;
}

static bool size_results(output *offsets, PyObject *module, const texts_input *in,
                         scan_context *into)
{
    return output_offsets(offsets, module, in, &into->offsets) && run(in, size_text, into);
}

/* One text's tokens, in place of those that were there. */
static int scan_one(const uint8_t *text, size_t len, int code_tokens, cp_tokens *tokens)
{
    uint64_t ill_formed = 0;

    tokens->count = 0;
    return code_tokens ? cp_code_tokens_scan(text, len, tokens, &ill_formed)
                       : cp_tokens_scan(text, len, tokens, &ill_formed);
}

/* Scans a text into into->tokens; CP_CHANGED when there is no room for what it has now. */
static int scan_sized(const uint8_t *text, size_t len, size_t row, scan_context *into)
{
    const size_t room = (size_t)(into->offsets[row + 1] - into->offsets[row]);
    int code = scan_one(text, len, into->code, &into->tokens);

    if (code == CP_OK && cp_ngrams_count(into->tokens.count, into->n) != room)
        code = CP_CHANGED;
    return code;
}

static int scan_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    scan_context *into = context;
    const cp_tokens *tokens = &into->tokens;
    const int64_t at = into->offsets[row];
    int code = scan_sized(text, len, row, into);

    if (code == CP_OK && tokens->count) {
        widen(into->start + at, tokens->start, tokens->count);
        widen(into->end + at, tokens->end, tokens->count);
        memcpy(into->hash + at, tokens->hash, tokens->count * sizeof *tokens->hash);
    }
    return code;
}

static PyObject *tokens(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "code", NULL};
    PyObject *texts;
    texts_input in;
    output out[4] = {0}; /* offsets, starts, ends, hashes */
    scan_context into = {.n = 1};
    bool good;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|p:tokens", names, &texts, &into.code))
        return NULL;
    good = texts_open(&in, texts) && size_results(&out[0], module, &in, &into);
    if (good) {
        Py_ssize_t count = (Py_ssize_t)into.offsets[in.texts.rows];

        good = output_open(&out[1], module, count, "int64") &&
               output_open(&out[2], module, count, "int64") &&
               output_open(&out[3], module, count, "uint64");
    }
    if (good) {
        into.start = out[1].view.buf;
        into.end = out[2].view.buf;
        into.hash = out[3].view.buf;
        good = run(&in, scan_text, &into);
    }
    texts_close(&in);
    cp_tokens_free(&into.tokens);
    return outputs_close(out, 4, good);
}

static int roll_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    scan_context *into = context;
    int code = scan_sized(text, len, row, into);

    if (code == CP_OK && into->tokens.count)
        cp_ngrams_roll(into->tokens.hash, into->tokens.count, into->n,
                       into->hash + into->offsets[row]);
    return code;
}

static PyObject *ngrams(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "code", NULL};
    PyObject *texts;
    Py_ssize_t n;
    texts_input in;
    output out[2] = {0}; /* offsets, hashes */
    scan_context into = {0};
    bool good;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "On|p:ngrams", names, &texts, &n,
                                     &into.code) ||
        !check_n(n))
        return NULL;
    into.n = (size_t)n;
    good = texts_open(&in, texts) && size_results(&out[0], module, &in, &into) &&
           output_open(&out[1], module, (Py_ssize_t)into.offsets[in.texts.rows], "uint64");
    if (good) {
        into.hash = out[1].view.buf;
        good = run(&in, roll_text, &into);
    }
    texts_close(&in);
    cp_tokens_free(&into.tokens);
    return outputs_close(out, 2, good);
}

/* ---- lines, paragraphs, sentences ---- */

typedef struct {
    cp_spans spans;
    cp_unit unit;
    int64_t *offsets;
} segments_context;

static int segment_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    segments_context *into = context;
    int code = cp_segments(text, len, into->unit, &into->spans);

    into->offsets[row + 1] = (int64_t)into->spans.count;
    return code;
}

static bool take_unit(const char *name, cp_unit *unit)
{
    static const char *const names[] = {
        [CP_LINE] = "line", [CP_PARAGRAPH] = "paragraph", [CP_SENTENCE] = "sentence"};

    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) {
            *unit = (cp_unit)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "a unit is line, paragraph or sentence, got \"%.40s\"", name);
    return false;
}

static PyObject *segments(PyObject *module, PyObject *args)
{
    PyObject *texts;
    const char *name;
    texts_input in = {0};
    output out[3] = {0}; /* offsets, starts, ends */
    segments_context into = {0};
    Py_ssize_t count;
    bool good;

    if (!PyArg_ParseTuple(args, "Os:segments", &texts, &name) || !take_unit(name, &into.unit))
        return NULL;
    good = texts_open(&in, texts) && output_offsets(&out[0], module, &in, &into.offsets) &&
           run(&in, segment_text, &into);
    texts_close(&in);
    count = (Py_ssize_t)into.spans.count;
    good = good && output_open(&out[1], module, count, "int64") &&
           output_open(&out[2], module, count, "int64");
    if (good && count) {
        Py_BEGIN_ALLOW_THREADS
        widen(out[1].view.buf, into.spans.start, into.spans.count);
        widen(out[2].view.buf, into.spans.end, into.spans.count);
        Py_END_ALLOW_THREADS
    }
    cp_spans_free(&into.spans);
    return outputs_close(out, 3, good);
}

/* ---- measures ---- */

typedef struct {
    cp_measures_scratch *scratch;
    cp_measure_set wanted;
    const int *number; /* of each name asked for */
    Py_ssize_t names, rows;
    double *values; /* a row of `rows` for each name */
} measures_context;

static int measure_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    measures_context *into = context;
    double all[CP_MEASURE_COUNT];
    int code = cp_measures_take(text, len, into->wanted, into->scratch, all);

    if (code == CP_OK)
        for (Py_ssize_t i = 0; i < into->names; i++)
            into->values[(size_t)i * (size_t)into->rows + row] = all[into->number[i]];
    return code;
}

/* The measure of this name, or -1 with KeyError. */
static int measure_number(PyObject *name)
{
    if (PyUnicode_Check(name))
        for (int i = 0; i < CP_MEASURE_COUNT; i++)
            if (PyUnicode_CompareWithASCIIString(name, cp_measure_names[i]) == 0)
                return i;
    PyErr_SetObject(PyExc_KeyError, name);
    return -1;
}

static PyObject *measures(PyObject *module, PyObject *args)
{
    PyObject *texts, *names;
    texts_input in = {0};
    output out = {0};
    measures_context into = {0};
    int *number = NULL;
    bool good = false;

    if (!PyArg_ParseTuple(args, "OO!:measures", &texts, &PyTuple_Type, &names))
        return NULL;
    into.names = PyTuple_Size(names);
    if (!(number = malloc(((size_t)into.names + 1) * sizeof *number)) ||
        !(into.scratch = cp_measures_open())) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < into.names; i++) {
        if ((number[i] = measure_number(PyTuple_GetItem(names, i))) < 0)
            goto done;
        into.wanted |= CP_MEASURE_BIT(number[i]);
    }
    into.number = number;
    if (!texts_open(&in, texts) || !output_open_2d(&out, module, into.names, rows_of(&in), "float64"))
        goto done;
    into.rows = rows_of(&in);
    into.values = out.view.buf;
    good = run(&in, measure_text, &into);

done:
    texts_close(&in);
    cp_measures_close(into.scratch);
    free(number);
    return output_close(&out, good);
}

/* ---- the n-gram index ---- */

static bool index_fill(PyObject *module, const Py_buffer *hashes, const Py_buffer *values,
                       uint32_t n, bool code_tokens, output *out)
{
    uint64_t count = (uint64_t)hashes->len / sizeof(uint64_t);
    size_t size = cp_index_size(count, values->obj);
    int code;

    if (values->obj && (uint64_t)values->len / sizeof(uint32_t) != count) {
        PyErr_Format(PyExc_ValueError, "%zd values for %zd hashes",
                     values->len / (Py_ssize_t)sizeof(uint32_t), (Py_ssize_t)count);
        return false;
    }
    if (size == 0 || size > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_ValueError, "an index has at most 4,294,967,295 n-grams");
        return false;
    }
    if (!output_open(out, module, (Py_ssize_t)size, "uint8"))
        return false;
    Py_BEGIN_ALLOW_THREADS
    code = cp_index_write(out->view.buf, hashes->buf, values->obj ? values->buf : NULL, count, n,
                          code_tokens);
    Py_END_ALLOW_THREADS
    if (code != CP_OK)
        PyErr_SetString(PyExc_ValueError, "hashes are not in strictly ascending order");
    return code == CP_OK;
}

static PyObject *index_build(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", "code", NULL};
    PyObject *hashes_object, *values_object;
    Py_buffer hashes = {0}, values = {0};
    output out = {0};
    Py_ssize_t n;
    int code_tokens = 0;
    bool good;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOn|p:index_build", names, &hashes_object,
                                     &values_object, &n, &code_tokens))
        return NULL;
    if (n < 1 || (uint64_t)n > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "n is 1 to 4,294,967,295 tokens, got %zd", n);
        return NULL;
    }
    good = numbers_open(&hashes, hashes_object, "hashes", "uint64", 1) &&
           (values_object == Py_None ||
            numbers_open(&values, values_object, "values", "uint32", 1)) &&
           index_fill(module, &hashes, &values, (uint32_t)n, code_tokens, &out);
    if (hashes.obj)
        PyBuffer_Release(&hashes);
    if (values.obj)
        PyBuffer_Release(&values);
    return output_close(&out, good);
}

static void raise_index(int code, const cp_index *index, Py_ssize_t size)
{
    if (code == CP_INDEX_NOT_ONE)
        PyErr_SetString(PyExc_ValueError, "not an n-gram index");
    else if (code == CP_INDEX_OTHER_FORMAT)
        PyErr_Format(PyExc_ValueError, "an n-gram index of format %u, not %d",
                     (unsigned)index->format, CP_INDEX_FORMAT);
    else if (code == CP_INDEX_OTHER_TOKENS)
        PyErr_Format(PyExc_ValueError,
                     "an n-gram index of token table %u and Unicode %s, not %d and %s",
                     (unsigned)index->token_table, index->unicode, CP_TOKEN_TABLE_VERSION,
                     CP_UNICODE_VERSION);
    else if (code == CP_INDEX_SIZE)
        PyErr_Format(PyExc_ValueError, "an n-gram index of %llu bytes, of which there are %zd",
                     (unsigned long long)index->size, size);
    else
        PyErr_SetString(PyExc_ValueError, "a damaged n-gram index");
}

/* False with an exception set and nothing to release. */
static bool index_view(PyObject *object, Py_buffer *view, cp_index *index)
{
    int code;

    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
        return false;
    if ((code = cp_index_open(view->buf, (size_t)view->len, index)) == CP_OK)
        return true;
    raise_index(code, index, view->len);
    PyBuffer_Release(view);
    return false;
}

static PyObject *index_header(PyObject *module, PyObject *object)
{
    Py_buffer view;
    cp_index index;
    PyObject *result;
    (void)module;

    if (!index_view(object, &view, &index))
        return NULL;
    result = Py_BuildValue("nnnnO", (Py_ssize_t)index.n, (Py_ssize_t)index.count,
                           (Py_ssize_t)(index.hashes - (const uint8_t *)view.buf),
                           index.values ? index.values - (const uint8_t *)view.buf : -1,
                           index.code ? Py_True : Py_False);
    PyBuffer_Release(&view);
    return result;
}

/* One of the indexes that are asked together, and what is found of it. */
typedef struct {
    Py_buffer view;
    cp_index index;
    cp_hits hits;   /* of all texts */
    output out[5];  /* offsets, positions, starts, ends, ordinals */
    int64_t *offsets;
} asked;

typedef struct {
    asked *each;
    Py_ssize_t count, opened; /* how many there are; how many views are held */
    cp_tokens tokens;         /* of one text, reused */
    uint64_t *gram;           /* likewise */
    size_t room;
} query_context;

static int query_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    query_context *into = context;
    int code = scan_one(text, len, into->each->index.code, &into->tokens);

    if (into->count > 1 && into->room < into->tokens.capacity) {
        free(into->gram);
        into->room = into->tokens.capacity;
        if (!(into->gram = malloc(into->room * sizeof *into->gram)))
            return CP_NO_MEMORY;
    }
    for (Py_ssize_t i = 0; i < into->count && code == CP_OK; i++) {
        asked *one = &into->each[i];

        /* Behind the last one, nobody needs the tokens' hashes. */
        code = cp_index_query(&one->index, &into->tokens,
                              i + 1 < into->count ? into->gram : into->tokens.hash, &one->hits);
        one->offsets[row + 1] = (int64_t)one->hits.count;
    }
    return code;
}

static bool open_all(query_context *of, PyObject *indexes)
{
    of->count = PyTuple_Size(indexes);
    if (!(of->each = calloc((size_t)of->count + 1, sizeof *of->each))) {
        PyErr_NoMemory();
        return false;
    }
    for (; of->opened < of->count; of->opened++) {
        asked *one = &of->each[of->opened];

        if (!index_view(PyTuple_GetItem(indexes, of->opened), &one->view, &one->index))
            return false;
    }
    for (Py_ssize_t i = 1; i < of->count; i++)
        if (of->each[i].index.code != of->each->index.code) {
            PyErr_SetString(PyExc_ValueError,
                            "indexes of code tokens and of others cannot be asked together");
            return false;
        }
    return true;
}

static bool open_offsets(query_context *of, PyObject *module, const texts_input *in)
{
    for (Py_ssize_t i = 0; i < of->count; i++)
        if (!output_offsets(&of->each[i].out[0], module, in, &of->each[i].offsets))
            return false;
    return true;
}

static bool write_hits(asked *of, PyObject *module)
{
    for (int i = 1; i < 5; i++)
        if (!output_open(&of->out[i], module, (Py_ssize_t)of->hits.count,
                         i < 4 ? "int64" : "uint32"))
            return false;
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0; i < of->hits.count; i++) {
        const cp_hit *hit = &of->hits.hit[i];

        ((int64_t *)of->out[1].view.buf)[i] = hit->position;
        ((int64_t *)of->out[2].view.buf)[i] = hit->start;
        ((int64_t *)of->out[3].view.buf)[i] = hit->end;
        ((uint32_t *)of->out[4].view.buf)[i] = hit->ordinal;
    }
    Py_END_ALLOW_THREADS
    return true;
}

static PyObject *index_query(PyObject *module, PyObject *args)
{
    PyObject *indexes, *texts, *result = NULL;
    texts_input in = {0};
    query_context of = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "O!O:index_query", &PyTuple_Type, &indexes, &texts))
        return NULL;
    good = open_all(&of, indexes) && texts_open(&in, texts) && open_offsets(&of, module, &in) &&
           (of.count == 0 || run(&in, query_text, &of));
    texts_close(&in);
    cp_tokens_free(&of.tokens);
    free(of.gram);
    good = good && (result = PyTuple_New(of.count));
    for (Py_ssize_t i = 0; i < of.opened; i++) {
        asked *one = &of.each[i];
        PyObject *columns;

        good = good && write_hits(one, module);
        columns = outputs_close(one->out, 5, good);
        good = columns && PyTuple_SetItem(result, i, columns) == 0;
        PyBuffer_Release(&one->view);
        cp_hits_free(&one->hits);
    }
    free(of.each);
    if (good)
        return result;
    Py_XDECREF(result);
    return NULL;
}

/* ---- the module ---- */

/* Python's table has one type for all functions; by way of one that compilers cast silently. */
#define with_keywords(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"token_counts", token_counts, METH_O,
     "token_counts(texts, /)\n--\n\nThe number of tokens of each text: int64[n]."},
    {"tokens", with_keywords(tokens), METH_VARARGS | METH_KEYWORDS,
     "tokens(texts, /, code=False)\n--\n\n"
     "(offsets int64[n + 1], starts int64[t], ends int64[t], hashes uint64[t]): text i has the\n"
     "tokens offsets[i] to offsets[i + 1]; starts and ends are byte offsets in that text."},
    {"ngrams", with_keywords(ngrams), METH_VARARGS | METH_KEYWORDS,
     "ngrams(texts, n, /, code=False)\n--\n\n"
     "(offsets int64[n + 1], hashes uint64[g]): the n-gram hashes of each text, in order."},
    {"measures", measures, METH_VARARGS,
     "measures(texts, names, /)\n--\n\nSurface measures by name: float64[len(names), n]."},
    {"segments", segments, METH_VARARGS,
     "segments(texts, unit, /)\n--\n\n"
     "(offsets int64[n + 1], starts int64[s], ends int64[s]): text i has the units offsets[i] to\n"
     "offsets[i + 1]; starts and ends are byte offsets in that text."},
    {"replaced", replaced, METH_O,
     "replaced(texts, /)\n--\n\nThe number of ill-formed UTF-8 sequences of each text: int64[n]."},
    {"plain_texts", plain_texts, METH_O,
     "plain_texts(texts, /)\n--\n\n"
     "(offsets int64[n + 1], bytes uint8[b]): the texts as they are shown, each byte in its place."},
    {"email_spans", email_spans, METH_O,
     "email_spans(texts, /)\n--\n\n"
     "(offsets int64[n + 1], starts int64[e], ends int64[e]): text i has the addresses offsets[i]\n"
     "to offsets[i + 1]; starts and ends are byte offsets in that text."},
    {"minhash", minhash, METH_VARARGS,
     "minhash(texts, n, a, b, /)\n--\n\n"
     "The MinHash signature of each text's n-grams: uint32[n, len(a)]."},
    {"band_keys", band_keys, METH_VARARGS,
     "band_keys(signatures, bands, rows, /)\n--\n\n"
     "The keys of each signature's bands: uint64[n, bands]."},
    {"sketches", sketches, METH_VARARGS,
     "sketches(texts, n, a, b, /)\n--\n\n"
     "(signatures uint32[n, len(a)], digests uint64[n, 2], tokens int64[n]) of each text."},
    {"ngram_sets", ngram_sets, METH_VARARGS,
     "ngram_sets(texts, n, /)\n--\n\n"
     "(offsets int64[n + 1], hashes uint64[s]): the set of each text's n-grams, ascending."},
    {"jaccard", jaccard, METH_VARARGS,
     "jaccard(offsets, hashes, left, right, /)\n--\n\n"
     "The Jaccard similarity of pairs of sets: float64[p]."},
    {"agreement", agreement, METH_VARARGS,
     "agreement(signatures, left, right, /)\n--\n\n"
     "The share of values in which pairs of signatures agree: float64[p]."},
    {"ccnet_lines", ccnet_lines, METH_O,
     "ccnet_lines(texts, /)\n--\n\n"
     "(offsets int64[n + 1], bytes uint8[b]): each text as one line, as CCNet prepares it."},
    {"model_parts", with_keywords(model_parts), METH_VARARGS | METH_KEYWORDS,
     "model_parts(texts, /, characters, stretch=0, *, spaced=False, lowered=False)\n--\n\n"
     "(offsets int64[n + 1], bytes uint8[b]): the part of each text that a fastText model is given,\n"
     "with a line feed behind it; nothing where it has no letter. 0 characters are all."},
    {"prepared", prepared, METH_VARARGS,
     "prepared(texts, profile, vocabulary, /)\n--\n\n"
     "(sentences int64[n + 1], tokens int64[n], known int64[n], starts int64[f], stops int64[f],\n"
     "unseen int64[u], offsets int64[n + 1], bytes uint8[b]): text i has the lines of bytes from\n"
     "sentences[i] to sentences[i + 1], and tokens[i] tokens, of which known[i] are known. Words that the vocabulary lacks stand in bytes[starts:stops]; text i has the words\n"
     "unseen[offsets[i]:offsets[i + 1]] of these."},
    {"vocabulary_with", vocabulary_with, METH_VARARGS,
     "vocabulary_with(vocabulary, bytes, starts, stops, known, /)\n--\n\n"
     "The vocabulary and the words bytes[starts:stops], each known (uint8[f] is not 0) or not:\n"
     "uint64[v]. 17 zeros are one of no words. It means nothing outside of this process."},
    {"index_build", with_keywords(index_build), METH_VARARGS | METH_KEYWORDS,
     "index_build(hashes, values, n, /, code=False)\n--\n\nThe bytes of an n-gram index: uint8[size]."},
    {"index_header", index_header, METH_O,
     "index_header(index, /)\n--\n\n"
     "(n, count, byte offset of the hashes, byte offset of the values or -1, code tokens?)."},
    {"index_query", index_query, METH_VARARGS,
     "index_query(indexes, texts, /)\n--\n\n"
     "For each index (offsets int64[n + 1], positions int64[h], starts int64[h], ends int64[h],\n"
     "ordinals uint32[h]): the n-grams of each text that are in the index, in order."},
    {"passages", with_keywords(passages), METH_VARARGS | METH_KEYWORDS,
     "passages(texts, documents, parts, seed_offsets, seeds, n, part_offsets, part_tokens,\n"
     "         part_weights, gram_offsets, grams, gram_positions, need, span, /, code=False)\n--\n\n"
     "(candidates int64[p], firsts int64[p], lasts int64[p], starts int64[p], ends int64[p],\n"
     "covered uint64[p]): where the parts stand in the texts."},
    {NULL, NULL, 0, NULL},
};

/* A new tuple of strings, by their number; NULL where there are no more. */
static PyObject *names_tuple(const char *(*name)(size_t))
{
    Py_ssize_t count = 0;
    PyObject *names;

    while (name((size_t)count))
        count++;
    names = PyTuple_New(count);
    for (Py_ssize_t i = 0; names && i < count; i++) {
        PyObject *string = PyUnicode_FromString(name((size_t)i));

        if (!string || PyTuple_SetItem(names, i, string) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static const char *isa_name(size_t number)
{
    const cp_isa *isa = cp_isa_usable(number);

    return isa ? isa->name : NULL;
}

static const char *measure_name(size_t number)
{
    return number < CP_MEASURE_COUNT ? cp_measure_names[number] : NULL;
}

/* Chooses the instruction set, by CLEANPIPE_ISA where that is set and not empty. */
static int add_isa(PyObject *module)
{
    const char *wanted = getenv("CLEANPIPE_ISA");
    PyObject *names = names_tuple(isa_name), *value;
    int result = -1;

    if (!names)
        return -1;
    if (cp_isa_choose(wanted && *wanted ? wanted : NULL)) {
        if (PyModule_AddObjectRef(module, "ISAS", names) == 0)
            result = PyModule_AddStringConstant(module, "ISA", cp_isa_used->name);
    } else if ((value = PyUnicode_DecodeFSDefault(wanted))) {
        PyErr_Format(PyExc_ImportError,
                     "CLEANPIPE_ISA is %R: this machine has no such instruction set, or cleanpipe "
                     "no such kernels; there are %R",
                     value, names);
        Py_DECREF(value);
    }
    Py_DECREF(names);
    return result;
}

static int add_measures(PyObject *module)
{
    PyObject *names = names_tuple(measure_name);
    int result = names ? PyModule_AddObjectRef(module, "MEASURES", names) : -1;

    Py_XDECREF(names);
    return result < 0 ? result
                      : PyModule_AddIntConstant(module, "MEASURES_VERSION", CP_MEASURES_VERSION);
}

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (!numpy)
        return -1;
    state->numpy_empty = PyObject_GetAttrString(numpy, "empty");
    Py_DECREF(numpy);
    if (!state->numpy_empty || add_isa(module) < 0 || add_measures(module) < 0 ||
        PyModule_AddStringConstant(module, "UNICODE_VERSION", CP_UNICODE_VERSION) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "TOKEN_TABLE_VERSION", CP_TOKEN_TABLE_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    Py_VISIT(((module_state *)PyModule_GetState(module))->numpy_empty);
    return 0;
}

static int module_clear(PyObject *module)
{
    Py_CLEAR(((module_state *)PyModule_GetState(module))->numpy_empty);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cleanpipe._native",
    .m_doc = "The native kernels over Arrow strings.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
