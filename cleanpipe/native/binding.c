/* cleanpipe._native: the kernels for Python. The only file that knows Python; _native.pyi says
 * what each function takes, gives and raises. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_abi.h"
#include "measures.h"
#include "lines.h"
#include "markup.h"
#include "ngrams.h"
#include "segments.h"
#include "tokens.h"
#include "unicode_tables.h"
#include "utf8.h"

typedef struct {
    PyObject *numpy_empty;
    uint64_t salt[2]; /* of this process, for hashes that decide nothing */
} module_state;

/* ---- input: anything that exports Arrow strings ---- */

typedef struct {
    PyObject *owner;           /* the capsules; they release what they hold */
    struct ArrowArray *chunks; /* `count` of them */
    size_t count;
    bool chunks_are_ours; /* from a stream: ours to release; else a copy of the capsule's */
    char format;          /* 'u' or 'U', or 'n' for a column of nulls without a type */
    Py_ssize_t rows;
} texts_input;

static void texts_close(texts_input *in)
{
    if (in->chunks_are_ours)
        for (size_t i = 0; i < in->count; i++)
            if (in->chunks[i].release)
                in->chunks[i].release(&in->chunks[i]);
    free(in->chunks);
    Py_XDECREF(in->owner);
    *in = (texts_input){0};
}

/* "module.Class" of an object, a new reference. */
static PyObject *type_name(PyObject *object)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    PyObject *name = PyObject_GetAttrString(type, "__qualname__");
    PyObject *full = NULL;

    if (module && name) {
        if (PyUnicode_CompareWithASCIIString(module, "builtins") == 0)
            full = Py_NewRef(name);
        else
            full = PyUnicode_FromFormat("%U.%U", module, name);
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return full;
}

static void raise_no_arrow(PyObject *object)
{
    PyObject *name = type_name(object);

    if (name)
        PyErr_Format(PyExc_TypeError,
                     "expected an Arrow array of strings (pyarrow.Array, pyarrow.ChunkedArray or "
                     "anything with __arrow_c_array__ or __arrow_c_stream__), got %U",
                     name);
    Py_XDECREF(name);
}

static bool take_format(texts_input *in, const struct ArrowSchema *schema, PyObject *object)
{
    PyObject *name;

    if (!schema->dictionary && schema->format && schema->format[0] && !schema->format[1] &&
        strchr("uUn", schema->format[0])) {
        in->format = schema->format[0];
        return true;
    }
    if ((name = type_name(object)))
        PyErr_Format(PyExc_TypeError,
                     "expected Arrow strings (string or large_string, format 'u' or 'U'), got "
                     "%U of %sArrow format '%.40s'",
                     name, schema->dictionary ? "dictionary-encoded " : "",
                     schema->format ? schema->format : "");
    Py_XDECREF(name);
    return false;
}

/* Appends a copy of the struct; the array stays the caller's on failure. */
static bool add_chunk(texts_input *in, const struct ArrowArray *array)
{
    struct ArrowArray *grown;

    if (array->length < 0 || array->offset < 0 ||
        (in->format != 'n' && array->length > 0 &&
         (array->n_buffers != 3 || !array->buffers || !array->buffers[1]))) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array is not a valid array of strings");
        return false;
    }
    if (array->length > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(int64_t) - 1 - in->rows ||
        !(grown = realloc(in->chunks, (in->count + 1) * sizeof *grown))) {
        PyErr_NoMemory();
        return false;
    }
    in->chunks = grown;
    in->chunks[in->count++] = *array;
    in->rows += (Py_ssize_t)array->length;
    return true;
}

static bool open_array(texts_input *in, PyObject *capsules, PyObject *object)
{
    struct ArrowSchema *schema;
    struct ArrowArray *array;

    if (!PyTuple_Check(capsules) || PyTuple_Size(capsules) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ did not return two capsules");
        return false;
    }
    schema = PyCapsule_GetPointer(PyTuple_GetItem(capsules, 0), "arrow_schema");
    array = schema ? PyCapsule_GetPointer(PyTuple_GetItem(capsules, 1), "arrow_array") : NULL;
    return array && take_format(in, schema, object) && add_chunk(in, array);
}

