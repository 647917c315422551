/* A document as one line, as CCNet prepares it for its models (Wenzek et al. 2020,
 * arXiv:1911.00359, and the normaliser published with it).
 *
 * In this order: white space at the ends goes (str.strip); lower case (str.lower); canonical
 * decomposition, without Mn; each Nd becomes 0; punctuation by a table, in ccnet.c; U+0000 to
 * U+001F and U+007F to U+009F go, line breaks too. */
#ifndef CP_CCNET_H
#define CP_CCNET_H

#include "bytes.h"
#include "forms.h"

/* Appends the line of a text, without a line break; `row` is memory to reuse. Returns CP_OK, or
 * CP_NO_MEMORY and then leaves out->size as it was. What is ill-formed counts as U+FFFD. */
int cp_ccnet(const uint8_t *text, size_t len, cp_row *row, cp_bytes *out);

#endif
