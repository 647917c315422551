#define _DEFAULT_SOURCE /* getentropy */

#include "table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __has_include
#if __has_include(<sys/random.h>) && __has_include(<unistd.h>)
#include <sys/random.h>
#include <unistd.h>
#define HAS_GETENTROPY
#endif
#endif

/* A table of more slots than this, 8 MiB and up to 16 for their entries, is given back when the
 * next keys are far fewer. */
#define LARGE_SLOTS ((size_t)1 << 21)

/* A table begins with room for no more entries than this, or than it had the last time: where few
 * keys are distinct it stays in the cache, and growing costs the others little. */
#define FIRST_ENTRIES ((size_t)1 << 13)

enum {
    LEAST_BITS = 4,
    MOST_BITS = sizeof(size_t) > 4 ? 33 : 29, /* of the number of slots */
};

static uint64_t draw_seed(void)
{
    uint64_t seed = 0;
    struct timespec now = {0};

#ifdef HAS_GETENTROPY
    if (getentropy(&seed, sizeof seed) == 0 && seed)
        return seed;
#endif
    (void)timespec_get(&now, TIME_UTC);
    seed = cp_hash_mix((uint64_t)now.tv_sec ^ CP_HASH_START);
    seed = cp_hash_mix(seed ^ (uint64_t)now.tv_nsec);
    seed = cp_hash_mix(seed ^ (uint64_t)clock());
    seed = cp_hash_mix(seed ^ (uint64_t)(uintptr_t)&now);
    return seed ? seed : 1;
}

cp_salt cp_salt_of_process(void)
{
    static _Atomic uint64_t drawn; /* 0: not yet */
    uint64_t seed = atomic_load(&drawn);

    if (!seed) {
        uint64_t mine = draw_seed();

        seed = atomic_compare_exchange_strong(&drawn, &seed, mine) ? mine : seed;
    }
    return (cp_salt){
        cp_hash_mix(seed ^ 1),
        cp_hash_mix(seed ^ 2) | 1, /* 0 would make all keys one */
        cp_hash_mix(seed ^ 3) | 1,
    };
}

/* Takes 2^bits slots into use, all free; CP_NO_MEMORY leaves the table as it was. */
static int use_slots(cp_table *table, unsigned bits)
{
    size_t slots;

    if (bits > MOST_BITS)
        return CP_NO_MEMORY;
    slots = (size_t)1 << bits;
    if (slots > table->slots_room) {
        uint32_t *fresh = calloc(slots, sizeof *fresh);

        if (!fresh)
            return CP_NO_MEMORY;
        free(table->slots);
        table->slots = fresh;
        table->slots_room = slots;
    } else {
        memset(table->slots, 0, slots * sizeof *table->slots);
    }
    table->shift = 64 - bits;
    return CP_OK;
}

static void set_limit(cp_table *table)
{
    size_t half = (size_t)1 << (63 - table->shift);

    half = half < table->entries_room ? half : table->entries_room;
    table->limit = half < UINT32_MAX - 1 ? (uint32_t)half : UINT32_MAX - 1;
}

static int reserve_entries(cp_table *table, size_t room)
{
    cp_entry *grown;

    if (room <= table->entries_room)
        return CP_OK;
    if (room > SIZE_MAX / sizeof *grown || !(grown = realloc(table->entries, room * sizeof *grown)))
        return CP_NO_MEMORY;
    table->entries = grown;
    table->entries_room = room;
    return CP_OK;
}

int cp_table_begin(cp_table *table, size_t most)
{
    size_t room = table->count > FIRST_ENTRIES ? table->count : FIRST_ENTRIES;
    unsigned bits = LEAST_BITS;

    room = room < most ? room : most;
    while ((size_t)1 << (bits - 1) < room)
        bits++;
    if (table->slots_room > LARGE_SLOTS && table->slots_room / 32 > most)
        cp_table_free(table);
    table->count = 0;
    table->salt = cp_salt_of_process();
    if (reserve_entries(table, (size_t)1 << (bits - 1)) != CP_OK)
        return CP_NO_MEMORY;
    if (use_slots(table, bits) != CP_OK)
        return CP_NO_MEMORY;
    set_limit(table);
    return CP_OK;
}

int cp_table_grow(cp_table *table)
{
    size_t slots = (size_t)1 << (64 - table->shift), mask;

    if (table->count == UINT32_MAX - 1)
        return CP_NO_MEMORY;
    if (table->count == table->entries_room &&
        reserve_entries(table, table->entries_room + table->entries_room / 2) != CP_OK)
        return CP_NO_MEMORY;
    if (table->count >= slots / 2) {
        if (use_slots(table, 65 - table->shift) != CP_OK)
            return CP_NO_MEMORY;
        mask = slots * 2 - 1;
        for (uint32_t i = 0; i < table->count; i++) {
            size_t at = (size_t)(cp_salted(table->entries[i].key, &table->salt) >> table->shift);

            if (table->count - i > CP_TABLE_AHEAD)
                cp_table_expect(table, table->entries[i + CP_TABLE_AHEAD].key);
            while (table->slots[at])
                at = (at + 1) & mask;
            table->slots[at] = i + 1;
        }
    }
    set_limit(table);
    return CP_OK;
}

void cp_table_free(cp_table *table)
{
    free(table->entries);
    free(table->slots);
    *table = (cp_table){0};
}
