/* Counts over the lines and paragraphs of a text, as docs/measures.md defines both: without the
 * whitespace at their ends. Duplicates are found by a salted hash and confirmed byte by byte, so
 * no count depends on the salt, and without it nobody can write lines that collide.
 *
 * Time grows with the length of the text only. Any number of threads may run this, each with a
 * scratch of its own. */
#ifndef CP_LINES_H
#define CP_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h" /* CP_OK, CP_NO_MEMORY, CP_TOO_LONG */

/* What to count beside `lines`; together with |. A count that is not wanted is not to be read. */
enum {
    CP_LINES_EDGES = 1,                 /* bullets, ellipses, terminal */
    CP_LINES_CHARACTERS = 2,            /* short_lines, characters */
    CP_LINES_DUPLICATES = 4,            /* duplicates, duplicate_characters */
    CP_LINES_PARAGRAPHS = 8,            /* paragraphs, paragraph_characters */
    CP_LINES_DUPLICATE_PARAGRAPHS = 16, /* those, and the two of duplicate paragraphs */
    CP_LINES_RESIDUE = 32,              /* residue */
    CP_LINES_ALL = 63,
};

#define CP_SHORT_LINE 30 /* characters: a line of fewer is short */

typedef struct {
    uint64_t lines;
    uint64_t bullets;  /* lines that begin with a bullet */
    uint64_t ellipses; /* lines that end with ... or its one character */
    uint64_t terminal; /* lines that end with terminal punctuation */
    uint64_t short_lines;
    uint64_t residue;    /* left-over script and style (residue.h) */
    uint64_t characters; /* code points in all lines */
    uint64_t duplicates; /* lines equal to an earlier one */
    uint64_t duplicate_characters;
    uint64_t paragraphs;
    uint64_t paragraph_characters;
    uint64_t duplicate_paragraphs;
    uint64_t duplicate_paragraph_characters;
} cp_line_counts;

/* The different spans met so far in one text. */
typedef struct {
    struct cp_line_seen {
        uint64_t hash;
        uint32_t start, end;
    } *seen;
    size_t count, capacity;
    uint32_t *slots; /* open addressing: 0 for empty, or 1 + a place in `seen` */
    size_t size;     /* slots in use for this text, a power of two or 0 */
    size_t slot_capacity;
} cp_line_set;

/* The caller owns it: zero-initialise, put a random secret in `salt`, use for any number of texts,
 * release with cp_lines_free. A text pays for its own lines only, whatever was before it. */
typedef struct {
    uint64_t salt[2];
    cp_line_set lines, paragraphs;
} cp_lines_scratch;

/* Writes the counts of `text` (may be NULL when len is 0). Returns CP_OK, CP_NO_MEMORY or
 * CP_TOO_LONG; *counts says nothing after those two. */
int cp_lines_count(const uint8_t *text, size_t len, unsigned wanted, cp_lines_scratch *scratch,
                   cp_line_counts *counts);

/* Frees what the scratch holds; its salt stays. */
void cp_lines_free(cp_lines_scratch *scratch);

#endif
