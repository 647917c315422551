/* The lines, paragraphs and sentences of a text: the docstring of cleanpipe/text.py defines them.
 *
 * Time grows with the length of the text only; beside the spans no memory is taken. Any number of
 * threads may run these. `text` may be NULL where len is 0. */
#ifndef CP_SEGMENTS_H
#define CP_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h" /* CP_OK, CP_NO_MEMORY, CP_TOO_LONG */

typedef enum { CP_LINE, CP_PARAGRAPH, CP_SENTENCE } cp_unit;

/* Spans in one or more texts, one after the other. The caller owns it: zero-initialise, reuse by
 * setting count to 0, release with cp_spans_free. */
typedef struct {
    uint32_t *start; /* byte offset of the span's first byte in its own text */
    uint32_t *end;   /* byte offset behind its last byte */
    size_t count;
    size_t capacity; /* both arrays have room for this many */
} cp_spans;

/* Appends the spans of the text's units to `out`. Returns CP_OK, or CP_NO_MEMORY or CP_TOO_LONG
 * and then leaves out->count as it was. */
int cp_segments(const uint8_t *text, size_t len, cp_unit unit, cp_spans *out);

/* The number of spans that cp_segments would append; texts of any length. */
uint64_t cp_segments_count(const uint8_t *text, size_t len, cp_unit unit);

/* Frees the arrays and zeroes the struct. */
void cp_spans_free(cp_spans *spans);

/* A line that is not blank. Zero-initialise before the first of a text. */
typedef struct {
    const uint8_t *begin; /* where it begins, indentation too */
    const uint8_t *start; /* its first byte that is not whitespace */
    const uint8_t *end;   /* behind its last byte that is not whitespace */
    bool after_blank;     /* a blank line lies between it and the line before */
} cp_line;

/* Reads the next line of [*at, end) and moves *at behind its newline; false where there is none. */
bool cp_next_line(const uint8_t **at, const uint8_t *end, cp_line *line);

#endif
