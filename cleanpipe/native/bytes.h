/* A growing buffer of bytes. */
#ifndef CP_BYTES_H
#define CP_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tokens.h"

#define CP_BYTES_SLACK 8 /* bytes behind the room that may be read, and written to */

/* The caller owns it: zero-initialise, release with cp_bytes_free. */
typedef struct {
    uint8_t *data;
    size_t size;
    size_t room;
} cp_bytes;

/* Makes room for `more` bytes behind the size. CP_OK or CP_NO_MEMORY, which leaves it as it was. */
static inline int cp_bytes_reserve(cp_bytes *bytes, size_t more)
{
    size_t room;
    uint8_t *grown;

    if (bytes->data && bytes->room - bytes->size >= more)
        return CP_OK;
    if (more > SIZE_MAX / 4 || bytes->room > SIZE_MAX / 4)
        return CP_NO_MEMORY;
    room = bytes->room + bytes->room / 2;
    room = room < bytes->size + more + 1024 ? bytes->size + more + 1024 : room;
    if (!(grown = realloc(bytes->data, room + CP_BYTES_SLACK)))
        return CP_NO_MEMORY;
    bytes->data = grown;
    bytes->room = room;
    return CP_OK;
}

static inline void cp_bytes_free(cp_bytes *bytes)
{
    free(bytes->data);
    *bytes = (cp_bytes){0};
}

#endif
