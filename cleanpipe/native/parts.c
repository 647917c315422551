#include "parts.h"

#include <stdbool.h>
#include <string.h>

#include "forms.h"
#include "utf8.h"

/* Bytes that one becomes: U+0130 is two and becomes three; a stretch has a space behind it. */
enum { MOST = 3, CASED_END = 0x1F000 /* squared letters lie beyond */ };

static bool is_unspaced(uint32_t code)
{
    return (code >= 0x3040 && code < 0x3100) || (code >= 0x3400 && code < 0x4DC0) ||
           (code >= 0x4E00 && code < 0xA000) || (code >= 0xF900 && code < 0xFB00) ||
           (code >= 0x20000 && code < 0x40000);
}

/* Of eight bytes, those that begin a code point. */
static size_t begun_in_8(const uint8_t *at)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return 8 - (size_t)(((word >> 7 & ~word >> 6 & ones) * ones) >> 56);
}

/* Code points; of what is ill-formed, bytes that begin something. */
static size_t count_codes(const uint8_t *at, const uint8_t *end)
{
    size_t count = 0;

    for (; end - at >= 8; at += 8)
        count += begun_in_8(at);
    for (; at < end; at++)
        count += !cp_utf8_is_tail(*at);
    return count;
}

/* Behind so many code points, or the end. */
static const uint8_t *skip_codes(const uint8_t *at, const uint8_t *end, size_t count)
{
    for (; count >= 8 && end - at >= 8; at += 8)
        count -= begun_in_8(at);
    for (; at < end; at++)
        if (!cp_utf8_is_tail(*at) && !count--)
            break;
    return at;
}

/* Whether the model would take the text to end here: at </s>, or what becomes that in lower case. */
static bool ends_at(const uint8_t *at, const uint8_t *end, int how)
{
    return end - at >= 4 && at[1] == '/' && at[3] == '>' &&
           (at[2] == 's' || (at[2] == 'S' && how & CP_PART_LOWERED));
}

/* What is known of the part so far. */
typedef struct {
    bool letter;
    ptrdiff_t capitals; /* less small letters */
} seen;

/* Appends a stretch of the text. Its bytes may be any number, however few code points it has, where
 * they are ill-formed. */
static int take_stretch(const uint8_t *at, const uint8_t *end, int how, seen *seen, cp_bytes *out)
{
    const size_t size = (size_t)(end - at);
    uint8_t *to;

    if (size > SIZE_MAX / 8 || cp_bytes_reserve(out, size * MOST + 1) != CP_OK)
        return CP_NO_MEMORY;
    to = out->data + out->size;
    while (at < end) {
        const cp_form_kind *kind;
        uint32_t code;
        int length;

        if (*at < 0x80) {
            const bool capital = *at >= 'A' && *at <= 'Z', small = *at >= 'a' && *at <= 'z';

            if (*at == '<' && ends_at(at, end, how)) {
                *to++ = ' ';
                at += 4;
                continue;
            }
            seen->letter |= capital | small;
            seen->capitals += capital - small;
            *to++ = *at == '\n' ? ' ' : *at;
            at++;
            continue;
        }
        length = cp_utf8_decode(at, end, &code);
        at += length < 0 ? -length : length;
        kind = cp_form_of(code);
        seen->letter |= (kind->traits & CP_FORM_ALPHA) != 0;
        if (code < CASED_END)
            seen->capitals += ((kind->traits & CP_FORM_UPPER) != 0) - ((kind->traits & CP_FORM_LOWER) != 0);
        if (how & CP_PART_SPACED && is_unspaced(code)) {
            *to++ = ' ';
            to += cp_utf8_encode(code, to);
            *to++ = ' ';
        } else
            to += cp_utf8_encode(code, to);
    }
    out->size = (size_t)(to - out->data);
    return CP_OK;
}

/* Appends a text in lower case. */
static int take_lowered(const uint8_t *begin, const uint8_t *end, cp_bytes *out)
{
    const uint8_t *at = begin;
    uint8_t *to;

    if (cp_bytes_reserve(out, (size_t)(end - begin) * MOST + 1) != CP_OK)
        return CP_NO_MEMORY;
    to = out->data + out->size;
    while (at < end) {
        uint32_t code;
        int length = cp_utf8_decode(at, end, &code);

        length = length < 0 ? -length : length;
        to += cp_utf8_encode(cp_lower_in(code, begin, at, at + length, end), to);
        if (code == CP_DOTTED_I)
            to += cp_utf8_encode(CP_DOT_ABOVE, to);
        at += length;
    }
    out->size = (size_t)(to - out->data);
    return CP_OK;
}

int cp_part_add(const cp_part *part, const uint8_t *text, size_t len, cp_bytes *spare,
                cp_bytes *out)
{
    const uint8_t *const end = len ? text + len : text, *at = text;
    const size_t codes = part->characters && len > part->characters ? count_codes(text, end) : 0;
    const size_t stretches = part->stretch ? part->characters / part->stretch : 0;
    seen seen = {0};
    int status = CP_OK;

    spare->size = 0;
    if (codes <= part->characters)
        status = take_stretch(text, end, part->how, &seen, spare);
    else if (stretches < 2)
        status = take_stretch(text, skip_codes(text, end, part->characters), part->how, &seen, spare);
    else
        for (size_t i = 0, place = 0; i < stretches && status == CP_OK; i++) {
            const size_t start = (codes - part->stretch) * i / (stretches - 1);
            const uint8_t *stop;

            at = skip_codes(at, end, start - place);
            stop = skip_codes(at, end, part->stretch);
            if (i)
                spare->data[spare->size++] = ' '; /* behind the one before there is room */
            status = take_stretch(at, stop, part->how, &seen, spare);
            place = start;
        }
    if (status != CP_OK || !seen.letter)
        return status;
    if (part->how & CP_PART_LOWERED && seen.capitals > 0) {
        if ((status = take_lowered(spare->data, spare->data + spare->size, out)) != CP_OK)
            return status;
    } else {
        if (cp_bytes_reserve(out, spare->size + 1) != CP_OK)
            return CP_NO_MEMORY;
        memcpy(out->data + out->size, spare->data, spare->size);
        out->size += spare->size;
    }
    out->data[out->size++] = '\n';
    return CP_OK;
}
