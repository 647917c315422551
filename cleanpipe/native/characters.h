/* Reading a text's characters forwards and backwards, with what the measures know of them.
 *
 * A byte below 0x80 or from 0xC0 on always begins a character, ill-formed text or not, so a
 * reader may jump to any such byte. Nothing here reads outside of [begin, end). */
#ifndef CP_CHARACTERS_H
#define CP_CHARACTERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unicode_tables.h"
#include "utf8.h"

/* The traits (unicode_tables.h) of the character at `at` < end; *length is its bytes, 1 to 4. */
static inline uint16_t cp_traits_at(const uint8_t *at, const uint8_t *end, int *length)
{
    uint32_t code;
    int bytes = cp_utf8_decode(at, end, &code);

    *length = bytes < 0 ? -bytes : bytes;
    return cp_unicode_kinds[cp_unicode_kind_of(code)].traits;
}

/* The code point that ends at `at` > begin, and its bytes; where those are ill-formed
 * CP_REPLACEMENT, and 1. */
static inline uint32_t cp_code_before(const uint8_t *begin, const uint8_t *at, int *length)
{
    uint32_t code;

    *length = 1;
    if (at[-1] < 0x80)
        return at[-1];
    for (int bytes = 2; bytes <= 4 && bytes <= at - begin; bytes++)
        if (!cp_utf8_is_tail(at[-bytes])) {
            if (cp_utf8_decode(at - bytes, at, &code) != bytes)
                break;
            *length = bytes;
            return code;
        }
    return CP_REPLACEMENT;
}

static inline int cp_is_space(uint32_t code)
{
    return !cp_unicode_kinds[cp_unicode_kind_of(code)].traits;
}

/* The first place from `at` on that is not whitespace, or `end`. */
static inline const uint8_t *cp_skip_space(const uint8_t *at, const uint8_t *end)
{
    int length;

    while (at < end && (*at <= ' ' || *at >= 0x80) && !cp_traits_at(at, end, &length))
        at += length;
    return at;
}

/* `end`, less the whitespace before it, but not before `begin`. */
static inline const uint8_t *cp_trim_space(const uint8_t *begin, const uint8_t *end)
{
    int length;

    while (end > begin && (end[-1] <= ' ' || end[-1] >= 0x80) &&
           cp_is_space(cp_code_before(begin, end, &length)))
        end -= length;
    return end;
}

/* The first byte from `at` on that the table marks with 1 (others with 0), or `end`. */
static inline const uint8_t *cp_skip_bytes(const uint8_t *at, const uint8_t *end,
                                           const uint8_t table[256])
{
    for (; end - at >= 8; at += 8) {
        unsigned marked = 0;

        for (int i = 0; i < 8; i++)
            marked |= (unsigned)table[at[i]] << i;
        /* Straight to the first: a loop over the eight would be mispredicted. */
        if (marked) {
            at += (marked & 15) ? 0 : 4;
            marked = (marked & 15) ? marked : marked >> 4;
            at += (marked & 3) ? 0 : 2;
            marked = (marked & 3) ? marked : marked >> 2;
            return at + !(marked & 1);
        }
    }
    while (at < end && !table[*at])
        at++;
    return at;
}

static inline uint64_t cp_high_bits(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, 8);
    return word & UINT64_C(0x8080808080808080);
}

/* The number of code points in [at, end). */
static inline uint64_t cp_characters(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *const begin = at;
    uint64_t count = 0;
    uint32_t code;

    while (at < end) {
        const uint8_t *const from = at;

        while (end - at >= 8 && !cp_high_bits(at))
            at += 8;
        if (end - at < 8 && end - begin >= 8 && !cp_high_bits(end - 8))
            return count + (uint64_t)(end - from);
        while (at < end && *at < 0x80)
            at++;
        count += (uint64_t)(at - from);
        for (; at < end && *at >= 0x80; count++) {
            /* Most of what has three bytes; the rest has bounds of its own. */
            if (end - at >= 3 && *at > 0xE0 && *at < 0xED && cp_utf8_is_tail(at[1]) &&
                cp_utf8_is_tail(at[2])) {
                at += 3;
            } else {
                int length = cp_utf8_decode(at, end, &code);
                at += length < 0 ? -length : length;
            }
        }
    }
    return count;
}

#endif
