/* utf8.h, tokens.h and code_tokens.h, and what other properties need of texts. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "code_tokens.h"
#include "unicode_tables.h"
#include "utf8.h"

uint64_t fuzz_digest(uint64_t digest, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001B3);
    return cp_hash_mix(digest ^ size);
}

/* ---- UTF-8 ---- */

/* How many bytes the lead byte asks for; 0 if it is none. */
static int asked_for(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
}

/* Whether `length` bytes begin a well-formed sequence: by the code points that they could become,
 * from the lowest to the highest. */
static bool begins_sequence(const uint8_t *at, int length, uint32_t *lowest)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    int n = asked_for(at[0]);
    uint32_t low = at[0], high;

    if (n == 0 || length > n)
        return false;
    if (n > 1)
        low &= 0x7Fu >> n;
    high = low;
    for (int i = 1; i < n; i++) {
        if (i < length && (at[i] & 0xC0) != 0x80)
            return false;
        low = low << 6 | (i < length ? at[i] & 0x3Fu : 0);
        high = high << 6 | (i < length ? at[i] & 0x3Fu : 0x3F);
    }
    *lowest = low;
    low = low < least[n] ? least[n] : low;
    high = high > 0x10FFFF ? 0x10FFFF : high;
    return low <= high && !(low >= 0xD800 && high <= 0xDFFF);
}

/* As cp_utf8_decode, from the definition: the longest beginning of a well-formed sequence. */
static int decode_slowly(const uint8_t *at, size_t left, uint32_t *code)
{
    int length = 0;

    while (length < 4 && (size_t)length < left && begins_sequence(at, length + 1, code))
        length++;
    if (length && length == asked_for(at[0]))
        return length;
    *code = CP_REPLACEMENT;
    return length ? -length : -1;
}

uint64_t fuzz_utf8(const fuzz_input *in)
{
    uint64_t digest = 0, ill_formed = 0;

    for (size_t at = 0; at < in->len;) {
        uint32_t code, expected;
        uint8_t encoded[4];
        int length = cp_utf8_decode(in->text + at, in->text + in->len, &code);

        FUZZ_CHECK(length == decode_slowly(in->text + at, in->len - at, &expected));
        FUZZ_CHECK(code == expected);
        if (length < 0) {
            ill_formed++;
            length = -length;
        } else {
            FUZZ_CHECK(cp_utf8_encode(code, encoded) == length);
            FUZZ_CHECK(memcmp(encoded, in->text + at, (size_t)length) == 0);
        }
        digest = fuzz_digest(digest, &code, sizeof code);
        at += (size_t)length;
    }
    FUZZ_CHECK(cp_utf8_ill_formed(in->text, in->len) == ill_formed);
    return digest;
}

bool *fuzz_boundaries(const uint8_t *text, size_t len)
{
    bool *boundary = fuzz_allocate(len + 1);
    size_t at = 0;

    memset(boundary, 0, len + 1);
    while (at < len) {
        uint32_t code;
        int length = decode_slowly(text + at, len - at, &code);

        boundary[at] = true;
        at += (size_t)(length < 0 ? -length : length);
    }
    FUZZ_CHECK(at == len);
    boundary[len] = true;
    return boundary;
}

uint64_t *fuzz_words(const fuzz_input *in, size_t *count)
{
    *count = in->len / sizeof(uint64_t);
    return fuzz_copy(in->text, *count * sizeof(uint64_t));
}

/* ---- tokens ---- */

typedef struct {
    int (*scan)(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed);
    uint64_t (*count)(const uint8_t *text, size_t len);
} tokenizer;

/* The hash of a token's bytes, from its definition. */
static uint64_t hash_slowly(const uint8_t *token, size_t len)
{
    /* 2 bytes may fold to 3, and 3 to 6. */
    uint8_t *folded = fuzz_allocate(2 * len + sizeof(uint64_t));
    uint64_t hash = CP_HASH_START;
    size_t size = 0;

    for (size_t at = 0; at < len;) {
        uint32_t code;
        int length = decode_slowly(token + at, len - at, &code);
        cp_unicode_kind kind = cp_unicode_kinds[cp_unicode_kind_of(code)];

        FUZZ_CHECK(length > 0);
        at += (size_t)length;
        if (kind.token_class != CP_SILENT)
            size += (size_t)cp_utf8_encode(code + (uint32_t)kind.fold, folded + size);
        if (kind.mark)
            size += (size_t)cp_utf8_encode(kind.mark, folded + size);
    }
    memset(folded + size, 0, sizeof hash);
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;

        for (int i = 0; i < 8; i++)
            word |= (uint64_t)folded[at + (size_t)i] << 8 * i;
        hash = cp_hash_mix(hash ^ word);
    }
    free(folded);
    return hash;
}