static bool raise_stream(struct ArrowArrayStream *stream, int code)
{
    const char *message = stream->get_last_error(stream);

    if (code == ENOMEM)
        PyErr_NoMemory();
    else
        PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %.500s",
                     message ? message : strerror(code));
    return false;
}

static bool open_stream(texts_input *in, PyObject *capsule, PyObject *object)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema;
    bool known;
    int code;

    if (!stream)
        return false;
    if ((code = stream->get_schema(stream, &schema)))
        return raise_stream(stream, code);
    known = take_format(in, &schema, object);
    schema.release(&schema);
    if (!known)
        return false;
    in->chunks_are_ours = true;
    for (;;) {
        struct ArrowArray array;

        if ((code = stream->get_next(stream, &array)))
            return raise_stream(stream, code);
        if (!array.release)
            return true;
        if (!add_chunk(in, &array)) {
            array.release(&array);
            return false;
        }
    }
}

/* Calls object.name(); NULL without an exception when there is no such attribute. */
static PyObject *export_by(PyObject *object, const char *name)
{
    PyObject *method = PyObject_GetAttrString(object, name);
    PyObject *exported;

    if (!method) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        return NULL;
    }
    exported = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return exported;
}

/* False with an exception set; texts_close is due in either case. */
static bool texts_open(texts_input *in, PyObject *object)
{
    *in = (texts_input){0};
    if ((in->owner = export_by(object, "__arrow_c_array__")))
        return open_array(in, in->owner, object);
    if (!PyErr_Occurred() && (in->owner = export_by(object, "__arrow_c_stream__")))
        return open_stream(in, in->owner, object);
    if (!PyErr_Occurred())
        raise_no_arrow(object);
    return false;
}

/* ---- the loop over texts, without the GIL ---- */

enum { BAD_OFFSETS = -100 }; /* beside the kernels' own codes */

/* Handles one text; `row` counts through all chunks. A null comes as an empty text. */
typedef int (*text_kernel)(const uint8_t *text, size_t len, size_t row, void *context);

static bool is_valid(const uint8_t *bitmap, int64_t at)
{
    return !bitmap || (bitmap[at >> 3] >> (at & 7) & 1);
}

/* Runs the kernel over all texts; stops at the first code that is not CP_OK, with *row there. */
static int each_text(const texts_input *in, text_kernel kernel, void *context, size_t *row)
{
    *row = 0;
    for (size_t c = 0; c < in->count; c++) {
        const struct ArrowArray *array = &in->chunks[c];
        const void *const *buffers = in->format == 'n' || !array->length ? NULL : array->buffers;

        for (int64_t i = 0; i < array->length; i++, ++*row) {
            int64_t at = array->offset + i, start = 0, end = 0;
            const uint8_t *data = NULL;
            int code;

            if (buffers && is_valid(buffers[0], at)) {
                if (in->format == 'U') {
                    start = ((const int64_t *)buffers[1])[at];
                    end = ((const int64_t *)buffers[1])[at + 1];
                } else {
                    start = ((const int32_t *)buffers[1])[at];
                    end = ((const int32_t *)buffers[1])[at + 1];
                }
                data = buffers[2];
                if (start < 0 || end < start || (!data && end > start))
                    return BAD_OFFSETS;
                data = data ? data + start : NULL;
            }
            if ((code = kernel(data, (size_t)(end - start), *row, context)) != CP_OK)
                return code;
        }
    }
    return CP_OK;
}

static void raise_code(int code, size_t row)
{
    if (code == CP_TOO_LONG)
        PyErr_Format(PyExc_MemoryError, "text %zu is longer than 4,294,967,295 bytes", row);
    else if (code == BAD_OFFSETS)
        PyErr_Format(PyExc_ValueError, "text %zu has impossible offsets in the Arrow array", row);
    else
        PyErr_NoMemory();
}

