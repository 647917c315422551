#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "passages.h"
#include "tokens.h"

/* ---- input: anything that exports Arrow strings ---- */

void texts_close(texts_input *in)
{
    cp_texts_close(&in->texts);
    Py_CLEAR(in->owner);
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

    if ((in->texts.format = cp_texts_format(schema)))
        return true;
    if ((name = type_name(object)))
        PyErr_Format(PyExc_TypeError,
                     "expected Arrow strings (string or large_string, format 'u' or 'U'), got "
                     "%U of %sArrow format '%.40s'",
                     name, schema->dictionary ? "dictionary-encoded " : "",
                     schema->format ? schema->format : "");
    Py_XDECREF(name);
    return false;
}

/* The array stays the caller's on failure. */
static bool add_chunk(texts_input *in, const struct ArrowArray *array)
{
    int code = cp_texts_add(&in->texts, array);

    if (code == CP_NO_MEMORY)
        PyErr_NoMemory();
    else if (code != CP_OK)
        PyErr_SetString(PyExc_ValueError, "the Arrow array is not a valid array of strings");
    return code == CP_OK;
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
    in->texts.owned = true;
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

bool texts_open(texts_input *in, PyObject *object)
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

Py_ssize_t rows_of(const texts_input *in)
{
    return (Py_ssize_t)in->texts.rows;
}

/* ---- the loop over texts, without the GIL ---- */

static void raise_code(int code, size_t row)
{
    if (code == CP_TOO_LONG)
        PyErr_Format(PyExc_MemoryError, "text %zu is longer than 4,294,967,295 bytes", row);
    else if (code == CP_BAD_OFFSETS)
        PyErr_Format(PyExc_ValueError, "text %zu has impossible offsets in the Arrow array", row);
    else if (code == CP_CHANGED)
        PyErr_Format(PyExc_ValueError, "text %zu was changed while it was read", row);
    else if (code == CP_PASSAGES_SEEDS)
        PyErr_Format(PyExc_ValueError,
                     "text %zu has a candidate whose seeds are not ascending tokens of it", row);
    else if (code == CP_PASSAGES_PART)
        PyErr_Format(PyExc_ValueError,
                     "text %zu has a candidate of a damaged part: a gram is at no position of it",
                     row);
    else if (code == CP_INDEX_BROKEN)
        PyErr_SetString(PyExc_ValueError, "a damaged n-gram index");
    else
        PyErr_NoMemory();
}

bool run(const texts_input *in, cp_text_kernel kernel, void *context)
{
    size_t row;
    int code;

    Py_BEGIN_ALLOW_THREADS
    code = cp_texts_each(&in->texts, kernel, context, &row);
    Py_END_ALLOW_THREADS
    if (code != CP_OK)
        raise_code(code, row);
    return code == CP_OK;
}

/* ---- input: arrays of numbers ---- */

bool check_n(Py_ssize_t n)
{
    if (n < 1)
        PyErr_Format(PyExc_ValueError, "an n-gram has at least 1 token, got n = %zd", n);
    return n >= 1;
}

static void raise_layout(const char *name)
{
    PyErr_Format(PyExc_ValueError, "%s is not C-contiguous and aligned", name);
}

bool numbers_view(Py_buffer *view, PyObject *object, const char *name, const char *dtype,
                  int dimensions)
{
    PyObject *type;
    const char *format;
    const bool is_signed = *dtype == 'i';
    const char *article = is_signed ? "an" : "a";
    const Py_ssize_t size = strstr(dtype, "64") ? 8 : strstr(dtype, "32") ? 4 : 1;

    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) || !(type = type_name(object)))
            return false;
        PyErr_Format(PyExc_TypeError, "expected %s %s array as %s, got %U", article, dtype, name,
                     type);
        Py_DECREF(type);
        return false;
    }
    format = view->format ? view->format : "B";
    if (*format == '=') /* native order, standard size: an array that is not aligned */
        format++;
    if (view->itemsize != size || strlen(format) != 1 || !strchr(is_signed ? "ilq" : "BILQ", *format))
        PyErr_Format(PyExc_TypeError, "expected %s %s array as %s, got items of format '%.40s'",
                     article, dtype, name, format);
    else if (view->ndim != dimensions)
        PyErr_Format(PyExc_ValueError, "expected %d dimension%s of %s, got %d", dimensions,
                     dimensions == 1 ? "" : "s", name, view->ndim);
    else if (!PyBuffer_IsContiguous(view, 'C'))
        raise_layout(name);
    else
        return true;
    PyBuffer_Release(view);
    return false;
}

bool numbers_open(Py_buffer *view, PyObject *object, const char *name, const char *dtype,
                  int dimensions)
{
    if (!numbers_view(view, object, name, dtype, dimensions))
        return false;
    if ((uintptr_t)view->buf % (size_t)view->itemsize == 0)
        return true;
    raise_layout(name);
    PyBuffer_Release(view);
    return false;
}

/* ---- output: new NumPy arrays ---- */

/* Takes the new array, or NULL with an exception set. */
static bool output_take(output *out, PyObject *array)
{
    out->array = array;
    if (out->array && PyObject_GetBuffer(out->array, &out->view, PyBUF_CONTIG) < 0)
        Py_CLEAR(out->array);
    return out->array;
}

bool output_open(output *out, PyObject *module, Py_ssize_t length, const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    return output_take(out, PyObject_CallFunction(state->numpy_empty, "ns", length, dtype));
}

bool output_open_2d(output *out, PyObject *module, Py_ssize_t rows, Py_ssize_t columns,
                    const char *dtype)
{
    module_state *state = PyModule_GetState(module);

    return output_take(
        out, PyObject_CallFunction(state->numpy_empty, "(nn)s", rows, columns, dtype));
}

bool output_offsets(output *out, PyObject *module, const texts_input *in, int64_t **offsets)
{
    if (!output_open(out, module, rows_of(in) + 1, "int64"))
        return false;
    *offsets = out->view.buf;
    **offsets = 0;
    return true;
}

PyObject *output_close(output *out, bool keep)
{
    if (out->array)
        PyBuffer_Release(&out->view);
    if (!keep)
        Py_CLEAR(out->array);
    return out->array;
}

PyObject *outputs_close(output *out, int count, bool keep)
{
    PyObject *tuple = keep ? PyTuple_New(count) : NULL;

    for (int i = 0; i < count; i++) {
        PyObject *array = output_close(&out[i], tuple);

        if (tuple && PyTuple_SetItem(tuple, i, array) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}
