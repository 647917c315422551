/* Which words a model knows, by the 64-bit hashes of their bytes (KenLM too goes by these).
 *
 * A vocabulary is an array of 1 + 2^b numbers, b >= 4: the first one says how many words there
 * are, at most half of 2^b; the others are the slots, in open addressing, 0 where one is free. A
 * word's entry is its hash with CP_WORD_SEEN set and CP_WORD_KNOWN for those that are known. The
 * hash is salted, so who writes a text can choose no two words of one place; it means nothing
 * outside of the process: never store it. */
#ifndef CP_VOCABULARY_H
#define CP_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load.h"
#include "table.h"

#define CP_WORD_KNOWN UINT64_C(1)
#define CP_WORD_SEEN UINT64_C(2)
#define CP_VOCABULARY_LEAST 17 /* numbers of the smallest */

/* The caller's memory. Zero it all for an empty one. */
typedef struct {
    uint64_t *number;
    size_t count; /* of numbers */
} cp_vocabulary;

/* Whether the array is one: its count is, and there are free slots. */
bool cp_vocabulary_good(const cp_vocabulary *vocabulary);

/* The number of numbers for this many words. */
size_t cp_vocabulary_size(uint64_t words);

/* The hash of `len` bytes, CP_WORD_SEEN set and CP_WORD_KNOWN not. Up to 8 bytes behind them are
 * read, and do not matter. Most words have 16 bytes or fewer, and take no branch. */
static inline uint64_t cp_word_hash(const uint8_t *word, size_t len, const cp_salt *salt)
{
    uint64_t hash = salt->whitener ^ len, first, last;

    for (; len > 16; word += 8, len -= 8)
        hash = cp_fold_product(hash ^ cp_load64(word), salt->first);
    first = len ? cp_load64(word) << (len < 8 ? 64 - 8 * len : 0) : 0;
    last = cp_load64(word + (len > 8 ? len - 8 : 0));
    last &= len > 8 ? UINT64_MAX : 0;
    hash = cp_fold_product(hash ^ first, salt->first ^ last);
    return (cp_fold_product(hash, salt->second) & ~CP_WORD_KNOWN) | CP_WORD_SEEN;
}

/* The same, without a byte behind them. */
uint64_t cp_word_hash_within(const uint8_t *word, size_t len, const cp_salt *salt);

static inline size_t cp_vocabulary_slot(const cp_vocabulary *in, uint64_t hash)
{
    return 1 + (size_t)(hash >> 32 & (in->count - 2));
}

/* The entry of a word by its hash, or 0. */
static inline uint64_t cp_vocabulary_find(const cp_vocabulary *in, uint64_t hash)
{
    size_t slot = cp_vocabulary_slot(in, hash);
    uint64_t entry;

    while ((entry = in->number[slot]) && (entry & ~CP_WORD_KNOWN) != hash)
        slot = slot == in->count - 1 ? 1 : slot + 1;
    return entry;
}

/* Adds the word of an entry, and does nothing where it is there; there must be room. */
void cp_vocabulary_add(cp_vocabulary *to, uint64_t entry);

/* Adds all of another's words; there must be room. */
void cp_vocabulary_add_all(cp_vocabulary *to, const cp_vocabulary *from);

#endif
