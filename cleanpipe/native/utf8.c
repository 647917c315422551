#include "utf8.h"

#include <string.h>

uint64_t cp_utf8_ill_formed(const uint8_t *text, size_t len)
{
    uint64_t found = 0;
    size_t at = 0;

    while (at < len) {
        uint64_t word;
        uint32_t code;
        int length;

        if (len - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if (!(word & UINT64_C(0x8080808080808080))) {
                at += sizeof word;
                continue;
            }
        }
        length = cp_utf8_decode(text + at, text + len, &code);
        if (length < 0) {
            found++;
            length = -length;
        }
        at += (size_t)length;
    }
    return found;
}
