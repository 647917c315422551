/* The part of a text that a fastText model is given, harmless for it.
 *
 *   part     the text's first `characters` code points; or, with `stretch`, as many stretches of
 *            that length as fit: the first at the beginning, the last at the end, the others
 *            evenly between them, joined by spaces. The whole text where it is no longer
 *   nothing  where the part has no letter (str.isalpha)
 *   spaces   in place of line feeds and of a literal </s>: either ends the text for the model; with
 *            CP_PART_LOWERED of </S> too, which would become one
 *   CP_PART_SPACED   a space on either side of Han and kana
 *   CP_PART_LOWERED  lower case where more than half of the cased letters are capitals
 *
 * Letters and case are Python's, but of the Unicode version of form_tables.h. */
#ifndef CP_PARTS_H
#define CP_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

enum { CP_PART_SPACED = 1, CP_PART_LOWERED = 2 };

typedef struct {
    size_t characters; /* 0: all */
    size_t stretch;    /* 0: the beginning */
    int how;           /* CP_PART_... */
} cp_part;

/* Appends the part with a line feed behind it, which the model wants; nothing where there is none.
 * `spare` is memory to reuse. CP_OK, or CP_NO_MEMORY and then leaves out->size as it was. What is
 * ill-formed counts as U+FFFD. */
int cp_part_add(const cp_part *part, const uint8_t *text, size_t len, cp_bytes *spare,
                cp_bytes *out);

#endif
