/* UTF-8, well-formed or not.
 *
 * An ill-formed sequence is one "maximal subpart" (Unicode 3.9, U+FFFD Substitution of Maximal
 * Subparts; also the W3C's and Python's practice): the longest prefix of a well-formed sequence,
 * or else one byte. Each counts as one U+FFFD. Nothing here reads at or behind `end`. */
#ifndef CP_UTF8_H
#define CP_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define CP_REPLACEMENT 0xFFFDu

static inline int cp_utf8_is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Decodes the sequence at `at`, where at < end. Returns its length in bytes, 1 to 4, negated
 * (-1 to -3) if it is ill-formed; *code is then CP_REPLACEMENT. */
static inline int cp_utf8_decode(const uint8_t *at, const uint8_t *end, uint32_t *code)
{
    uint32_t lead = at[0];
    uint8_t low = 0x80, high = 0xBF; /* bounds of the second byte: Unicode, table 3-7 */
    ptrdiff_t left = end - at;

    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    *code = CP_REPLACEMENT;
    if (lead < 0xC2 || lead > 0xF4)
        return -1;
    if (lead < 0xE0) {
        if (left < 2 || !cp_utf8_is_tail(at[1]))
            return -1;
        *code = (lead & 0x1F) << 6 | (at[1] & 0x3F);
        return 2;
    }
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    if (left < 2 || at[1] < low || at[1] > high)
        return -1;
    if (left < 3 || !cp_utf8_is_tail(at[2]))
        return -2;
    if (lead < 0xF0) {
        *code = (lead & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
        return 3;
    }
    if (left < 4 || !cp_utf8_is_tail(at[3]))
        return -3;
    *code = (lead & 0x07) << 18 | (uint32_t)(at[1] & 0x3F) << 12 | (uint32_t)(at[2] & 0x3F) << 6 |
            (at[3] & 0x3F);
    return 4;
}

/* Writes a code point (a Unicode scalar value) to `out`; returns its length in bytes, 1 to 4. */
static inline int cp_utf8_encode(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xC0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xE0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | code >> 18);
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (code & 0x3F));
    return 4;
}

/* The number of ill-formed sequences in `text`, which may be NULL when len is 0. */
uint64_t cp_utf8_ill_formed(const uint8_t *text, size_t len);

#endif
