/* What the functions of binding.c take and give: Arrow strings and NumPy arrays. Internal to the
 * binding: names without cp_, and the only header that knows Python. Functions that return false,
 * NULL or a negative number have set an exception. */
#ifndef CP_BINDING_H
#define CP_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow_texts.h"

typedef struct {
    PyObject *numpy_empty;
} module_state;

/* ---- input ---- */

/* Anything that exports Arrow strings. */
typedef struct {
    PyObject *owner; /* the capsules; they release what they hold */
    cp_texts texts;
} texts_input;

/* texts_close is due in either case. */
bool texts_open(texts_input *in, PyObject *object);
void texts_close(texts_input *in);
Py_ssize_t rows_of(const texts_input *in);

/* Runs the kernel over all texts, without the GIL. */
bool run(const texts_input *in, cp_text_kernel kernel, void *context);

/* A C-contiguous array of uint32, uint64, int32 or int64 and that many dimensions, at any address;
 * the view is to be released on success. */
bool numbers_view(Py_buffer *view, PyObject *object, const char *name, const char *dtype,
                  int dimensions);

/* The same, and aligned. */
bool numbers_open(Py_buffer *view, PyObject *object, const char *name, const char *dtype,
                  int dimensions);

/* Whether n is the number of tokens of an n-gram. */
bool check_n(Py_ssize_t n);

/* ---- output ---- */

/* A new NumPy array, zero-initialised before it is opened; output_close is due in any case. */
typedef struct {
    PyObject *array;
    Py_buffer view;
} output;

bool output_open(output *out, PyObject *module, Py_ssize_t length, const char *dtype);
bool output_open_2d(output *out, PyObject *module, Py_ssize_t rows, Py_ssize_t columns,
                    const char *dtype);

/* The offsets of what each text has: int64[n + 1], the first one written. */
bool output_offsets(output *out, PyObject *module, const texts_input *in, int64_t **offsets);

/* The array, or NULL when `keep` is false or there is none. */
PyObject *output_close(output *out, bool keep);

/* A tuple of the arrays, or NULL when `keep` is false. */
PyObject *outputs_close(output *out, int count, bool keep);

/* ---- the functions of binding_sketches.c ---- */

PyObject *minhash(PyObject *module, PyObject *args);
PyObject *band_keys(PyObject *module, PyObject *args);
PyObject *sketches(PyObject *module, PyObject *args);
PyObject *ngram_sets(PyObject *module, PyObject *args);
PyObject *jaccard(PyObject *module, PyObject *args);
PyObject *agreement(PyObject *module, PyObject *args);

/* ---- the functions of binding_models.c ---- */

PyObject *ccnet_lines(PyObject *module, PyObject *texts);
PyObject *model_parts(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *prepared(PyObject *module, PyObject *args);
PyObject *vocabulary_with(PyObject *module, PyObject *args);

/* ---- the function of binding_passages.c ---- */

PyObject *passages(PyObject *module, PyObject *args, PyObject *keywords);

#endif
