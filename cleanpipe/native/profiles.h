/* Texts as the profiles `words` and `characters` prepare them for a language model, and how many
 * of their tokens the model knows.
 *
 *   sentence    ends at a line feed; behind 。 ！ ？; and behind . ! ? that white space follows. Each
 *               is prepared by itself, and one without tokens is none
 *   words       NFKC, lower case (str.lower), each Nd a 0; a token is a run of \w, or one other
 *               character that is not white space
 *   characters  NFKC, each Nd a 0; a token is a run of \w without U+3400 to U+9FFF, or one other
 *               character that is not white space
 *
 * \w, white space and lower case are Python's, but of the Unicode version of form_tables.h. NUL
 * counts as U+FFFD, for KenLM reads C strings; so does what is ill-formed. Linear time. */
#ifndef CP_PROFILES_H
#define CP_PROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "forms.h"
#include "table.h"
#include "vocabulary.h"

typedef enum { CP_WORDS, CP_CHARACTERS } cp_profile;

/* Numbers in a growing array. */
typedef struct {
    int64_t *number;
    size_t count, room;
} cp_numbers;

/* Any number of texts prepared, and memory that is reused. Zero-initialise; release with
 * cp_prepared_free. */
typedef struct {
    cp_bytes text;         /* the sentences: tokens joined by spaces, a line feed behind each */
    int64_t sentences;     /* how many these are */
    cp_table fresh;        /* the words that the vocabulary lacks, by their hashes */
    cp_numbers fresh_start, fresh_end; /* where in the text each of them stands first */
    cp_numbers unseen;     /* the number of a fresh word, for each token that is one, in order */
    int64_t tokens, known; /* of the text that was added last */
    /* For the kernel. */
    cp_profile profile;
    const cp_vocabulary *vocabulary;
    cp_salt salt;
    cp_numbers starts;     /* of the sentence's tokens */
    cp_row row;
    cp_bytes formed;       /* the sentence in NFKC, where it was not */
    uint8_t class[256];    /* of bytes */
    uint8_t becomes[128];  /* what an ASCII byte becomes */
    uint8_t ending[256];   /* 1 for a byte at which a sentence may end, or is no ASCII */
} cp_prepared;

/* Begins with no texts; `out` is zeroed memory or was begun before. The vocabulary is to stay as it
 * is meanwhile. CP_OK or CP_NO_MEMORY. */
int cp_prepared_begin(cp_prepared *out, cp_profile profile, const cp_vocabulary *vocabulary);

/* Appends a text; out->tokens and out->known are its own then. CP_OK; or CP_NO_MEMORY, and then all
 * is to be begun anew. */
int cp_prepared_add(cp_prepared *out, const uint8_t *text, size_t len);

void cp_prepared_free(cp_prepared *out);

#endif
