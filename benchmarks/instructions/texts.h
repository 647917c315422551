/* Texts that look like real ones to a kernel, the same on every machine: words of a Zipf-like
 * vocabulary in sentences, lines, paragraphs, with repeated lines, addresses and markup. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TEXT_KINDS = 3,
    TEXTS_MOST = 4096,
};

extern const char *const text_names[TEXT_KINDS]; /* English, mixed, Chinese */

/* `count` texts one after the other, about 256 KiB in all; text i ends before bytes[end[i]]. */
typedef struct {
    uint8_t *bytes;
    size_t end[TEXTS_MOST];
    size_t count;
} texts;

/* Makes the texts of one kind. The caller frees out->bytes. False where there is no memory. */
bool texts_make(size_t kind, texts *out);

#endif
