/* Tokens of programs, in which operators count: docs/tokens.md, "Code tokens".
 *
 *   token   = CLUSTER tail*  |  (RUN | `_`) (RUN | `_` | tail)*  |  any other visible character
 *
 * Visible is all but white space, controls, formats (Cf) and what is ill-formed; U+FFFD counts as
 * ill-formed. So a mark with nothing to continue is a token, and `==` is two.
 *
 * The hash is that of tokens.h, and so is the folding: a word has the same hash here and there.
 * Only letters fold, so no two operators are alike. */
#ifndef CP_CODE_TOKENS_H
#define CP_CODE_TOKENS_H

#include "tokens.h"

/* As cp_tokens_scan and cp_tokens_count: same arguments, ownership, results and codes. */
int cp_code_tokens_scan(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
uint64_t cp_code_tokens_count(const uint8_t *text, size_t len);

#endif
