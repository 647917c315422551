#include "residue.h"

#include <stddef.h>
#include <string.h>

#define A8(c, x) [c] = x, [c + 1] = x, [c + 2] = x, [c + 3] = x, [c + 4] = x, [c + 5] = x, \
                 [c + 6] = x, [c + 7] = x
#define ALPHABET(c, x) A8(c, x), A8(c + 8, x), A8(c + 16, x), [c + 24] = x, [c + 25] = x

enum {
    LETTER = 1,    /* in a property's name; so is - */
    NAME = 2,      /* in a name of JavaScript */
    BLANK = 4,     /* of ASCII */
    SELECTOR = 8,  /* in the head of a rule of CSS */
    COMMENT = 16,  /* all that a line of comment marks is made of, beside CDATA */
    LAST = 32,     /* what residue ends with */
    STATEMENT = 64, /* what a line of a script ends with */

    L = LETTER | NAME | SELECTOR,
    D = NAME | SELECTOR,
};

static const uint8_t classes[256] = {
    ALPHABET('a', L), ALPHABET('A', L),
    A8('0', D), ['8'] = D, ['9'] = D,
    ['_'] = D, ['$'] = NAME, ['-'] = LETTER | SELECTOR | COMMENT | LAST,
    ['\t'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK, ['\r'] = BLANK, [' '] = BLANK | SELECTOR | COMMENT,
    ['.'] = SELECTOR, ['#'] = SELECTOR, [':'] = SELECTOR, ['+'] = SELECTOR, ['~'] = SELECTOR,
    ['>'] = SELECTOR | COMMENT | LAST, ['*'] = SELECTOR | COMMENT,
    ['['] = SELECTOR | COMMENT | LAST | STATEMENT, [']'] = SELECTOR | COMMENT, ['='] = SELECTOR,
    ['"'] = SELECTOR, ['\''] = SELECTOR, ['('] = SELECTOR | LAST | STATEMENT,
    [')'] = SELECTOR | LAST | STATEMENT, ['%'] = SELECTOR, ['@'] = SELECTOR,
    [','] = SELECTOR | LAST | STATEMENT,
    ['/'] = COMMENT | LAST, ['<'] = COMMENT, ['!'] = COMMENT,
    [';'] = LAST | STATEMENT, ['{'] = LAST | STATEMENT, ['}'] = LAST | STATEMENT,
};

static inline bool is(const uint8_t *at, const uint8_t *end, uint8_t wanted)
{
    return at < end && classes[*at] & wanted;
}

static inline const uint8_t *over(const uint8_t *at, const uint8_t *end, uint8_t wanted)
{
    while (is(at, end, wanted))
        at++;
    return at;
}

/* Behind `word`, or NULL where the text does not go on with it. */
static inline const uint8_t *past(const uint8_t *at, const uint8_t *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - at) >= length && !memcmp(at, word, length) ? at + length : NULL;
}

static bool holds(const uint8_t *at, const uint8_t *end, const char *word)
{
    for (; at < end && (at = memchr(at, *word, (size_t)(end - at))); at++)
        if (past(at, end, word))
            return true;
    return false;
}

/* ---- script ---- */

/* Behind `function`: a name or none, names with commas between parentheses, an opening brace. */
static bool is_function(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *name = over(at, end, BLANK);

    if (name > at)
        name = over(name, end, NAME);
    at = over(name, end, BLANK);
    if (at == end || *at++ != '(')
        return false;
    do
        at = over(over(over(at, end, BLANK), end, NAME), end, BLANK);
    while (at < end && *at == ',' && at++);
    if (at == end || *at++ != ')')
        return false;
    at = over(at, end, BLANK);
    return at < end && *at == '{';
}

/* Behind `document.` or `window.`: members, then a call, an index or an assignment. */
static bool is_member(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = at;

    while (is(at, end, NAME) || (at < end && *at == '.'))
        at++;
    if (at == from)
        return false;
    at = over(at, end, BLANK);
    return at < end && (*at == '(' || *at == '[' || *at == '=');
}

/* `function`, `document.` and `window.`, none of them in or behind another name. */
static bool holds_script(const uint8_t *at, const uint8_t *end)
{
    const bool called = end[-1] == ')'; /* as in a line of Python */
    const uint8_t *behind;
    bool name = false; /* whether a name goes on here */

    for (; at < end; at++) {
        if (!name && *at >= 'd' && *at <= 'w') {
            if ((behind = past(at, end, "function")) && is_function(behind, end))
                return true;
            if (!called && ((behind = past(at, end, "document.")) ||
                            (behind = past(at, end, "window."))) && is_member(behind, end))
                return true;
        }
        name = *at == '.' || *at >= 0x80 || classes[*at] & NAME;
    }
    return false;
}

/* `var`, `let` or `const`, a name, and a single `=`. */
static bool is_declaration(const uint8_t *at, const uint8_t *end)
{
    static const char *const words[] = {"var", "let", "const"};

    for (int i = 0; i < 3; i++) {
        const uint8_t *behind = past(at, end, words[i]), *name;

        if (!behind || !is(behind, end, BLANK))
            continue;
        name = over(behind, end, BLANK);
        if ((behind = over(name, end, NAME)) == name)
            return false;
        behind = over(behind, end, BLANK);
        return end - behind >= 2 && *behind == '=' && behind[1] != '=';
    }
    return false;
}

