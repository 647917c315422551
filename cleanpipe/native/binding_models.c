/* What language models are given, for Python. */
#include "binding.h"

#include <string.h>

#include "ccnet.h"
#include "parts.h"
#include "profiles.h"

/* A NumPy array of so many bytes, numbers or offsets. */
static bool copied(output *out, PyObject *module, const void *from, size_t count, const char *dtype)
{
    const size_t width = strcmp(dtype, "uint8") ? 8 : 1;

    if (!output_open(out, module, (Py_ssize_t)count, dtype))
        return false;
    if (count)
        memcpy(out->view.buf, from, count * width);
    return true;
}

/* ---- one stretch of bytes a text ---- */

typedef struct {
    cp_bytes bytes, spare;
    cp_row row;
    cp_part part;
    int64_t *offsets;
} bytes_context;

static PyObject *bytes_of(PyObject *module, PyObject *texts, cp_text_kernel kernel,
                          bytes_context *into)
{
    texts_input in;
    output out[2] = {0}; /* offsets, bytes */
    bool good = texts_open(&in, texts) && output_offsets(&out[0], module, &in, &into->offsets) &&
                run(&in, kernel, into) &&
                copied(&out[1], module, into->bytes.data, into->bytes.size, "uint8");

    texts_close(&in);
    cp_bytes_free(&into->bytes);
    cp_bytes_free(&into->spare);
    cp_row_free(&into->row);
    return outputs_close(out, 2, good);
}

static int ccnet_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    bytes_context *into = context;
    int code = cp_ccnet(text, len, &into->row, &into->bytes);

    into->offsets[row + 1] = (int64_t)into->bytes.size;
    return code;
}

PyObject *ccnet_lines(PyObject *module, PyObject *texts)
{
    return bytes_of(module, texts, ccnet_text, &(bytes_context){0});
}

static int part_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    bytes_context *into = context;
    int code = cp_part_add(&into->part, text, len, &into->spare, &into->bytes);

    into->offsets[row + 1] = (int64_t)into->bytes.size;
    return code;
}

PyObject *model_parts(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "characters", "stretch", "spaced", "lowered", NULL};
    bytes_context into = {0};
    Py_ssize_t characters, stretch = 0;
    int spaced = 0, lowered = 0;
    PyObject *texts;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "On|n$pp", names, &texts, &characters,
                                     &stretch, &spaced, &lowered))
        return NULL;
    if (characters < 0 || stretch < 0) {
        PyErr_Format(PyExc_ValueError, "characters and stretch are at least 0, got %zd and %zd",
                     characters, stretch);
        return NULL;
    }
    into.part.characters = (size_t)characters;
    into.part.stretch = (size_t)stretch;
    into.part.how = (spaced ? CP_PART_SPACED : 0) | (lowered ? CP_PART_LOWERED : 0);
    return bytes_of(module, texts, part_text, &into);
}

/* ---- sentences ---- */

/* Python's bytes in place of an array: sentences are cut from them, and KenLM takes no other. */
static bool bytes_object(output *out, const cp_bytes *from)
{
    out->array = PyBytes_FromStringAndSize((const char *)from->data, (Py_ssize_t)from->size);
    return out->array;
}

typedef struct {
    cp_prepared prepared;
    int64_t *lines, *tokens, *known, *unseen;
} profile_context;

static int profile_text(const uint8_t *text, size_t len, size_t row, void *context)
{
    profile_context *into = context;
    int code = cp_prepared_add(&into->prepared, text, len);

    into->lines[row + 1] = (int64_t)into->prepared.text.size;
    into->unseen[row + 1] = (int64_t)into->prepared.unseen.count;
    into->tokens[row] = into->prepared.tokens;
    into->known[row] = into->prepared.known;
    return code;
}

static bool profile_of(const char *name, cp_profile *profile)
{
    *profile = strcmp(name, "words") ? CP_CHARACTERS : CP_WORDS;
    if (*profile == CP_WORDS || !strcmp(name, "characters"))
        return true;
    PyErr_Format(PyExc_ValueError, "profile is words or characters, got %s", name);
    return false;
}

static bool vocabulary_open(Py_buffer *view, PyObject *object, cp_vocabulary *vocabulary)
{
    if (!numbers_open(view, object, "vocabulary", "uint64", 1))
        return false;
    *vocabulary = (cp_vocabulary){view->buf, (size_t)view->shape[0]};
    if (cp_vocabulary_good(vocabulary))
        return true;
    PyErr_SetString(PyExc_ValueError, "vocabulary is none that vocabulary_with gave");
    PyBuffer_Release(view);
    return false;
}

