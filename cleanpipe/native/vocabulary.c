#include "vocabulary.h"

#include <string.h>

enum { LEAST_SLOTS = CP_VOCABULARY_LEAST - 1 };

uint64_t cp_word_hash_within(const uint8_t *word, size_t len, const cp_salt *salt)
{
    /* Of a long word nothing behind it is read but from its last 16 bytes. */
    const size_t whole = len > 16 ? (len - 16 + 7) / 8 * 8 : 0;
    uint64_t hash = salt->whitener ^ len;
    uint8_t last[24] = {0};
    cp_salt rest = *salt;

    for (size_t at = 0; at < whole; at += 8)
        hash = cp_fold_product(hash ^ cp_load64(word + at), salt->first);
    memcpy(last, word + whole, len - whole);
    rest.whitener = hash ^ (len - whole);
    return cp_word_hash(last, len - whole, &rest);
}

/* One free slot ends every search, whatever is in the others. */
bool cp_vocabulary_good(const cp_vocabulary *in)
{
    const size_t slots = in->count - 1;

    if (in->count < CP_VOCABULARY_LEAST || slots & (slots - 1) || slots > (size_t)1 << 31 ||
        in->number[0] > slots / 2)
        return false;
    for (size_t slot = 1; slot < in->count; slot++)
        if (!in->number[slot])
            return true;
    return false;
}

size_t cp_vocabulary_size(uint64_t words)
{
    size_t slots = LEAST_SLOTS;

    while (slots / 2 < words)
        slots *= 2;
    return slots + 1;
}

void cp_vocabulary_add(cp_vocabulary *to, uint64_t entry)
{
    size_t slot = cp_vocabulary_slot(to, entry);

    for (; to->number[slot]; slot = slot == to->count - 1 ? 1 : slot + 1)
        if ((to->number[slot] & ~CP_WORD_KNOWN) == (entry & ~CP_WORD_KNOWN))
            return;
    to->number[slot] = entry;
    to->number[0]++;
}

void cp_vocabulary_add_all(cp_vocabulary *to, const cp_vocabulary *from)
{
    for (size_t slot = 1; slot < from->count; slot++)
        if (from->number[slot])
            cp_vocabulary_add(to, from->number[slot]);
}