/* What pages call before anything is defined. In a shell, $(date) has a value. */
static bool is_page_call(const uint8_t *at, const uint8_t *end)
{
    static const char *const words[] = {
        "jQuery(", "gtag(", "ga(", "fbq(", "_gaq.push(", "_hmt.push(", "dataLayer.push(",
        "googletag.", "(adsbygoogle", "adsbygoogle.push(",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (past(at, end, words[i]))
            return true;
    return end[-1] != ')' && past(at, end, "$(");
}

/* `) => {` at the end. */
static bool ends_with_arrow(const uint8_t *at, const uint8_t *end)
{
    static const char marks[] = ")=>{"; /* blanks between, but not in the arrow */

    for (int i = 3; i >= 0; i--) {
        if (end == at || *--end != (uint8_t)marks[i])
            return false;
        while (i != 2 && end > at && classes[end[-1]] & BLANK)
            end--;
    }
    return true;
}

/* ---- style ---- */

/* A name that ends with - begins all that begin so. */
static bool is_property(const uint8_t *at, const uint8_t *end)
{
    static const char *const names[] = {
        "-moz-", "-ms-", "-o-", "-webkit-", "align-", "animation", "animation-", "background",
        "background-", "border", "border-", "bottom", "box-", "clear", "clip", "color", "content",
        "cursor", "direction", "display", "filter", "flex", "flex-", "float", "font", "font-",
        "grid-", "height", "justify-", "left", "letter-", "line-", "list-", "margin", "margin-",
        "max-", "min-", "opacity", "order", "outline", "outline-", "overflow", "overflow-",
        "padding", "padding-", "pointer-", "position", "right", "src", "table-", "text-", "top",
        "transform", "transform-", "transition", "transition-", "vertical-", "visibility", "white-",
        "width", "word-", "z-", "zoom",
    };
    const size_t size = (size_t)(end - at);

    for (size_t i = 0; size && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);

        if (size >= length && !memcmp(at, names[i], length) &&
            (size == length || names[i][length - 1] == '-'))
            return true;
    }
    return false;
}

/* A property, a colon and a value, up to a semicolon, a closing brace or `end`. A plain word with a
 * value of several plain words is none: such are glossaries made of. */
static bool is_property_set(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *from = at, *const behind = over(at, end, LETTER);
    bool hyphen = false;
    int words = 0;

    for (; at < behind; at++)
        hyphen = hyphen || *at == '-';
    if (!is_property(from, behind))
        return false;
    at = over(behind, end, BLANK);
    if (at == end || *at++ != ':')
        return false;
    for (bool word = false; at < end && *at != ';' && *at != '}'; at++) {
        if (classes[*at] & BLANK) {
            word = false;
            continue;
        }
        words += !word;
        word = true;
        if (hyphen || (*at < 0x80 && !(classes[*at] & LETTER) && *at != ',' && *at != '.'))
            return true;
        if (*at >= 0x80)
            return false;
    }
    return words == 1;
}

/* `selector {` with a property behind it, or `.class {` or `#name {` alone. */
static bool is_style_rule(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *brace = over(at, end, SELECTOR | BLANK);

    if (brace == at || brace == end || *brace != '{')
        return false;
    if (brace + 1 == end)
        return (*at == '.' || *at == '#') && (is(at + 1, end, LETTER) || at[1] == '_') &&
               !memchr(at, '=', (size_t)(brace - at)) && !past(at, end, "#define");
    return is_property_set(over(brace + 1, end, BLANK), end);
}

static bool is_at_rule(const uint8_t *at, const uint8_t *end)
{
    static const char *const words[] = {
        "media", "import", "charset", "font-face", "keyframes", "supports", "page", "namespace",
        "-webkit-keyframes", "-moz-keyframes", "-o-keyframes", "-ms-viewport", "viewport",
    };

    if (*at++ != '@' || end[-1] == ')')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const uint8_t *behind = past(at, end, words[i]);

        if (behind && !is(behind, end, LETTER | NAME) &&
            (end[-1] != ',' || memchr(behind, '(', (size_t)(end - behind))))
            return true;
    }
    return false;
}

/* ---- what is around both ---- */

/* Marks that hide a script from what does not know scripts: //<![CDATA[ and so on. */
static bool is_comment_mark(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *const from = at;

    while (at < end) {
        const uint8_t *behind = past(at, end, "CDATA");

        if (!behind && !is(at, end, COMMENT))
            return false;
        at = behind ? behind : at + 1;
    }
    return holds(from, end, "CDATA[") || holds(from, end, "]]>") ||
           (holds(from, end, "//") && (holds(from, end, "<!--") || holds(from, end, "-->")));
}

bool cp_is_residue(const uint8_t *at, const uint8_t *end)
{
    if (at == end || !(classes[end[-1]] & LAST))
        return false;
    if (classes[end[-1]] & COMMENT && is_comment_mark(at, end))
        return true;
    if (!(classes[end[-1]] & STATEMENT))
        return false;
    if (end[-1] == ';' && (past(at, end, "})") || past(at, end, "}(")))
        return true;
    return is_declaration(at, end) || is_page_call(at, end) || is_at_rule(at, end) ||
           (end[-1] == '{' && ends_with_arrow(at, end)) ||
           ((end[-1] == ';' || end[-1] == '}') && is_property_set(at, end)) ||
           ((end[-1] == ';' || end[-1] == '}' || end[-1] == '{') && is_style_rule(at, end)) ||
           holds_script(at, end);
}
