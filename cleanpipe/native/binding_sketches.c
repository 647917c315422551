/* Signatures, digests and sets of n-grams for Python, and how similar two of them are. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include "minhash.h"
#include "ngrams.h"
#include "sets.h"
#include "tokens.h"

/* ---- what is asked for ---- */

/* Tokens an n-gram: `all` of every text, or each[row] where there is an array. Zero-initialise;
 * sizes_close is due in either case. */
typedef struct {
    Py_buffer view;
    const int64_t *each;
    Py_ssize_t all;
} sizes;

static bool sizes_open(sizes *n, PyObject *object)
{
    PyObject *number = PyNumber_Index(object);

    if (number) {
        n->all = PyLong_AsSsize_t(number);
        Py_DECREF(number);
        return (n->all != -1 || !PyErr_Occurred()) && check_n(n->all);
    }
    /* An array of one dimension is no index, but says so by TypeError as well. */
    if (!PyErr_ExceptionMatches(PyExc_TypeError) || !PyObject_CheckBuffer(object))
        return false;
    PyErr_Clear();
    if (!numbers_open(&n->view, object, "n", "int64", 1))
        return false;
    n->each = n->view.buf;
    for (Py_ssize_t row = 0; row < n->view.shape[0]; row++)
        if (!check_n((Py_ssize_t)n->each[row]))
            return false;
    return true;
}

static void sizes_close(sizes *n)
{
    if (n->view.obj)
        PyBuffer_Release(&n->view);
}

/* Whether there is one for each text, which is known once the texts are open. */
static bool sizes_fit(const sizes *n, const texts_input *in)
{
    if (!n->each || n->view.shape[0] == rows_of(in))
        return true;
    PyErr_Format(PyExc_ValueError, "%zd values of n for %zd texts", n->view.shape[0], rows_of(in));
    return false;
}

/* Zero-initialise; permutations_close is due in either case. */
typedef struct {
    Py_buffer a, b;
} permutations;

static bool permutations_open(permutations *of, PyObject *a, PyObject *b)
{
    if (!numbers_open(&of->a, a, "a", "uint32", 1) || !numbers_open(&of->b, b, "b", "uint32", 1))
        return false;
    if (of->a.shape[0] >= 1 && of->a.shape[0] == of->b.shape[0])
        return true;
    PyErr_Format(PyExc_ValueError,
                 "a and b have one number a permutation, at least 1, got %zd and %zd",
                 of->a.shape[0], of->b.shape[0]);
    return false;
}

static void permutations_close(permutations *of)
{
    if (of->a.obj)
        PyBuffer_Release(&of->a);
    if (of->b.obj)
        PyBuffer_Release(&of->b);
}

/* ---- texts ---- */

typedef struct {
    sizes n;
    permutations by;
    cp_tokens tokens; /* of one text, reused; their hashes become its grams */
    cp_sets sets;     /* of one text, or of all */
    uint32_t *signatures;
    uint64_t *digests;
    int64_t *counts;  /* of tokens */
    int64_t *offsets; /* of the sets */
} context;

static void context_close(context *into)
{
    sizes_close(&into->n);
    permutations_close(&into->by);
    cp_tokens_free(&into->tokens);
    cp_sets_free(&into->sets);
}

/* Leaves the text's n-grams in into->tokens.hash. */
static int scan_grams(const uint8_t *text, size_t len, size_t row, context *into, size_t *n,
                      size_t *grams)
{
    const int64_t asked = into->n.each ? into->n.each[row] : into->n.all;
    uint64_t ill_formed = 0;
    int code;

    if (asked < 1)
        return CP_CHANGED;
    *n = (size_t)asked;
    into->tokens.count = 0;
    if ((code = cp_tokens_scan(text, len, &into->tokens, &ill_formed)) != CP_OK)
        return code;
    *grams = cp_ngrams_count(into->tokens.count, *n);
    if (*grams)
        cp_ngrams_roll(into->tokens.hash, into->tokens.count, *n, into->tokens.hash);
    return CP_OK;
}

static void sign(const context *into, const uint64_t *gram, size_t grams, size_t row)
{
    const size_t num_perm = (size_t)into->by.a.shape[0];

    cp_minhash(gram, grams, into->by.a.buf, into->by.b.buf, num_perm,
               into->signatures + row * num_perm);
}

static int minhash_text(const uint8_t *text, size_t len, size_t row, void *context_of)
{
    context *into = context_of;
    size_t n, grams;
    int code = scan_grams(text, len, row, into, &n, &grams);

    if (code == CP_OK)
        sign(into, into->tokens.hash, grams, row);
    return code;
}

PyObject *minhash(PyObject *module, PyObject *args)
{
    PyObject *texts, *n, *a, *b;
    texts_input in = {0};
    output signatures = {0};
    context into = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "OOOO:minhash", &texts, &n, &a, &b))
        return NULL;
    good = sizes_open(&into.n, n) && permutations_open(&into.by, a, b) && texts_open(&in, texts) &&
           sizes_fit(&into.n, &in) &&
           output_open_2d(&signatures, module, rows_of(&in), into.by.a.shape[0], "uint32");
    if (good) {
        into.signatures = signatures.view.buf;
        good = run(&in, minhash_text, &into);
    }
    texts_close(&in);
    context_close(&into);
    return output_close(&signatures, good);
}