static bool run(const texts_input *in, text_kernel kernel, void *context)
{
    size_t row;
    int code;

    Py_BEGIN_ALLOW_THREADS
    code = each_text(in, kernel, context, &row);
    Py_END_ALLOW_THREADS
    if (code != CP_OK)
        raise_code(code, row);
    return code == CP_OK;
}

/* ---- output: new NumPy arrays ---- */

typedef struct {
    PyObject *array;
    Py_buffer view;
} output;

/* Of shape (length,). */
static bool output_open(output *out, PyObject *module, Py_ssize_t length, const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    out->array = PyObject_CallFunction(state->numpy_empty, "ns", length, dtype);
    if (out->array && PyObject_GetBuffer(out->array, &out->view, PyBUF_CONTIG) < 0)
        Py_CLEAR(out->array);
    return out->array;
}

/* Of shape (rows, columns), one row after the other. */
static bool output_open_2d(output *out, PyObject *module, Py_ssize_t rows, Py_ssize_t columns,
                           const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    out->array = PyObject_CallFunction(state->numpy_empty, "(nn)s", rows, columns, dtype);
    if (out->array && PyObject_GetBuffer(out->array, &out->view, PyBUF_CONTIG) < 0)
        Py_CLEAR(out->array);
    return out->array;
}

/* The array, or NULL when `keep` is false or there is none. */
static PyObject *output_close(output *out, bool keep)
{
    if (out->array)
        PyBuffer_Release(&out->view);
    if (!keep)
        Py_CLEAR(out->array);
    return out->array;
}

/* ---- the functions ---- */

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
static PyObject *per_text(PyObject *module, PyObject *texts, text_kernel kernel)
{
    texts_input in;
    output out = {0};
    bool good = texts_open(&in, texts) && output_open(&out, module, in.rows, "int64") &&
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

typedef struct {
    cp_tokens tokens;
    int64_t *offsets;
} tokens_context;

static int scan_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    tokens_context *into = context;
    uint64_t ill_formed = 0;
    int code = cp_tokens_scan(text, len, &into->tokens, &ill_formed);

    into->offsets[row + 1] = (int64_t)into->tokens.count;
    return code;
}

static void widen(int64_t *restrict to, const uint32_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

static PyObject *tokens(PyObject *module, PyObject *texts)
{
    texts_input in;
    output offsets = {0}, starts = {0}, ends = {0}, hashes = {0};
    tokens_context into = {0};
    Py_ssize_t count = 0;
    PyObject *result = NULL;
    bool good;

    good = texts_open(&in, texts) && output_open(&offsets, module, in.rows + 1, "int64");
    if (good) {
        into.offsets = offsets.view.buf;
        into.offsets[0] = 0;
        good = run(&in, scan_text, &into);
        count = (Py_ssize_t)into.tokens.count;
    }
    texts_close(&in);
    good = good && output_open(&starts, module, count, "int64") &&
           output_open(&ends, module, count, "int64") &&
           output_open(&hashes, module, count, "uint64");
    if (good && count) {
        Py_BEGIN_ALLOW_THREADS
        widen(starts.view.buf, into.tokens.start, into.tokens.count);
        widen(ends.view.buf, into.tokens.end, into.tokens.count);
        memcpy(hashes.view.buf, into.tokens.hash, into.tokens.count * sizeof(uint64_t));
        Py_END_ALLOW_THREADS
    }
    cp_tokens_free(&into.tokens);
    output_close(&offsets, good);
    output_close(&starts, good);
    output_close(&ends, good);
    output_close(&hashes, good);
    if (good)
        result = PyTuple_Pack(4, offsets.array, starts.array, ends.array, hashes.array);
    Py_XDECREF(offsets.array);
    Py_XDECREF(starts.array);
    Py_XDECREF(ends.array);
    Py_XDECREF(hashes.array);
    return result;
}

/* ---- n-grams ---- */

typedef struct {
    cp_tokens tokens; /* of one text, reused */
    size_t n;
    int64_t *offsets;
    uint64_t *hash; /* all texts' grams */
    size_t capacity;
} ngrams_context;

static int roll_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    ngrams_context *into = context;
    size_t used = (size_t)into->offsets[row], more;
    uint64_t ill_formed = 0;
    int code;

    into->tokens.count = 0;
    if ((code = cp_tokens_scan(text, len, &into->tokens, &ill_formed)) != CP_OK)
        return code;
    more = cp_ngrams_count(into->tokens.count, into->n);
    if (more > into->capacity - used) {
        size_t capacity = used + more > into->capacity * 2 ? used + more : into->capacity * 2;
        uint64_t *grown = realloc(into->hash, capacity * sizeof *grown);

        if (!grown)
            return CP_NO_MEMORY;
        into->hash = grown;
        into->capacity = capacity;
    }
    if (more)
        cp_ngrams_roll(into->tokens.hash, into->tokens.count, into->n, into->hash + used);
    into->offsets[row + 1] = (int64_t)(used + more);
    return CP_OK;
}

