/* Properties of the kernels that hold for every input, tried by main.c.
 *
 * An input is bytes: the first chooses a kernel, the next FUZZ_PARAMETERS are its parameters, the
 * rest is its text; what is missing is 0. A kernel's function runs it and checks what can be
 * checked of one run, against something slow and obvious where there is such a thing. It returns
 * a digest of all that the kernel gave, which main.c compares between runs: with other bytes
 * behind the text, with other instructions, and after an allocation that was refused.
 *
 * To add one: a function, its line below and in the table of main.c. */
#ifndef CP_FUZZ_H
#define CP_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

#define FUZZ_PARAMETERS 7

typedef struct {
    uint8_t parameter[FUZZ_PARAMETERS];
    const uint8_t *text; /* NULL when len is 0; else a block that ends where the text does */
    size_t len;
} fuzz_input;

uint64_t fuzz_utf8(const fuzz_input *in);
uint64_t fuzz_tokens(const fuzz_input *in);
uint64_t fuzz_code_tokens(const fuzz_input *in);
uint64_t fuzz_ngrams(const fuzz_input *in);
uint64_t fuzz_minhash(const fuzz_input *in);
uint64_t fuzz_index(const fuzz_input *in);
uint64_t fuzz_table(const fuzz_input *in);
uint64_t fuzz_repetition(const fuzz_input *in);
uint64_t fuzz_segments(const fuzz_input *in);
uint64_t fuzz_lines(const fuzz_input *in);
uint64_t fuzz_markup(const fuzz_input *in);
uint64_t fuzz_kinds(const fuzz_input *in);
uint64_t fuzz_measures(const fuzz_input *in);
uint64_t fuzz_sets(const fuzz_input *in);
uint64_t fuzz_passages(const fuzz_input *in);
uint64_t fuzz_profiles(const fuzz_input *in);
uint64_t fuzz_ccnet(const fuzz_input *in);
uint64_t fuzz_parts(const fuzz_input *in);

/* Ends the process with a message unless the condition holds, NDEBUG or not. */
#define FUZZ_CHECK(condition) \
    ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

_Noreturn void fuzz_fail(const char *file, int line, const char *what);

/* Whether a kernel's status says that memory is short, which it may only where an allocation was
 * refused; any status but that and CP_OK fails. */
bool fuzz_no_memory(int status);

/* Memory that is never refused: exactly `size` bytes, NULL for 0, to be freed. */
void *fuzz_allocate(size_t size);
void *fuzz_copy(const void *from, size_t size);

/* The digest with more bytes in it. */
uint64_t fuzz_digest(uint64_t digest, const void *bytes, size_t size);

/* A pseudo-random number, and the next state in *state. */
uint64_t fuzz_random(uint64_t *state);

/* Writes a made-up input, the same for the same seed, of at most `room` bytes; returns its size. */
size_t fuzz_make(uint64_t seed, uint8_t *out, size_t room);

/* len + 1 flags, to be freed: whether a code point, or an ill-formed sequence, begins at a byte.
 * The end is a boundary too. */
bool *fuzz_boundaries(const uint8_t *text, size_t len);

/* The text's bytes as 64-bit numbers, len / 8 of them, to be freed. */
uint64_t *fuzz_words(const fuzz_input *in, size_t *count);

#endif