static int sketch_text(const uint8_t *text, size_t len, size_t row, void *context_of)
{
    context *into = context_of;
    size_t n, grams;
    int code = scan_grams(text, len, row, into, &n, &grams);

    into->sets.count = 0;
    if (code != CP_OK ||
        (code = cp_sets_append(&into->sets, into->tokens.hash, grams)) != CP_OK)
        return code;
    into->counts[row] = (int64_t)into->tokens.count;
    cp_set_digest(into->sets.hash, into->sets.count, n, into->digests + 2 * row);
    sign(into, into->sets.hash, into->tokens.count / 2 >= n ? into->sets.count : 0, row);
    return CP_OK;
}

PyObject *sketches(PyObject *module, PyObject *args)
{
    PyObject *texts, *n, *a, *b;
    texts_input in = {0};
    output out[3] = {0}; /* signatures, digests, tokens */
    context into = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "OOOO:sketches", &texts, &n, &a, &b))
        return NULL;
    good = sizes_open(&into.n, n) && permutations_open(&into.by, a, b) && texts_open(&in, texts) &&
           sizes_fit(&into.n, &in) &&
           output_open_2d(&out[0], module, rows_of(&in), into.by.a.shape[0], "uint32") &&
           output_open_2d(&out[1], module, rows_of(&in), 2, "uint64") &&
           output_open(&out[2], module, rows_of(&in), "int64");
    if (good) {
        into.signatures = out[0].view.buf;
        into.digests = out[1].view.buf;
        into.counts = out[2].view.buf;
        good = run(&in, sketch_text, &into);
    }
    texts_close(&in);
    context_close(&into);
    return outputs_close(out, 3, good);
}

static int set_text(const uint8_t *text, size_t len, size_t row, void *context_of)
{
    context *into = context_of;
    size_t n, grams;
    int code = scan_grams(text, len, row, into, &n, &grams);

    if (code == CP_OK)
        code = cp_sets_append(&into->sets, into->tokens.hash, grams);
    into->offsets[row + 1] = (int64_t)into->sets.count;
    return code;
}

PyObject *ngram_sets(PyObject *module, PyObject *args)
{
    PyObject *texts, *n;
    texts_input in = {0};
    output out[2] = {0}; /* offsets, hashes */
    context into = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "OO:ngram_sets", &texts, &n))
        return NULL;
    good = sizes_open(&into.n, n) && texts_open(&in, texts) && sizes_fit(&into.n, &in) &&
           output_offsets(&out[0], module, &in, &into.offsets) && run(&in, set_text, &into) &&
           output_open(&out[1], module, (Py_ssize_t)into.sets.count, "uint64");
    texts_close(&in);
    if (good && into.sets.count) {
        Py_BEGIN_ALLOW_THREADS
        memcpy(out[1].view.buf, into.sets.hash, into.sets.count * sizeof *into.sets.hash);
        Py_END_ALLOW_THREADS
    }
    context_close(&into);
    return outputs_close(out, 2, good);
}

