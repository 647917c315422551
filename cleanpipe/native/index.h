/* An immutable set of n-gram hashes in one block of memory, which is also the file: built once,
 * mapped by every worker, asked at the speed of the scan.
 *
 *   byte  0   "cpngrams"
 *         8   uint32  CP_INDEX_FORMAT
 *        12   uint32  CP_TOKEN_TABLE_VERSION
 *        16   char[16] CP_UNICODE_VERSION, padded with zeros
 *        32   uint32  n
 *        36   uint32  flags: 1 there are values, 2 of the tokens of code_tokens.h; no others
 *        40   uint64  count, at most UINT32_MAX
 *        48   16 bytes for a checksum: zeros when written here, and not looked at
 *        64   uint64  hashes[count], strictly ascending; a gram's place here is its ordinal
 *             uint64  filters[buckets]       buckets = count / 4 + 1
 *             uint32  starts[buckets + 1]
 *             uint32  values[count], if any
 *
 * all little-endian. Bucket b has the hashes h with (h >> 32) * buckets >> 32 == b, which are the
 * ordinals starts[b] to starts[b + 1] - 1. Bits h % 64, (h >> 6) % 64 and (h >> 12) % 64 of
 * filters[b] are set for each: a blocked Bloom filter of 16 bits a gram that answers 99 % of the
 * misses with one load. In all 8 + 2 + 1 (+ 4) bytes a gram, and under 100 more. A bucket is
 * searched by bisection, so hashes chosen to fall into one cost log2(count) steps and no more.
 *
 * Nothing here is trusted: any bytes may be opened and asked. A damaged index gives an error or
 * wrong answers (a checksum is the caller's to verify), never a read outside of it. */
#ifndef CP_INDEX_H
#define CP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

#define CP_INDEX_FORMAT 1
#define CP_INDEX_HEADER 64

enum { /* beside CP_OK, CP_NO_MEMORY */
    CP_INDEX_NOT_ONE = -10,      /* does not begin as an index */
    CP_INDEX_OTHER_FORMAT = -11, /* of another CP_INDEX_FORMAT */
    CP_INDEX_OTHER_TOKENS = -12, /* of another token table or Unicode version */
    CP_INDEX_SIZE = -13,         /* cut short, too long, or the count lies */
    CP_INDEX_BROKEN = -14,       /* impossible numbers in the header, or starts that descend */
    CP_INDEX_UNSORTED = -15,     /* what was to be written is not strictly ascending */
};

/* A view of an index; it owns nothing. Pointers need no alignment. */
typedef struct {
    uint32_t format;
    uint32_t token_table;
    char unicode[17]; /* ends in NUL */
    uint32_t n;
    bool code; /* its texts are to be scanned by cp_code_tokens_scan */
    uint64_t count;
    uint64_t buckets;
    uint64_t size;         /* bytes that an index with this header has */
    const uint8_t *hashes; /* these four are NULL unless cp_index_open returned CP_OK */
    const uint8_t *filters;
    const uint8_t *starts;
    const uint8_t *values; /* NULL where there are none */
} cp_index;

/* One n-gram of a text that is in the index. */
typedef struct {
    uint32_t position; /* of its first token */
    uint32_t start;    /* byte offset of its first byte in the text */
    uint32_t end;      /* byte offset behind its last byte */
    uint32_t ordinal;  /* below the index's count */
} cp_hit;

/* The caller owns it: zero-initialise, reuse by setting count to 0, release with cp_hits_free. */
typedef struct {
    cp_hit *hit;
    size_t count;
    size_t capacity;
} cp_hits;

/* The bytes of an index of `count` n-grams; 0 if count > UINT32_MAX or it cannot be addressed. */
size_t cp_index_size(uint64_t count, bool valued);

/* Writes the cp_index_size(count, values != NULL) bytes at `out`, every one of them, from hashes
 * in strictly ascending order. n >= 1; `code` is only noted. The arrays may be NULL when count is
 * 0. Returns CP_OK, or CP_INDEX_UNSORTED with `out` half written. */
int cp_index_write(uint8_t *out, const uint64_t *hashes, const uint32_t *values, uint64_t count,
                   uint32_t n, bool code);

/* Makes a view of the `size` bytes at `data` in constant time. Returns CP_OK, CP_INDEX_NOT_ONE,
 * _OTHER_FORMAT, _OTHER_TOKENS, _BROKEN or _SIZE; `format`, `token_table`, `unicode` and `size` are
 * then for a message, as far as the header was read. */
int cp_index_open(const uint8_t *data, size_t size, cp_index *index);

/* Appends the hits of one text, in order of position, to `out`. `tokens` has that text's tokens
 * and no others. A text of fewer than n tokens has one gram, of all of them (cp_ngrams_count).
 * `gram` has room for tokens->count hashes and is overwritten; it may be tokens->hash. Returns CP_OK, or CP_NO_MEMORY or CP_INDEX_BROKEN and then leaves
 * out->count as it was. */
int cp_index_query(const cp_index *index, const cp_tokens *tokens, uint64_t *gram, cp_hits *out);

/* Frees the array and zeroes the struct. */
void cp_hits_free(cp_hits *hits);

#endif
