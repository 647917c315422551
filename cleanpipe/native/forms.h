/* Unicode's normalisation forms, and lower case as Python's str.lower() has it. */
#ifndef CP_FORMS_H
#define CP_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "form_tables.h"
#include "tokens.h"
#include "utf8.h"

#define CP_DOTTED_I 0x130u /* İ: its lower case is i and CP_DOT_ABOVE, the only one of two */
#define CP_DOT_ABOVE 0x307u
#define CP_SIGMA 0x3A3u
#define CP_SMALL_SIGMA 0x3C3u
#define CP_FINAL_SIGMA 0x3C2u

enum {
    CP_HANGUL = 0xAC00, /* the first of the syllables, which are composed by arithmetic */
    CP_HANGUL_END = 0xD7A4,
    CP_HANGUL_LEAD = 0x1100,
    CP_HANGUL_LEADS = 19,
    CP_HANGUL_VOWEL = 0x1161,
    CP_HANGUL_VOWELS = 21,
    CP_HANGUL_TAIL = 0x11A7, /* one before the first */
    CP_HANGUL_TAILS = 28,
};

static inline bool cp_is_hangul(uint32_t code)
{
    return code >= CP_HANGUL && code < CP_HANGUL_END;
}

/* Writes a syllable's two or three letters; returns their number. */
static inline int cp_hangul_letters(uint32_t syllable, uint32_t out[3])
{
    uint32_t rest = syllable - CP_HANGUL, tail = rest % CP_HANGUL_TAILS;

    rest /= CP_HANGUL_TAILS;
    out[0] = CP_HANGUL_LEAD + rest / CP_HANGUL_VOWELS;
    out[1] = CP_HANGUL_VOWEL + rest % CP_HANGUL_VOWELS;
    out[2] = CP_HANGUL_TAIL + tail;
    return tail ? 3 : 2;
}

/* Code points on their way to a form, of any number. The caller owns it: zero-initialise, release
 * with cp_row_free; setting `count` to 0 begins another. */
typedef struct {
    uint32_t *code;  /* the code point, and its combining class in the highest byte */
    uint32_t *spare; /* of as much room */
    size_t count;
    size_t room;
} cp_row;

void cp_row_free(cp_row *row);

/* Adds a code point, or its full decomposition: the compatible one, or just the canonical one.
 * CP_OK or CP_NO_MEMORY. */
int cp_row_add(cp_row *row, uint32_t code);
int cp_row_decompose(cp_row *row, uint32_t code, bool compatible);

/* Puts the marks between starters in canonical order, in linear time. */
void cp_row_order(cp_row *row);

/* Composes what is in order (Unicode 3.11, D117). */
void cp_row_compose(cp_row *row);

static inline uint32_t cp_row_code(const cp_row *row, size_t at)
{
    return row->code[at] & 0xFFFFFF;
}

/* Whether a capital sigma becomes a final one: of the cased letters about it, but for what is
 * ignorable, there is one before and none behind. It stands between `at` and `after`; the text is
 * [begin, end). Over a whole text this takes linear time. */
bool cp_is_final_sigma(const uint8_t *begin, const uint8_t *at, const uint8_t *after,
                       const uint8_t *end);

/* The lower case of a code point, where it is neither sigma nor CP_DOTTED_I: of this, the first. */
static inline uint32_t cp_lower(uint32_t code, const cp_form_kind *kind)
{
    return code + (uint32_t)kind->lower;
}

/* The same of any but CP_DOTTED_I, as it stands between `at` and `after` in [begin, end). */
static inline uint32_t cp_lower_in(uint32_t code, const uint8_t *begin, const uint8_t *at,
                                   const uint8_t *after, const uint8_t *end)
{
    if (code != CP_SIGMA)
        return cp_lower(code, cp_form_of(code));
    return cp_is_final_sigma(begin, at, after, end) ? CP_FINAL_SIGMA : CP_SMALL_SIGMA;
}

#endif
