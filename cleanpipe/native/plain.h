/* A text as it is shown, each byte in its place: HTML tags blank, escaped characters as they are.
 * For comparing texts (docs/contamination.md), where the measures of markup.h count.
 *
 *   tag        `<`, a name, attributes, an optional `/`, `>`; or `</`, a name, `>`; or `<!`, letters,
 *              up to 64 bytes, `>`. An attribute is a name and perhaps `=` and a value, in quotes or
 *              without white space; at most two have no value, so that prose between angle brackets
 *              is none: `if a < b and c = 5 then d > e`. No `<` is in a tag.
 *              A tag is blanks, but for what is in quotes and longer than CP_PLAIN_VALUE bytes: an
 *              alt text may be what is looked for.
 *   entity     `&lt;` `&gt;` `&amp;` `&quot;` `&apos;` and numbers (`&#20013;`, `&#x4E2D;`) are their
 *              characters, others of docs/measures.md blank
 *   \uXXXX     as in JSON, two of them for a surrogate pair, is its character
 *
 * A character that is shorter than what stood for it is followed by silent ones (docs/tokens.md), so
 * that its word goes on; by blanks where it is none of a word, or where 1, 2 or 5 bytes are left,
 * which no silent ones fill. */
#ifndef CP_PLAIN_H
#define CP_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#define CP_PLAIN_VALUE 64

/* Writes the `len` bytes at `out`. In one pass, in time that grows with the length alone. */
void cp_plain_text(const uint8_t *text, size_t len, uint8_t *out);

#endif
