#include "kinds.h"

#include <string.h>

#include "unicode_tables.h"
#include "utf8.h"

/* The eight lowest traits are counted, one byte each of a 64-bit sum: adding one number a character
 * counts them all, for up to 255 characters. */
#define COUNTED 8
#define BIT(traits, i) ((uint64_t)((traits) >> (i) & 1) << 8 * (i))
#define SPREAD(t) \
    (BIT(t, 0) | BIT(t, 1) | BIT(t, 2) | BIT(t, 3) | BIT(t, 4) | BIT(t, 5) | BIT(t, 6) | BIT(t, 7))
#define SPREAD4(t) SPREAD(t), SPREAD(t + 1), SPREAD(t + 2), SPREAD(t + 3)
#define SPREAD16(t) SPREAD4(t), SPREAD4(t + 4), SPREAD4(t + 8), SPREAD4(t + 12)
#define SPREAD64(t) SPREAD16(t), SPREAD16(t + 16), SPREAD16(t + 32), SPREAD16(t + 48)

static const uint64_t spread[256] = {SPREAD64(0), SPREAD64(64), SPREAD64(128), SPREAD64(192)};

typedef struct {
    uint64_t sum; /* of this block */
    uint64_t total[COUNTED];
    uint64_t words, alphabetic;
    unsigned printed; /* whether the last character was, 0 or 1 */
    unsigned letter;  /* whether the word under way has a letter, 0 or 1 */
} counter;

static inline void add(counter *c, uint8_t kind)
{
    unsigned traits = cp_unicode_kinds[kind].traits & 0xFF;
    unsigned printed = traits & CP_PRINTED, letter = (traits & CP_LETTER) != 0;

    c->sum += spread[traits];
    c->words += printed & ~c->printed;
    c->alphabetic += letter & ~c->letter;
    c->letter = (c->letter | letter) & printed;
    c->printed = printed;
}

static inline void flush(counter *c)
{
    for (int i = 0; i < COUNTED; i++)
        c->total[i] += c->sum >> 8 * i & 0xFF;
    c->sum = 0;
}

void cp_kinds_count(const uint8_t *text, size_t len, cp_kind_counts *out)
{
    const uint8_t *at = text, *const end = len ? text + len : text;
    uint64_t characters = 0;
    counter c = {0};

    while (at < end) {
        unsigned block = 0;

        for (; block < 255 && at < end; block++) {
            uint32_t code;
            int length;

            if (*at < 0x80) {
                add(&c, cp_unicode_kind_of(*at++));
                continue;
            }
            length = cp_utf8_decode(at, end, &code);
            add(&c, cp_unicode_kind_of(code));
            at += length < 0 ? -length : length;
        }
        characters += block;
        flush(&c);
    }
    *out = (cp_kind_counts){
        .characters = characters,
        .printed = c.total[0],
        .visible = c.total[1],
        .letters = c.total[2],
        .marks = c.total[3],
        .upper = c.total[4],
        .digits = c.total[5],
        .punctuation = c.total[6],
        .symbols = c.total[7],
        .words = c.words,
        .alphabetic_words = c.alphabetic,
    };
}

uint64_t cp_bytes_equal(const uint8_t *text, size_t len, uint8_t byte)
{
    uint64_t found = 0;

    for (size_t i = 0; i < len; i++)
        found += text[i] == byte;
    return found;
}

uint64_t cp_ellipses(const uint8_t *text, size_t len)
{
    static const uint8_t one[3] = {0xE2, 0x80, 0xA6}; /* U+2026 */
    const uint8_t *at = text, *const end = len ? text + len : text;
    uint64_t found = 0;

    while (end - at >= 3 && (at = memchr(at, '.', (size_t)(end - at) - 2))) {
        int three = at[1] == '.' && at[2] == '.';

        found += (uint64_t)three;
        at += three ? 3 : 1;
    }
    at = text;
    while (end - at >= 3 && (at = memchr(at, one[0], (size_t)(end - at) - 2))) {
        found += memcmp(at, one, 3) == 0;
        at++;
    }
    return found;
}
