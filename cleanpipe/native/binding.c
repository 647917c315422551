/* cleanpipe._native: the kernels for Python. The only file that knows Python; _native.pyi says
 * what each function takes, gives and raises. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_abi.h"
#include "index.h"
#include "ngrams.h"
#include "tokens.h"
#include "unicode_tables.h"
#include "utf8.h"

typedef struct {
    PyObject *numpy_empty;
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
    else if (code == CP_INDEX_BROKEN)
        PyErr_SetString(PyExc_ValueError, "a damaged n-gram index");
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

static bool output_open(output *out, PyObject *module, Py_ssize_t length, const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    out->array = PyObject_CallFunction(state->numpy_empty, "ns", length, dtype);
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

/* ---- the n-gram index ---- */

/* A C-contiguous buffer of unsigned integers of `size` bytes each. */
static bool numbers_open(Py_buffer *view, PyObject *object, Py_ssize_t size, const char *name)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return false;
    if (view->itemsize == size && view->ndim == 1 && view->format &&
        strlen(view->format) == 1 && strchr("ILQ", view->format[0]))
        return true;
    PyErr_Format(PyExc_TypeError, "%s: expected uint%zd of one dimension, got format '%.40s'", name,
                 size * 8, view->format ? view->format : "B");
    PyBuffer_Release(view);
    return false;
}

static bool index_fill(PyObject *module, const Py_buffer *hashes, const Py_buffer *values,
                       uint32_t n, output *out)
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
    code = cp_index_write(out->view.buf, hashes->buf, values->obj ? values->buf : NULL, count, n);
    Py_END_ALLOW_THREADS
    if (code != CP_OK)
        PyErr_SetString(PyExc_ValueError, "hashes are not in strictly ascending order");
    return code == CP_OK;
}

static PyObject *index_build(PyObject *module, PyObject *args)
{
    PyObject *hashes_object, *values_object;
    Py_buffer hashes = {0}, values = {0};
    output out = {0};
    Py_ssize_t n;
    bool good;

    if (!PyArg_ParseTuple(args, "OOn:index_build", &hashes_object, &values_object, &n))
        return NULL;
    if (n < 1 || (uint64_t)n > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "n is 1 to 4,294,967,295 tokens, got %zd", n);
        return NULL;
    }
    good = numbers_open(&hashes, hashes_object, sizeof(uint64_t), "hashes") &&
           (values_object == Py_None ||
            numbers_open(&values, values_object, sizeof(uint32_t), "values")) &&
           index_fill(module, &hashes, &values, (uint32_t)n, &out);
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
    result = Py_BuildValue("nnnn", (Py_ssize_t)index.n, (Py_ssize_t)index.count,
                           (Py_ssize_t)(index.hashes - (const uint8_t *)view.buf),
                           index.values ? index.values - (const uint8_t *)view.buf : -1);
    PyBuffer_Release(&view);
    return result;
}

typedef struct {
    const cp_index *index;
    cp_tokens tokens; /* of one text, reused */
    cp_hits hits;     /* of all texts */
    int64_t *offsets;
} index_context;

static int query_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    index_context *into = context;
    uint64_t ill_formed = 0;
    int code;

    into->tokens.count = 0;
    if ((code = cp_tokens_scan(text, len, &into->tokens, &ill_formed)) == CP_OK)
        code = cp_index_query(into->index, &into->tokens, &into->hits);
    into->offsets[row + 1] = (int64_t)into->hits.count;
    return code;
}

static PyObject *index_query(PyObject *module, PyObject *args)
{
    static const char *const dtypes[5] = {"int64", "int64", "int64", "int64", "uint32"};
    PyObject *index_object, *texts, *result = NULL;
    texts_input in = {0};
    Py_buffer view;
    cp_index index;
    output out[5] = {0}; /* offsets, positions, starts, ends, ordinals */
    index_context into = {.index = &index};
    bool good;

    if (!PyArg_ParseTuple(args, "OO:index_query", &index_object, &texts) ||
        !index_view(index_object, &view, &index))
        return NULL;
    good = texts_open(&in, texts) && output_open(&out[0], module, in.rows + 1, dtypes[0]);
    if (good) {
        into.offsets = out[0].view.buf;
        into.offsets[0] = 0;
        good = run(&in, query_text, &into);
    }
    texts_close(&in);
    PyBuffer_Release(&view);
    cp_tokens_free(&into.tokens);
    for (int i = 1; i < 5; i++)
        good = good && output_open(&out[i], module, (Py_ssize_t)into.hits.count, dtypes[i]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < into.hits.count; i++) {
            const cp_hit *hit = &into.hits.hit[i];

            ((int64_t *)out[1].view.buf)[i] = hit->position;
            ((int64_t *)out[2].view.buf)[i] = hit->start;
            ((int64_t *)out[3].view.buf)[i] = hit->end;
            ((uint32_t *)out[4].view.buf)[i] = hit->ordinal;
        }
        Py_END_ALLOW_THREADS
    }
    cp_hits_free(&into.hits);
    for (int i = 0; i < 5; i++)
        output_close(&out[i], good);
    if (good)
        result = PyTuple_Pack(5, out[0].array, out[1].array, out[2].array, out[3].array,
                              out[4].array);
    for (int i = 0; i < 5; i++)
        Py_XDECREF(out[i].array);
    return result;
}

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
    {"index_build", index_build, METH_VARARGS,
     "index_build(hashes, values, n, /)\n--\n\nThe bytes of an n-gram index: uint8[size]."},
    {"index_header", index_header, METH_O,
     "index_header(index, /)\n--\n\n"
     "(n, count, byte offset of the hashes, byte offset of the values or -1)."},
    {"index_query", index_query, METH_VARARGS,
     "index_query(index, texts, /)\n--\n\n"
     "(offsets int64[n + 1], positions int64[h], starts int64[h], ends int64[h],\n"
     "ordinals uint32[h]): the n-grams of each text that are in the index, in order."},
    {"replaced", replaced, METH_O,
     "replaced(texts, /)\n--\n\nThe number of ill-formed UTF-8 sequences of each text: int64[n]."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (!numpy)
        return -1;
    state->numpy_empty = PyObject_GetAttrString(numpy, "empty");
    Py_DECREF(numpy);
    if (!state->numpy_empty)
        return -1;
    if (PyModule_AddStringConstant(module, "UNICODE_VERSION", CP_UNICODE_VERSION) < 0)
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
