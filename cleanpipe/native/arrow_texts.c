#include "arrow_texts.h"

#include <stdlib.h>
#include <string.h>

#include "tokens.h"

char cp_texts_format(const struct ArrowSchema *schema)
{
    const char *format = schema->format;

    return !schema->dictionary && format && format[0] && !format[1] && strchr("uUn", format[0])
               ? format[0]
               : 0;
}

int cp_texts_add(cp_texts *texts, const struct ArrowArray *array)
{
    struct ArrowArray *grown;

    if (array->length < 0 || array->offset < 0 ||
        (texts->format != 'n' && array->length > 0 &&
         (array->n_buffers != 3 || !array->buffers || !array->buffers[1])))
        return CP_BAD_OFFSETS;
    /* A result has some numbers of 8 bytes for each text, and one more. */
    if (array->length > INT64_MAX / (int64_t)sizeof(int64_t) - 1 - texts->rows ||
        !(grown = realloc(texts->chunks, (texts->count + 1) * sizeof *grown)))
        return CP_NO_MEMORY;
    texts->chunks = grown;
    texts->chunks[texts->count++] = *array;
    texts->rows += array->length;
    return CP_OK;
}

void cp_texts_close(cp_texts *texts)
{
    if (texts->owned)
        for (size_t i = 0; i < texts->count; i++)
            if (texts->chunks[i].release)
                texts->chunks[i].release(&texts->chunks[i]);
    free(texts->chunks);
    *texts = (cp_texts){0};
}

static bool is_valid(const uint8_t *bitmap, int64_t at)
{
    return !bitmap || (bitmap[at >> 3] >> (at & 7) & 1);
}

int cp_texts_each(const cp_texts *texts, cp_text_kernel kernel, void *context, size_t *row)
{
    *row = 0;
    for (size_t c = 0; c < texts->count; c++) {
        const struct ArrowArray *array = &texts->chunks[c];
        const void *const *buffers =
            texts->format == 'n' || !array->length ? NULL : array->buffers;

        for (int64_t i = 0; i < array->length; i++, ++*row) {
            int64_t at = array->offset + i, start = 0, end = 0;
            const uint8_t *data = NULL;
            int code;

            if (buffers && is_valid(buffers[0], at)) {
                if (texts->format == 'U') {
                    start = ((const int64_t *)buffers[1])[at];
                    end = ((const int64_t *)buffers[1])[at + 1];
                } else {
                    start = ((const int32_t *)buffers[1])[at];
                    end = ((const int32_t *)buffers[1])[at + 1];
                }
                data = buffers[2];
                if (start < 0 || end < start || (!data && end > start))
                    return CP_BAD_OFFSETS;
                data = data ? data + start : NULL;
            }
            if ((code = kernel(data, (size_t)(end - start), *row, context)) != CP_OK)
                return code;
        }
    }
    return CP_OK;
}
