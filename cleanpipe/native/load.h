/* Numbers in memory of any alignment, in the machine's byte order. */
#ifndef CP_LOAD_H
#define CP_LOAD_H

#include <stdint.h>
#include <string.h>

static inline uint32_t cp_load32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t cp_load64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

#endif
