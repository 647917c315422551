/* Texts in Arrow arrays of strings, read in place: any number of chunks, sliced or not, with
 * 32-bit or 64-bit offsets, with or without a validity bitmap. */
#ifndef CP_ARROW_TEXTS_H
#define CP_ARROW_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow_abi.h"

enum { /* beside the kernels' own codes */
    CP_BAD_OFFSETS = -100, /* the offsets of a text decrease or are negative */
    CP_CHANGED = -101,     /* for kernels that look twice: it was another text the first time */
};

/* The caller owns it: zero-initialise, set `format`, release with cp_texts_close. */
typedef struct {
    struct ArrowArray *chunks; /* `count` of them */
    size_t count;
    bool owned;     /* the chunks are to be released; else they are copies of another's */
    char format;    /* 'u' or 'U', or 'n' for a column of nulls without a type */
    int64_t rows;   /* of all chunks */
} cp_texts;

/* 'u', 'U' or 'n' where the schema is of texts, else 0. */
char cp_texts_format(const struct ArrowSchema *schema);

/* Adds a copy of the struct. Returns CP_OK; CP_BAD_OFFSETS where it is no array of strings, or
 * CP_NO_MEMORY, and then the array stays the caller's. */
int cp_texts_add(cp_texts *texts, const struct ArrowArray *array);

void cp_texts_close(cp_texts *texts);

/* Handles one text; `row` counts through all chunks. A null comes as an empty text. */
typedef int (*cp_text_kernel)(const uint8_t *text, size_t len, size_t row, void *context);

/* Runs the kernel over all texts in order; stops at the first code that is not CP_OK, returns it,
 * and leaves its row in *row. */
int cp_texts_each(const cp_texts *texts, cp_text_kernel kernel, void *context, size_t *row);

#endif
