/* Lines that script and style sheets leave behind when a page becomes text: docs/measures.md says
 * which these are. */
#ifndef CP_RESIDUE_H
#define CP_RESIDUE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the line [at, end), which begins and ends with what is no whitespace, is residue. Time
 * grows with its length only; of most lines of prose the last byte is all that is read. */
bool cp_is_residue(const uint8_t *at, const uint8_t *end);

#endif
