/* See texts.h. Words are drawn so that few are frequent and many are rare, as in real text. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *at;
    uint64_t state;
    uint32_t script; /* of a mixed text */
} writer;

/* A 64-bit linear congruential generator (Knuth, MMIX); its high bits are the good ones. */
static uint32_t below(writer *w, uint32_t bound)
{
    w->state = w->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((w->state >> 32) * bound >> 32);
}

/* The cube makes the first of `bound` things some hundred times as frequent as the last. */
static uint32_t skewed(writer *w, uint32_t bound)
{
    uint64_t x = below(w, 1 << 16);

    return (uint32_t)((x * x * x >> 16) * bound >> 32);
}

static void put(writer *w, const char *bytes)
{
    size_t len = strlen(bytes);

    memcpy(w->at, bytes, len);
    w->at += len;
}

static void put_point(writer *w, uint32_t point)
{
    if (point < 0x80) {
        *w->at++ = (uint8_t)point;
    } else if (point < 0x800) {
        *w->at++ = (uint8_t)(0xC0 | point >> 6);
        *w->at++ = (uint8_t)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *w->at++ = (uint8_t)(0xE0 | point >> 12);
        *w->at++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *w->at++ = (uint8_t)(0x80 | (point & 0x3F));
    } else {
        *w->at++ = (uint8_t)(0xF0 | point >> 18);
        *w->at++ = (uint8_t)(0x80 | (point >> 12 & 0x3F));
        *w->at++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *w->at++ = (uint8_t)(0x80 | (point & 0x3F));
    }
}

/* The same word for the same number: letters are drawn from a generator that begins with it. */
static void numbered_word(writer *w, uint32_t number, uint32_t first, uint32_t letters,
                          bool capital)
{
    writer own = {.at = w->at, .state = number * UINT64_C(0x9E3779B97F4A7C15) + first};
    uint32_t length = 2 + below(&own, 4) + below(&own, 6);

    for (uint32_t i = 0; i < length; i++)
        put_point(&own, first + skewed(&own, letters) - (capital && !i ? 'a' - 'A' : 0));
    w->at = own.at;
}

static void english_sentence(writer *w)
{
    static const char *const frequent[] = {"the", "of", "and", "to",   "in", "a",
                                           "is",  "be", "that", "with", "on", "for"};
    uint32_t words = 4 + below(w, 18);

    for (uint32_t i = 0; i < words; i++) {
        if (i)
            put(w, below(w, 12) ? " " : ", ");
        if (i && below(w, 3) == 0)
            put(w, frequent[below(w, sizeof frequent / sizeof *frequent)]);
        else
            numbered_word(w, skewed(w, 20000), 'a', 26, !i || below(w, 20) == 0);
    }
    put(w, below(w, 10) ? "." : "?");
}

static void chinese_sentence(writer *w)
{
    uint32_t words = 3 + below(w, 12);

    for (uint32_t i = 0; i < words; i++) {
        uint32_t word = skewed(w, 5000), characters = 1 + below(w, 3);

        if (i && below(w, 4) == 0)
            put(w, "，");
        for (uint32_t c = 0; c < characters; c++)
            put_point(w, 0x4E00 + (word * 7 + c * 131) % 4000);
    }
    put(w, below(w, 10) ? "。" : "！");
}

static const struct {
    uint32_t first, letters;
} scripts[] = {
    {0x3B1, 24},    /* Greek */
    {0x430, 32},    /* Cyrillic */
    {0x5D0, 27},    /* Hebrew */
    {0x627, 36},    /* Arabic, vowel signs too */
    {0x915, 55},    /* Devanagari, vowel signs too */
    {0xE01, 57},    /* Thai, vowel signs too */
    {0x3042, 80},   /* Hiragana */
    {0x30A2, 80},   /* Katakana */
    {0xAC00, 2000}, /* Hangul */
    {0xE0, 22},     /* Latin, each letter with an accent */
};

enum { SCRIPTS = sizeof scripts / sizeof *scripts };

/* A sentence in the script of the text, one in six in another, with what stands beside letters. */
static void mixed_sentence(writer *w)
{
    uint32_t script = below(w, 6) ? w->script : below(w, SCRIPTS + 2), words = 3 + below(w, 12);

    if (script == SCRIPTS) {
        english_sentence(w);
        return;
    }
    if (script > SCRIPTS) {
        chinese_sentence(w);
        return;
    }
    for (uint32_t i = 0; i < words; i++) {
        if (i)
            put(w, " ");
        if (below(w, 16) == 0)
            numbered_word(w, below(w, 5000), '0', 10, false);
        else if (below(w, 40) == 0)
            put(w, "\xF0\x9F\x98\x80"); /* an emoji */
        else
            numbered_word(w, skewed(w, 5000), scripts[script].first, scripts[script].letters,
                          false);
    }
    put(w, ".");
}

/* What surrounds text on a page; each some hundred times over. */
static void boilerplate_line(writer *w)
{
    static const char *const lines[] = {
        "• Home",
        "- Read more...",
        "<a href=\"https://www.example.org/page?id=12&amp;lang=en\">Next page</a>",
        "Contact: someone.else@example.org, +00 1234 5678",
        "All rights reserved #1 © 2024",
        "Skip to content",
    };

    put(w, lines[below(w, sizeof lines / sizeof *lines)]);
}

static void (*const sentences[])(writer *) = {english_sentence, mixed_sentence, chinese_sentence};
const char *const text_names[TEXT_KINDS] = {"English", "mixed", "Chinese"};

enum {
    TEXT_BYTES = 256 << 10,
    LONGEST = 1 << 19, /* no text is: 64 lines, 4 sentences, 22 words, 11 code points of 4 bytes */
};

bool texts_make(size_t kind, texts *out)
{
    writer w = {.at = malloc(TEXT_BYTES + LONGEST), .state = 2024};

    *out = (texts){.bytes = w.at};
    if (!w.at)
        return false;
    while (w.at < out->bytes + TEXT_BYTES && out->count < TEXTS_MOST) {
        uint32_t lines = 1 + skewed(&w, 64);

        w.script = below(&w, SCRIPTS + 2);
        for (uint32_t i = 0; i < lines; i++) {
            uint32_t number = below(&w, 8) ? 1 + below(&w, 4) : 0;

            if (!number)
                boilerplate_line(&w);
            for (uint32_t s = 0; s < number; s++) {
                if (s && kind != TEXT_KINDS - 1)
                    put(&w, " ");
                sentences[kind](&w);
            }
            put(&w, below(&w, 5) ? "\n" : "\n\n");
        }
        out->end[out->count++] = (size_t)(w.at - out->bytes);
    }
    return true;
}
