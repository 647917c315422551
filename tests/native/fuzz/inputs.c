/* Inputs made up of what texts are made of, and of what they should not be. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static const char *const pieces[] = {
    /* words */
    "the", "The", "re", "a", "I", "quick", "Straße", "GRÜẞE", "été", "cafe\u0301", "İstanbul",
    "ışık", "Привет", "МИР", "Όμηρος", "ΟΔΟΣ", "한국어", "دنیا", "می\u200Cخواهم", "हिन्दी", "क्\u200Dष",
    "বাংলা", "தமிழ்", "ქართული", "አማርኛ", "ᎠᎡ", "ꭰ", "ǅ", "ﬁ", "ʼn",
    /* clusters */
    "中文", "我", "々", "〇", "ー", "か\u3099", "ﾞ", "ｶﾞ", "ไทย", "ที่", "ໄລ", "ខ្មែរ", "မြန်မာ", "བོད",
    "葛\U000E0100", "𠮷", "㈠",
    /* what normalisation changes */
    "ΑΣ", "Σ", "\u0345", "각", "\u1100\u1161\u11A8", "e\u0323\u0301", "\u0F73", "ﷺ", "ｶ", "´", "．", "，",
    "</s>", "</S>",
    /* numbers */
    "0", "3.14", "1,000", "2024", "٢٠", "๒๕", "½", "Ⅷ", "①", "１２",
    /* joiners, marks and signs by themselves */
    "\u200C", "\u200D", "\uFE0F", "\u0301", "\u00AD", "\uFEFF", "\u200B", "👩\u200D💻", "☺\uFE0F",
    "\uFFFD", "\uFFFF", "\U0010FFFF", "\u0378",
    /* spaces and ends of lines */
    " ", " ", " ", " ", "\n", "\n", "\r\n", "\r", "\t", "\n\n", "\n \n", "\v", "\f", "\x1C", "\x85",
    "\xC2\x85", "\u00A0", "\u2028", "\u2029", "\u3000", "\u180E",
    /* ends of sentences, bullets, brackets */
    ".", "!", "?", "...", "…", "。", "！", "।", "؟", ". ", ".\"", "”", "’s", "'", "-", "- ", "* ",
    "• ", "● ", "#", "##", "(", ")", "[", "]", "{", "}", "};", ",", ";", ":", "|", "_", "/", "\\",
    /* markup and addresses */
    "<", ">", "</", "/>", "<p>", "</p>", "<a href=\"", "<br/>", "<!--", "-->", "<![CDATA[", "]]>",
    "<script>", "</script>", "<style", "<div class='x'>", "&", "&amp;", "&#38;", "&#x26;", "&#",
    "&nbsp", ";", "http://", "https://", "HTTPS://", "www.", "example.org", "/a?b=1&c=2#d", "@",
    "a@example.org", "mailto:", "://", "ftp://", "%20", "[x](http://a.b/c)", "![", "](", "\"",
    "The end.\n", "- an item\n", "one two three four five six seven eight nine ten. ",
    /* script and style */
    "function", "function (a, b) {", "document.", "window.", "a(", "var ", "let a = ", "=", ") => {",
    "});\n", "}(", "$(", "color: ", "font-family:", "margin", "1px;\n", ".a {", "@media ", "CDATA", "//",
    /* ill-formed */
    "\x80", "\xBF", "\xC0\xAF", "\xC2", "\xC3", "\xDF", "\xE0\x80", "\xE0\xA0", "\xE2\x82",
    "\xED\xA0\x80", "\xED\x9F", "\xEF\xBB", "\xF0\x80", "\xF0\x9F\x98", "\xF1\x80", "\xF4\x8F\xBF",
    "\xF4\x90\x80\x80", "\xF5", "\xFE", "\xFF", "\xE4\xB8", "\xF0\xA0\xAE",
};

enum { PIECES = sizeof pieces / sizeof *pieces };

uint64_t fuzz_random(uint64_t *state)
{
    *state += CP_HASH_START;
    return cp_hash_mix(*state);
}

/* Below `limit`, which is not 0. */
static size_t below(uint64_t *state, size_t limit)
{
    return (size_t)(fuzz_random(state) % limit);
}

size_t fuzz_make(uint64_t seed, uint8_t *out, size_t room)
{
    uint64_t state = seed;
    size_t size = 1 + FUZZ_PARAMETERS, most = below(&state, 8) ? 200 : 2000;
    /* Few distinct pieces in one input, so that things occur more than once. */
    size_t first = below(&state, PIECES), kinds = 1 + below(&state, below(&state, 2) ? 6 : PIECES);

    most = size + below(&state, most);
    most = most < room ? most : room;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)fuzz_random(&state);
    while (size < most) {
        uint8_t bytes[8];
        const void *from = bytes;
        size_t length, chance = below(&state, 32), text = size - 1 - FUZZ_PARAMETERS;

        if (chance == 0) { /* bytes */
            uint64_t any = fuzz_random(&state);

            memcpy(bytes, &any, sizeof any);
            length = below(&state, 1 + sizeof bytes);
        } else if (chance == 1) { /* any code point, surrogates too */
            length = (size_t)cp_utf8_encode((uint32_t)below(&state, 0x110000), bytes);
        } else if (chance == 2 && text) { /* what was there before */
            length = 1 + below(&state, text);
            from = out + size - length;
        } else if (chance == 3 && text) { /* its last bytes, again and again */
            length = 1 + below(&state, text < 80 ? text : 80);
            for (size_t times = below(&state, 12); times && size + length < most; times--) {
                memcpy(out + size, out + size - length, length);
                size += length;
            }
            continue;
        } else {
            from = pieces[(first + below(&state, kinds)) % PIECES];
            length = strlen(from);
        }
        length = length < most - size ? length : most - size;
        if (length)
            memmove(out + size, from, length);
        size += length;
    }
    return size;
}