/* The token alone is one token, with the same hash. */
static void check_alone(const tokenizer *of, const cp_tokens *tokens, size_t i,
                        const uint8_t *text)
{
    size_t len = tokens->end[i] - tokens->start[i];
    uint8_t *copy = fuzz_copy(text + tokens->start[i], len);
    cp_tokens one = {0};
    uint64_t ill_formed = 0;

    if (!fuzz_no_memory(of->scan(copy, len, &one, &ill_formed))) {
        FUZZ_CHECK(one.count == 1 && ill_formed == 0);
        FUZZ_CHECK(one.start[0] == 0 && one.end[0] == len);
        FUZZ_CHECK(one.hash[0] == tokens->hash[i]);
    }
    cp_tokens_free(&one);
    FUZZ_CHECK(tokens->hash[i] == hash_slowly(copy, len));
    free(copy);
}

static void check_tokens(const tokenizer *of, const cp_tokens *tokens, const fuzz_input *in)
{
    bool *boundary = fuzz_boundaries(in->text, in->len);
    uint32_t behind = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        uint32_t start = tokens->start[i], end = tokens->end[i];

        FUZZ_CHECK(behind <= start && start < end && end <= in->len);
        FUZZ_CHECK(boundary[start] && boundary[end]);
        FUZZ_CHECK(of->count(in->text + behind, start - behind) == 0);
        check_alone(of, tokens, i, in->text);
        behind = end;
    }
    if (in->len)
        FUZZ_CHECK(of->count(in->text + behind, in->len - behind) == 0);
    free(boundary);
}

static uint64_t scan_twice(const tokenizer *of, const fuzz_input *in)
{
    cp_tokens tokens = {0};
    uint64_t ill_formed = 1, digest = 0;

    if (fuzz_no_memory(cp_tokens_reserve(&tokens, in->parameter[0])))
        FUZZ_CHECK(tokens.count == 0);
    /* Twice, as the tokens of another text are behind those of the first. */
    for (int times = 1; times <= 2; times++) {
        size_t before = tokens.count;
        uint64_t bad_before = ill_formed;

        if (fuzz_no_memory(of->scan(in->text, in->len, &tokens, &ill_formed))) {
            FUZZ_CHECK(tokens.count == before && ill_formed == bad_before);
            FUZZ_CHECK(!fuzz_no_memory(of->scan(in->text, in->len, &tokens, &ill_formed)));
        }
        FUZZ_CHECK(tokens.count - before == of->count(in->text, in->len));
        FUZZ_CHECK(ill_formed - bad_before == cp_utf8_ill_formed(in->text, in->len));
        if (times == 1)
            check_tokens(of, &tokens, in);
    }
    for (size_t i = 0, half = tokens.count / 2; i < half; i++) {
        FUZZ_CHECK(tokens.start[i] == tokens.start[half + i]);
        FUZZ_CHECK(tokens.end[i] == tokens.end[half + i]);
        FUZZ_CHECK(tokens.hash[i] == tokens.hash[half + i]);
    }
    if (tokens.count) {
        digest = fuzz_digest(digest, tokens.start, tokens.count * sizeof *tokens.start);
        digest = fuzz_digest(digest, tokens.end, tokens.count * sizeof *tokens.end);
        digest = fuzz_digest(digest, tokens.hash, tokens.count * sizeof *tokens.hash);
    }
    cp_tokens_free(&tokens);
    FUZZ_CHECK(!tokens.hash && !tokens.count && !tokens.capacity);
    return fuzz_digest(digest, &ill_formed, sizeof ill_formed);
}

uint64_t fuzz_tokens(const fuzz_input *in)
{
    return scan_twice(&(tokenizer){cp_tokens_scan, cp_tokens_count}, in);
}

uint64_t fuzz_code_tokens(const fuzz_input *in)
{
    return scan_twice(&(tokenizer){cp_code_tokens_scan, cp_code_tokens_count}, in);
}
