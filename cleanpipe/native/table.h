/* A hash table from 64-bit keys to entries numbered 0, 1, 2 ... in the order they came.
 *
 * Keys come from texts, and cp_hash_mix is public and invertible, so whoever writes a text chooses
 * its keys, and a table indexed by them could be made to take quadratic time. Therefore a key's
 * place depends on a secret, drawn once in each process. Nothing else does: an entry's number is
 * the rank of its first coming, so that no result may depend on the secret; never show or store
 * what cp_salted gives.
 *
 * Memory is reused from text to text, and a text pays for its own size only, whatever came
 * before. Any number of threads, a table each. */
#ifndef CP_TABLE_H
#define CP_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

/* Secret numbers, the same all through a process. */
typedef struct {
    uint64_t whitener, first, second;
} cp_salt;

/* Thread-safe. From the system's entropy; where there is none, from clocks and addresses. */
cp_salt cp_salt_of_process(void);

/* Both halves of the product, folded. Compilers without 128-bit integers may fold to another
 * number: only tables see it. */
static inline uint64_t cp_fold_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    uint64_t cross = (a >> 32) * (b & UINT32_MAX), other = (a & UINT32_MAX) * (b >> 32);

    return low ^ high ^ (cross << 32 | cross >> 32) ^ (other << 32 | other >> 32);
#endif
}

/* A key, unpredictable to who does not know the salt, and every bit of it usable. Twice, for
 * keys in arithmetic progression stay one under a single product. */
static inline uint64_t cp_salted(uint64_t key, const cp_salt *salt)
{
    return cp_fold_product(cp_fold_product(key ^ salt->whitener, salt->first), salt->second);
}

typedef struct {
    uint64_t key;
    uint32_t count, note; /* the caller's; 0 in a new entry */
} cp_entry;

/* The caller owns it: zero-initialise, cp_table_begin before each use, release with
 * cp_table_free. Open addressing with linear probing, at most half full. */
typedef struct {
    cp_entry *entries;
    uint32_t count;      /* of entries */
    uint32_t limit;      /* the count at which slots or room for entries must grow */
    unsigned shift;      /* there are 2^(64 - shift) slots in use, from 16 upwards */
    uint32_t *slots;     /* the number of an entry plus 1, or 0 */
    size_t slots_room;   /* slots allocated */
    size_t entries_room; /* entries allocated */
    cp_salt salt;
} cp_table;

#define CP_TABLE_NO_MEMORY UINT32_MAX

/* How many keys ahead of cp_table_add to call cp_table_expect. */
#define CP_TABLE_AHEAD 16

/* Tables of fewer entries are in the cache anyhow. */
#define CP_TABLE_CACHED 16384u

/* Empties the table, for `most` keys or fewer (if there are more after all, that only costs time).
 * It begins small, so a bound may be generous. Memory that is far too large for them is given
 * back. Returns CP_OK or CP_NO_MEMORY. */
int cp_table_begin(cp_table *table, size_t most);

/* Makes room for one more entry, at least; CP_OK or CP_NO_MEMORY. For cp_table_add. */
int cp_table_grow(cp_table *table);

void cp_table_free(cp_table *table);

/* Tells that the key is to be added soon: a large table then waits less for memory. */
static inline void cp_table_expect(const cp_table *table, uint64_t key)
{
#ifdef __GNUC__
    if (table->count >= CP_TABLE_CACHED)
        __builtin_prefetch(table->slots + (cp_salted(key, &table->salt) >> table->shift), 1);
#else
    (void)table;
    (void)key;
#endif
}

/* The number of the key's entry, a new one if there is none, or CP_TABLE_NO_MEMORY. */
static inline uint32_t cp_table_add(cp_table *table, uint64_t key)
{
    uint32_t slot, number;
    size_t at, mask;

    if (table->count == table->limit && cp_table_grow(table) != CP_OK)
        return CP_TABLE_NO_MEMORY;
    mask = ((size_t)1 << (64 - table->shift)) - 1;
    at = (size_t)(cp_salted(key, &table->salt) >> table->shift);
    /* A free slot is one that leads to the next entry, with this key: whether a key is new is a
     * branch that no processor foresees. */
    table->entries[table->count] = (cp_entry){key, 0, 0};
    for (;; at = (at + 1) & mask) {
        slot = table->slots[at];
        number = slot - 1 + ((table->count + 1) & (0u - !slot));
        if (table->entries[number].key == key)
            break;
    }
    table->slots[at] = number + 1;
    table->count += !slot;
    return number;
}

#endif