PyObject *band_keys(PyObject *module, PyObject *args)
{
    PyObject *object;
    Py_ssize_t bands, rows;
    Py_buffer signatures;
    output keys = {0};

    if (!PyArg_ParseTuple(args, "Onn:band_keys", &object, &bands, &rows) ||
        !numbers_open(&signatures, object, "signatures", "uint32", 2))
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

/* ---- pairs ---- */

/* Rows of something, two by two. Zero-initialise; pairs_close is due in either case. */
typedef struct {
    Py_buffer left, right;
} pairs;

static bool pairs_open(pairs *of, PyObject *left, PyObject *right)
{
    if (!numbers_open(&of->left, left, "left", "int64", 1) ||
        !numbers_open(&of->right, right, "right", "int64", 1))
        return false;
    if (of->left.shape[0] == of->right.shape[0])
        return true;
    PyErr_Format(PyExc_ValueError, "left and right have one row a pair, got %zd and %zd",
                 of->left.shape[0], of->right.shape[0]);
    return false;
}

static void pairs_close(pairs *of)
{
    if (of->left.obj)
        PyBuffer_Release(&of->left);
    if (of->right.obj)
        PyBuffer_Release(&of->right);
}

/* The first pair with a row that is not one of `rows`, or the number of pairs. */
static Py_ssize_t outside(const pairs *of, Py_ssize_t rows)
{
    const int64_t *left = of->left.buf, *right = of->right.buf;
    Py_ssize_t i = 0;

    while (i < of->left.shape[0] && left[i] >= 0 && left[i] < rows && right[i] >= 0 &&
           right[i] < rows)
        i++;
    return i;
}

static bool pairs_fit(const pairs *of, Py_ssize_t rows)
{
    Py_ssize_t found;

    Py_BEGIN_ALLOW_THREADS
    found = outside(of, rows);
    Py_END_ALLOW_THREADS
    if (found == of->left.shape[0])
        return true;
    PyErr_Format(PyExc_ValueError, "pair %zd is of rows %lld and %lld, there are %zd", found,
                 (long long)((const int64_t *)of->left.buf)[found],
                 (long long)((const int64_t *)of->right.buf)[found], rows);
    return false;
}

/* The first set that is not in the array or not strictly ascending, or the number of sets. */
static Py_ssize_t broken(const int64_t *offsets, Py_ssize_t sets, const uint64_t *hash,
                         Py_ssize_t hashes)
{
    for (Py_ssize_t row = 0; row < sets; row++) {
        int falls = 0;

        if (offsets[row] < 0 || offsets[row] > offsets[row + 1] || offsets[row + 1] > hashes)
            return row;
        for (int64_t i = offsets[row] + 1; i < offsets[row + 1]; i++)
            falls |= hash[i - 1] >= hash[i];
        if (falls)
            return row;
    }
    return sets;
}

static bool sets_fit(const Py_buffer *offsets, const Py_buffer *hashes)
{
    const Py_ssize_t sets = offsets->shape[0] - 1;
    Py_ssize_t found;

    if (sets < 0) {
        PyErr_SetString(PyExc_ValueError, "offsets are one more than there are sets, got none");
        return false;
    }
    Py_BEGIN_ALLOW_THREADS
    found = broken(offsets->buf, sets, hashes->buf, hashes->shape[0]);
    Py_END_ALLOW_THREADS
    if (found < sets)
        PyErr_Format(PyExc_ValueError,
                     "set %zd is not strictly ascending, or not within the %zd hashes", found,
                     hashes->shape[0]);
    return found == sets;
}

static void compare_sets(const int64_t *offsets, const uint64_t *hash, const pairs *of,
                         double *similarity)
{
    const int64_t *left = of->left.buf, *right = of->right.buf;

    for (Py_ssize_t i = 0; i < of->left.shape[0]; i++) {
        const int64_t *a = offsets + left[i], *b = offsets + right[i];
        const size_t a_count = (size_t)(a[1] - a[0]), b_count = (size_t)(b[1] - b[0]);
        const size_t shared = cp_set_shared(hash + a[0], a_count, hash + b[0], b_count);

        similarity[i] = shared ? (double)shared / (double)(a_count + b_count - shared) : 0.0;
    }
}

PyObject *jaccard(PyObject *module, PyObject *args)
{
    PyObject *offsets_object, *hashes_object, *left, *right;
    Py_buffer offsets = {0}, hashes = {0};
    pairs of = {0};
    output out = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "OOOO:jaccard", &offsets_object, &hashes_object, &left, &right))
        return NULL;
    good = numbers_open(&offsets, offsets_object, "offsets", "int64", 1) &&
           numbers_open(&hashes, hashes_object, "hashes", "uint64", 1) &&
           pairs_open(&of, left, right) && sets_fit(&offsets, &hashes) &&
           pairs_fit(&of, offsets.shape[0] - 1) &&
           output_open(&out, module, of.left.shape[0], "float64");
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        compare_sets(offsets.buf, hashes.buf, &of, out.view.buf);
        Py_END_ALLOW_THREADS
    }
    if (offsets.obj)
        PyBuffer_Release(&offsets);
    if (hashes.obj)
        PyBuffer_Release(&hashes);
    pairs_close(&of);
    return output_close(&out, good);
}

static void compare_signatures(const Py_buffer *signatures, const pairs *of, double *similarity)
{
    const int64_t *left = of->left.buf, *right = of->right.buf;
    const uint32_t *value = signatures->buf;
    const size_t num_perm = (size_t)signatures->shape[1];

    for (Py_ssize_t i = 0; i < of->left.shape[0]; i++)
        similarity[i] = (double)cp_signature_agreement(value + (size_t)left[i] * num_perm,
                                                       value + (size_t)right[i] * num_perm,
                                                       num_perm) /
                        (double)num_perm;
}

PyObject *agreement(PyObject *module, PyObject *args)
{
    PyObject *object, *left, *right;
    Py_buffer signatures = {0};
    pairs of = {0};
    output out = {0};
    bool good;

    if (!PyArg_ParseTuple(args, "OOO:agreement", &object, &left, &right))
        return NULL;
    good = numbers_open(&signatures, object, "signatures", "uint32", 2) &&
           pairs_open(&of, left, right);
    if (good && signatures.shape[1] < 1) {
        PyErr_SetString(PyExc_ValueError, "a signature has at least 1 value, got 0");
        good = false;
    }
    good = good && pairs_fit(&of, signatures.shape[0]) &&
           output_open(&out, module, of.left.shape[0], "float64");
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        compare_signatures(&signatures, &of, out.view.buf);
        Py_END_ALLOW_THREADS
    }
    if (signatures.obj)
        PyBuffer_Release(&signatures);
    pairs_close(&of);
    return output_close(&out, good);
}