PyObject *prepared(PyObject *module, PyObject *args)
{
    enum { LINES, TOKENS, KNOWN, STARTS, STOPS, UNSEEN, OFFSETS, BYTES, ALL };
    output out[ALL] = {0};
    profile_context into = {0};
    cp_vocabulary vocabulary;
    Py_buffer view;
    texts_input in;
    PyObject *texts, *words;
    const char *name;
    cp_profile profile;
    Py_ssize_t rows;
    bool good;

    if (!PyArg_ParseTuple(args, "OsO", &texts, &name, &words) || !profile_of(name, &profile) ||
        !vocabulary_open(&view, words, &vocabulary))
        return NULL;
    good = texts_open(&in, texts);
    rows = good ? rows_of(&in) : 0;
    good = good && output_offsets(&out[LINES], module, &in, &into.lines) &&
           output_offsets(&out[OFFSETS], module, &in, &into.unseen) &&
           output_open(&out[TOKENS], module, rows, "int64") &&
           output_open(&out[KNOWN], module, rows, "int64");
    if (good && cp_prepared_begin(&into.prepared, profile, &vocabulary) != CP_OK) {
        PyErr_NoMemory();
        good = false;
    }
    if (good) {
        cp_prepared *const p = &into.prepared;

        into.tokens = out[TOKENS].view.buf;
        into.known = out[KNOWN].view.buf;
        good = run(&in, profile_text, &into) &&
               bytes_object(&out[BYTES], &p->text) &&
               copied(&out[STARTS], module, p->fresh_start.number, p->fresh_start.count, "int64") &&
               copied(&out[STOPS], module, p->fresh_end.number, p->fresh_end.count, "int64") &&
               copied(&out[UNSEEN], module, p->unseen.number, p->unseen.count, "int64");
    }
    texts_close(&in);
    cp_prepared_free(&into.prepared);
    PyBuffer_Release(&view);
    return outputs_close(out, ALL, good);
}

/* ---- what a model knows ---- */

PyObject *vocabulary_with(PyObject *module, PyObject *args)
{
    Py_buffer old = {0}, bytes = {0}, starts = {0}, ends = {0}, known = {0};
    PyObject *objects[5];
    output out = {0};
    cp_vocabulary from, to;
    bool good = false;

    if (!PyArg_ParseTuple(args, "OOOOO", &objects[0], &objects[1], &objects[2], &objects[3],
                          &objects[4]) ||
        !vocabulary_open(&old, objects[0], &from))
        return NULL;
    if (PyObject_GetBuffer(objects[1], &bytes, PyBUF_SIMPLE) == 0 &&
        numbers_open(&starts, objects[2], "starts", "int64", 1) &&
        numbers_open(&ends, objects[3], "ends", "int64", 1) &&
        PyObject_GetBuffer(objects[4], &known, PyBUF_SIMPLE) == 0) {
        const int64_t *start = starts.buf, *end = ends.buf;
        const Py_ssize_t count = starts.shape[0];
        const size_t size = cp_vocabulary_size(from.number[0] + (uint64_t)count);
        const cp_salt salt = cp_salt_of_process();

        good = count == ends.shape[0] && count == known.len;
        for (Py_ssize_t i = 0; good && i < count; i++)
            good = 0 <= start[i] && start[i] <= end[i] && end[i] <= bytes.len;
        if (!good)
            PyErr_SetString(PyExc_ValueError, "starts, ends and known are of words in the bytes");
        good = good && output_open(&out, module, (Py_ssize_t)(size > from.count ? size : from.count),
                                   "uint64");
        if (good) {
            to = (cp_vocabulary){out.view.buf, (size_t)(size > from.count ? size : from.count)};
            memset(to.number, 0, to.count * sizeof *to.number);
            cp_vocabulary_add_all(&to, &from);
            for (Py_ssize_t i = 0; i < count; i++) {
                const uint8_t *word = (const uint8_t *)bytes.buf + start[i];
                const uint64_t hash = cp_word_hash_within(word, (size_t)(end[i] - start[i]), &salt);

                cp_vocabulary_add(&to, hash | (((const uint8_t *)known.buf)[i] ? CP_WORD_KNOWN : 0));
            }
        }
    }
    if (known.obj)
        PyBuffer_Release(&known);
    if (ends.obj)
        PyBuffer_Release(&ends);
    if (starts.obj)
        PyBuffer_Release(&starts);
    if (bytes.obj)
        PyBuffer_Release(&bytes);
    PyBuffer_Release(&old);
    return output_close(&out, good);
}