static PyObject *ngrams(PyObject *module, PyObject *args)
{
    PyObject *texts, *result = NULL;
    Py_ssize_t n;
    texts_input in = {0};
    output offsets = {0}, hashes = {0};
    ngrams_context into = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "On:ngrams", &texts, &n))
        return NULL;
    if (n < 1) {
        PyErr_Format(PyExc_ValueError, "an n-gram has at least 1 token, got n = %zd", n);
        return NULL;
    }
    into.n = (size_t)n;
    good = texts_open(&in, texts) && output_open(&offsets, module, in.rows + 1, "int64");
    if (good) {
        into.offsets = offsets.view.buf;
        into.offsets[0] = 0;
        good = run(&in, roll_text, &into) &&
               output_open(&hashes, module, (Py_ssize_t)into.offsets[in.rows], "uint64");
    }
    if (good && into.offsets[in.rows]) {
        Py_BEGIN_ALLOW_THREADS
        memcpy(hashes.view.buf, into.hash, (size_t)into.offsets[in.rows] * sizeof *into.hash);
        Py_END_ALLOW_THREADS
    }
    texts_close(&in);
    cp_tokens_free(&into.tokens);
    free(into.hash);
    output_close(&offsets, good);
    output_close(&hashes, good);
    if (good)
        result = PyTuple_Pack(2, offsets.array, hashes.array);
    Py_XDECREF(offsets.array);
    Py_XDECREF(hashes.array);
    return result;
}

/* ---- measures ---- */

typedef struct {
    cp_measures_scratch *scratch;
    uint64_t wanted;
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

static bool add_measure_names(PyObject *module)
{
    PyObject *names = PyTuple_New(CP_MEASURE_COUNT);
    bool good = names;

    for (int i = 0; good && i < CP_MEASURE_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(cp_measure_names[i]);

        good = name && PyTuple_SetItem(names, i, name) == 0;
    }
    good = good && PyModule_AddObjectRef(module, "MEASURES", names) == 0;
    Py_XDECREF(names);
    return good;
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
        into.wanted |= UINT64_C(1) << number[i];
    }
    into.number = number;
    if (!texts_open(&in, texts) || !output_open_2d(&out, module, into.names, in.rows, "float64"))
        goto done;
    into.rows = in.rows;
    into.values = out.view.buf;
    good = run(&in, measure_text, &into);

done:
    texts_close(&in);
    cp_measures_close(into.scratch);
    free(number);
    return output_close(&out, good);
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
    PyObject *texts, *result = NULL;
    const char *name;
    texts_input in = {0};
    output offsets = {0}, starts = {0}, ends = {0};
    segments_context into = {0};
    Py_ssize_t count = 0;
    bool good;

    if (!PyArg_ParseTuple(args, "Os:segments", &texts, &name) || !take_unit(name, &into.unit))
        return NULL;
    good = texts_open(&in, texts) && output_open(&offsets, module, in.rows + 1, "int64");
    if (good) {
        into.offsets = offsets.view.buf;
        into.offsets[0] = 0;
        good = run(&in, segment_text, &into);
        count = (Py_ssize_t)into.spans.count;
    }
    texts_close(&in);
    good = good && output_open(&starts, module, count, "int64") &&
           output_open(&ends, module, count, "int64");
    if (good && count) {
        Py_BEGIN_ALLOW_THREADS
        widen(starts.view.buf, into.spans.start, into.spans.count);
        widen(ends.view.buf, into.spans.end, into.spans.count);
        Py_END_ALLOW_THREADS
    }
    cp_spans_free(&into.spans);
    output_close(&offsets, good);
    output_close(&starts, good);
    output_close(&ends, good);
    if (good)
        result = PyTuple_Pack(3, offsets.array, starts.array, ends.array);
    Py_XDECREF(offsets.array);
    Py_XDECREF(starts.array);
    Py_XDECREF(ends.array);
    return result;
}

