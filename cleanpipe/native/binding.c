/* cleanpipe._native: the kernels for Python. The only file that knows Python; _native.pyi says
 * what each function takes, gives and raises. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_abi.h"
#include "isa.h"
#include "minhash.h"
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

/* Takes the new array, or NULL with an exception set. */
static bool output_take(output *out, PyObject *array)
{
    out->array = array;
    if (out->array && PyObject_GetBuffer(out->array, &out->view, PyBUF_CONTIG) < 0)
        Py_CLEAR(out->array);
    return out->array;
}

static bool output_open(output *out, PyObject *module, Py_ssize_t length, const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    return output_take(out, PyObject_CallFunction(state->numpy_empty, "ns", length, dtype));
}

static bool output_open_2d(output *out, PyObject *module, Py_ssize_t rows, Py_ssize_t columns,
                           const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    return output_take(
        out, PyObject_CallFunction(state->numpy_empty, "(nn)s", rows, columns, dtype));
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

/* ---- signatures ---- */

/* A C-contiguous uint32 array of that many dimensions; the view is to be released on success. */
static bool uint32_open(Py_buffer *view, PyObject *object, const char *name, int dimensions)
{
    PyObject *type;
    const char *format;

    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) || !(type = type_name(object)))
            return false;
        PyErr_Format(PyExc_TypeError, "expected a uint32 array as %s, got %U", name, type);
        Py_DECREF(type);
        return false;
    }
    format = view->format ? view->format : "B";
    if (*format == '=') /* native order, standard size: an array that is not aligned */
        format++;
    if (view->itemsize != sizeof(uint32_t) || strlen(format) != 1 || !strchr("IL", *format))
        PyErr_Format(PyExc_TypeError, "expected a uint32 array as %s, got items of format '%.40s'",
                     name, format);
    else if (view->ndim != dimensions)
        PyErr_Format(PyExc_ValueError, "expected %d dimension%s of %s, got %d", dimensions,
                     dimensions == 1 ? "" : "s", name, view->ndim);
    else if (!PyBuffer_IsContiguous(view, 'C') || (uintptr_t)view->buf % sizeof(uint32_t))
        PyErr_Format(PyExc_ValueError, "%s is not C-contiguous and aligned", name);
    else
        return true;
    PyBuffer_Release(view);
    return false;
}

typedef struct {
    cp_tokens tokens; /* of one text, reused; their hashes become its grams */
    size_t n;
    const uint32_t *a, *b;
    size_t num_perm;
    uint32_t *signatures;
} minhash_context;

static int sign_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    minhash_context *into = context;
    size_t grams;
    uint64_t ill_formed = 0;
    int code;

    into->tokens.count = 0;
    if ((code = cp_tokens_scan(text, len, &into->tokens, &ill_formed)) != CP_OK)
        return code;
    grams = cp_ngrams_count(into->tokens.count, into->n);
    if (grams)
        cp_ngrams_roll(into->tokens.hash, into->tokens.count, into->n, into->tokens.hash);
    cp_minhash(into->tokens.hash, grams, into->a, into->b, into->num_perm,
               into->signatures + row * into->num_perm);
    return CP_OK;
}

static PyObject *minhash(PyObject *module, PyObject *args)
{
    PyObject *texts, *a_object, *b_object;
    Py_ssize_t n;
    Py_buffer a, b;
    texts_input in = {0};
    output signatures = {0};
    minhash_context into = {0};
    bool good = false;

    if (!PyArg_ParseTuple(args, "OnOO:minhash", &texts, &n, &a_object, &b_object))
        return NULL;
    if (n < 1) {
        PyErr_Format(PyExc_ValueError, "an n-gram has at least 1 token, got n = %zd", n);
        return NULL;
    }
    if (!uint32_open(&a, a_object, "a", 1))
        return NULL;
    if (!uint32_open(&b, b_object, "b", 1)) {
        PyBuffer_Release(&a);
        return NULL;
    }
    if (a.shape[0] < 1 || a.shape[0] != b.shape[0])
        PyErr_Format(PyExc_ValueError,
                     "a and b have one number a permutation, at least 1, got %zd and %zd",
                     a.shape[0], b.shape[0]);
    else
        good = texts_open(&in, texts) &&
               output_open_2d(&signatures, module, in.rows, a.shape[0], "uint32");
    if (good) {
        into.n = (size_t)n;
        into.a = a.buf;
        into.b = b.buf;
        into.num_perm = (size_t)a.shape[0];
        into.signatures = signatures.view.buf;
        good = run(&in, sign_text, &into);
    }
    texts_close(&in);
    cp_tokens_free(&into.tokens);
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    return output_close(&signatures, good);
}

static PyObject *band_keys(PyObject *module, PyObject *args)
{
    PyObject *object;
    Py_ssize_t bands, rows;
    Py_buffer signatures;
    output keys = {0};

    if (!PyArg_ParseTuple(args, "Onn:band_keys", &object, &bands, &rows) ||
        !uint32_open(&signatures, object, "signatures", 2))
        return NULL;
    if (bands < 1 || rows < 1 || bands > signatures.shape[1] / rows)
        PyErr_Format(PyExc_ValueError,
                     "bands and rows are at least 1 and bands * rows at most the %zd values of a "
                     "signature, got bands = %zd, rows = %zd",
                     signatures.shape[1], bands, rows);
    else if (output_open_2d(&keys, module, signatures.shape[0], bands, "uint64")) {
        const uint32_t *from = signatures.buf;
        uint64_t *to = keys.view.buf;

        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; i < signatures.shape[0]; i++)
            cp_band_keys(from + i * signatures.shape[1], (size_t)bands, (size_t)rows,
                         to + i * bands);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&signatures);
    return output_close(&keys, true);
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
    {"minhash", minhash, METH_VARARGS,
     "minhash(texts, n, a, b, /)\n--\n\n"
     "The MinHash signature of each text's n-grams: uint32[n, len(a)]."},
    {"band_keys", band_keys, METH_VARARGS,
     "band_keys(signatures, bands, rows, /)\n--\n\n"
     "The keys of each signature's bands: uint64[n, bands]."},
    {"replaced", replaced, METH_O,
     "replaced(texts, /)\n--\n\nThe number of ill-formed UTF-8 sequences of each text: int64[n]."},
    {NULL, NULL, 0, NULL},
};

/* The names of the variants usable here, best first: a new tuple. */
static PyObject *isa_names(void)
{
    Py_ssize_t count = 0;
    PyObject *names;

    while (cp_isa_usable((size_t)count))
        count++;
    names = PyTuple_New(count);
    for (Py_ssize_t i = 0; names && i < count; i++) {
        PyObject *name = PyUnicode_FromString(cp_isa_usable((size_t)i)->name);

        if (!name || PyTuple_SetItem(names, i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

/* Chooses the instruction set, by CLEANPIPE_ISA where that is set and not empty. */
static int add_isa(PyObject *module)
{
    const char *wanted = getenv("CLEANPIPE_ISA");
    PyObject *names = isa_names(), *value;
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

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (!numpy)
        return -1;
    state->numpy_empty = PyObject_GetAttrString(numpy, "empty");
    Py_DECREF(numpy);
    if (!state->numpy_empty || add_isa(module) < 0)
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