/* ---- temporary, for tests until the measures have one kernel ---- */

typedef struct {
    cp_lines_scratch scratch;
    unsigned wanted;
    uint64_t *out;
} temporary_context;

static int temporary_line_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    temporary_context *into = context;
    cp_line_counts counts;
    int code = cp_lines_count(text, len, into->wanted, &into->scratch, &counts);

    if (code == CP_OK)
        memcpy(into->out + row * (sizeof counts / 8), &counts, sizeof counts);
    return code;
}

static int temporary_markup_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    cp_markup_counts counts;

    cp_markup_count(text, len, &counts);
    memcpy(((temporary_context *)context)->out + row * (sizeof counts / 8), &counts,
           sizeof counts);
    return CP_OK;
}

static int temporary_segments_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    temporary_context *into = context;

    into->out[row] = cp_segments_count(text, len, (cp_unit)into->wanted);
    return CP_OK;
}

static PyObject *temporary_counts(PyObject *module, PyObject *texts, text_kernel kernel,
                                  Py_ssize_t fields, unsigned wanted)
{
    module_state *state = PyModule_GetState(module);
    temporary_context into = {0};
    texts_input in;
    output out = {0};
    bool good;

    memcpy(into.scratch.salt, state->salt, sizeof state->salt);
    into.wanted = wanted;
    good = texts_open(&in, texts) && output_open(&out, module, in.rows * fields, "uint64");
    if (good) {
        into.out = out.view.buf;
        good = run(&in, kernel, &into);
    }
    texts_close(&in);
    cp_lines_free(&into.scratch);
    return output_close(&out, good);
}

static PyObject *temporary_lines(PyObject *module, PyObject *args)
{
    PyObject *texts;
    unsigned wanted = CP_LINES_ALL;

    if (!PyArg_ParseTuple(args, "O|I:_lines", &texts, &wanted))
        return NULL;
    return temporary_counts(module, texts, temporary_line_text, sizeof(cp_line_counts) / 8,
                            wanted);
}

static PyObject *temporary_segment_counts(PyObject *module, PyObject *args)
{
    PyObject *texts;
    const char *name;
    cp_unit unit;

    if (!PyArg_ParseTuple(args, "Os:_segment_counts", &texts, &name) || !take_unit(name, &unit))
        return NULL;
    return temporary_counts(module, texts, temporary_segments_text, 1, unit);
}

static PyObject *temporary_markup(PyObject *module, PyObject *texts)
{
    return temporary_counts(module, texts, temporary_markup_text, sizeof(cp_markup_counts) / 8, 0);
}

#define TEMPORARY_METHODS                                          \
    {"_lines", temporary_lines, METH_VARARGS, NULL},               \
    {"_markup", temporary_markup, METH_O, NULL},                   \
    {"_segment_counts", temporary_segment_counts, METH_VARARGS, NULL},
/* ---- repetition, for tests only: goes when measures takes it over ---- */

#include "repetition.h"

typedef struct {
    cp_tokens tokens;
    cp_repetition_scratch scratch;
    cp_repetition *out;
    unsigned wanted;
} repetition_context;

static int repetition_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    repetition_context *into = context;
    uint64_t ill_formed = 0;
    int code;

    into->tokens.count = 0;
    if ((code = cp_tokens_scan(text, len, &into->tokens, &ill_formed)) != CP_OK)
        return code;
    return cp_repetition_measure(&into->tokens, text, into->wanted, &into->scratch,
                                 &into->out[row]);
}

static PyObject *repetition(PyObject *module, PyObject *args)
{
    PyObject *texts;
    texts_input in;
    output out = {0};
    repetition_context into = {.wanted = CP_REPETITION_ALL};
    bool good;

    if (!PyArg_ParseTuple(args, "O|I:_repetition", &texts, &into.wanted))
        return NULL;
    good = texts_open(&in, texts) &&
           output_open(&out, module, in.rows * (Py_ssize_t)(sizeof(cp_repetition) / 8), "uint64");
    if (good) {
        into.out = out.view.buf;
        good = run(&in, repetition_text, &into);
    }
    cp_tokens_free(&into.tokens);
    cp_repetition_free(&into.scratch);
    texts_close(&in);
    return output_close(&out, good);
}

#define REPETITION_METHOD \
    {"_repetition", repetition, METH_VARARGS, \
     "_repetition(texts, wanted=0x7FD, /)\n--\n\nuint64[n * 35], as cp_repetition."},

/* ---- end of repetition ---- */

/* ---- the module ---- */

static PyMethodDef methods[] = {
    {"token_counts", token_counts, METH_O,
     "token_counts(texts, /)\n--\n\nThe number of tokens of each text: int64[n]."},
    {"tokens", tokens, METH_O,
     "tokens(texts, /)\n--\n\n"
     "(offsets int64[n + 1], starts int64[t], ends int64[t], hashes uint64[t]): text i has the\n"
     "tokens offsets[i] to offsets[i + 1]; starts and ends are byte offsets in that text."},
    {"ngrams", ngrams, METH_VARARGS,
     "ngrams(texts, n, /)\n--\n\n"
     "(offsets int64[n + 1], hashes uint64[g]): the n-gram hashes of each text, in order."},
    {"measures", measures, METH_VARARGS,
     "measures(texts, names, /)\n--\n\nSurface measures by name: float64[len(names), n]."},
    {"segments", segments, METH_VARARGS,
     "segments(texts, unit, /)\n--\n\n"
     "(offsets int64[n + 1], starts int64[s], ends int64[s]): text i has the units offsets[i] to\n"
     "offsets[i + 1]; starts and ends are byte offsets in that text."},
    {"replaced", replaced, METH_O,
     "replaced(texts, /)\n--\n\nThe number of ill-formed UTF-8 sequences of each text: int64[n]."},
    TEMPORARY_METHODS
    REPETITION_METHOD
    {NULL, NULL, 0, NULL},
};

/* The salt is of this process, so that nobody can write texts whose lines collide. */
static bool draw_salt(module_state *state)
{
    PyObject *os = PyImport_ImportModule("os"), *bytes = NULL;

    if (os)
        bytes = PyObject_CallMethod(os, "urandom", "n", (Py_ssize_t)sizeof state->salt);
    Py_XDECREF(os);
    if (bytes && PyBytes_Check(bytes))
        memcpy(state->salt, PyBytes_AsString(bytes), sizeof state->salt);
    Py_XDECREF(bytes);
    return bytes;
}

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (!numpy)
        return -1;
    state->numpy_empty = PyObject_GetAttrString(numpy, "empty");
    Py_DECREF(numpy);
    if (!state->numpy_empty || !draw_salt(state))
        return -1;
    if (PyModule_AddStringConstant(module, "UNICODE_VERSION", CP_UNICODE_VERSION) < 0 ||
        PyModule_AddIntConstant(module, "MEASURES_VERSION", CP_MEASURES_VERSION) < 0 ||
        !add_measure_names(module))
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
