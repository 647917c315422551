/* The token kernels over blocks of 64 bytes, whose properties are 64-bit masks: bit i of a mask
 * is about byte i of the block. A variant defines TARGET (its function attribute, or nothing),
 * includes this file, defines what is only declared below, and calls scan_blocks and count_blocks.
 *
 * `code` is a constant wherever it is an argument: whether the tokens are those of code_tokens.h. */
#ifndef CP_TOKENS_BLOCK_H
#define CP_TOKENS_BLOCK_H

#include <stdbool.h>

#include "tokens_inner.h"
#include "utf8.h"

#define BLOCK 64
#define INLINE TARGET static inline __attribute__((always_inline))
/* A loop of its own, so that its constants stay in registers. */
#define PASS TARGET static __attribute__((noinline))

typedef struct {
    uint64_t word;   /* ASCII letters and digits */
    uint64_t high;   /* bytes that are not ASCII */
    uint64_t line;   /* `_` */
    uint64_t others; /* what else is visible in ASCII */
} ascii_masks;

/* Code points that texts are full of, told by their bytes alone; those that reach beyond the
 * block are left out. */
typedef struct {
    uint64_t tail;    /* the bytes 0x80 to 0xBF, of whatever */
    uint64_t run;     /* a CP_RUN of two bytes begins here */
    uint64_t folding; /* one that cp_tokens_hash may not know */
    uint64_t cluster; /* a CP_CLUSTER of three bytes that is its own folding */
    uint64_t other;   /* a CP_OTHER of three bytes */
} common_masks;

/* They are in eight groups, a bit each, and a group is a product of sets: of the upper and lower
 * halves of the first, second and third byte. The three excepted are U+00D7, U+00F7 (other) and
 * U+00DF, which is `folding` without need. */
enum {
    E5 = 1,   /* U+5000 to U+9FFF */
    E4 = 2,   /* U+4E00 to U+4FFF */
    E2 = 4,   /* U+2010 to U+203F, quotation marks and dashes */
    E3 = 8,   /* U+3000 to U+301F without U+30x5 to U+30x7 */
    EF8 = 16, /* U+FF00 to U+FF0F */
    EF9 = 32, /* U+FF1A to U+FF1F */
    C3 = 64,  /* U+00C0 to U+00FF */
    D0 = 128, /* U+0400 to U+047F */
    TWO = C3 | D0,
    HAN = E5 | E4,
    OTHERS = E2 | E3 | EF8 | EF9,
};

#define X4(bits) bits, bits, bits, bits
static const uint8_t first_high[16] = {[0xC] = C3, [0xD] = D0, [0xE] = HAN | OTHERS};
static const uint8_t first_low[16] = {D0, D0, E2, C3 | E3, E4, E5, X4(E5), [0xF] = EF8 | EF9};
static const uint8_t second_high[16] = {
    [0x8] = E5 | E2 | E3 | TWO, [0x9] = E5 | TWO, E5 | TWO, HAN | EF8 | EF9 | TWO};
static const uint8_t second_low[16] = {
    E5 | E2 | E3 | TWO, X4(E5 | TWO), E5 | TWO, E5 | TWO, E5 | TWO, X4(HAN | TWO),
    HAN | EF8 | EF9 | TWO, HAN | TWO, HAN | TWO, HAN | TWO};
static const uint8_t third_high[16] = {
    X4(TWO), X4(TWO), HAN | E3 | EF8 | TWO, HAN | E2 | E3 | EF9 | TWO, HAN | E2 | TWO,
    HAN | E2 | TWO, X4(TWO)};
static const uint8_t third_low[16] = {
    X4((uint8_t)~EF9), (uint8_t)~EF9, [5] = HAN | E2 | EF8 | TWO, HAN | E2 | EF8 | TWO,
    HAN | E2 | EF8 | TWO, (uint8_t)~EF9, (uint8_t)~EF9, 0xFF, 0xFF, X4(0xFF)};
/* The groups that fold, by the upper half of the second byte, + 4 behind an odd first byte: U+00C0
 * to U+00DF, U+0400 to U+042F, U+0460 to U+047F. */
static const uint8_t folding_high[16] = {[0x8] = D0, D0, D0, 0, C3, C3, D0, D0};

INLINE ascii_masks read_ascii(const uint8_t *block);
INLINE common_masks read_common(const uint8_t *block);
/* Writes base + i for every bit i that is set and returns their number. Up to 8 more numbers are
 * written behind them, so that there is no branch. */
INLINE size_t write_bits(uint32_t *to, uint64_t bits, uint32_t base);
/* The hashes, as cp_tokens_hash or cp_code_tokens_hash gives them, of `count` tokens in order of
 * place. */
PASS void hash_all(const uint8_t *text, const uint32_t *start, const uint32_t *end, uint64_t *hash,
                   size_t count, bool code);

/* What a block needs to know of those before it. */
typedef struct {
    uint64_t run, cluster;   /* 1 if the last byte is in a token of that class, else 0 */
    uint64_t single;         /* the same for a code token of one code point */
    uint64_t joins, covered; /* the first bytes of this block, as in `classify` */
    uint64_t rests;          /* likewise */
    uint64_t ill_formed;     /* so far */
} before;

typedef struct {
    uint64_t start; /* a token begins at the byte */
    uint64_t end;   /* a token ends before the byte */
    uint64_t fold;  /* a code point that cp_tokens_hash does not know begins here, in a token */
} edges;

/* `joins` are the bytes that are in whatever token the byte before is in: the tails of run and
 * cluster code points, and all of marks and silent ones. Those directly behind a byte of `from`,
 * where `carry` is its bit -1. */
INLINE uint64_t joined(uint64_t joins, uint64_t from, uint64_t carry)
{
    /* Adding to the lowest bit of a row of ones clears all of the row. */
    return joins & ~(joins + ((from << 1 | carry) & joins));
}

/* The block at `at`, whose code points may reach up to `end`. `absent` bytes at its end, 0 to 63,
 * are behind the text: then the block is read from so many bytes before `at`. */
INLINE edges classify(const uint8_t *at, const uint8_t *end, unsigned absent, before *b,
                      const bool code)
{
    ascii_masks ascii = read_ascii(at - absent);
    uint64_t run, cluster = 0, in, in_run, in_cluster, joins = b->joins;
    /* Code tokens of one code point, marks, and the bytes behind the first of both. */
    uint64_t single = 0, marks = 0, rests = b->rests;
    edges found = {0, 0, 0};

    ascii.word >>= absent;
    ascii.high >>= absent;
    run = ascii.word;
    if (code) {
        run |= ascii.line >> absent;
        single = ascii.others >> absent;
    }
    b->joins = b->rests = 0;
    if (ascii.high) {
        const common_masks common = read_common(at - absent);
        const uint64_t tail = common.tail >> absent, other = code ? 0 : common.other >> absent;
        const uint64_t two = common.run >> absent, three = common.cluster >> absent;
        const uint64_t tails = two << 1 | three << 1 | three << 2;
        /* Tails of sequences, well-formed or not. */
        uint64_t covered = b->covered | tails | other << 1 | other << 2;
        uint64_t leads = ascii.high & ~(tail | two | three | other);

        run |= two;
        cluster = three;
        found.fold = common.folding >> absent;
        joins |= tails;
        b->covered = 0;
        while (leads) {
            int lead = __builtin_ctzll(leads);
            uint32_t point;
            int length = cp_utf8_decode(at + lead, end, &point);
            uint8_t kind = cp_unicode_kind_of(point);
            uint8_t token_class = cp_unicode_kinds[kind].token_class;
            uint64_t one = UINT64_C(1) << lead, all, rest;

            if (length < 0) {
                b->ill_formed++;
                length = -length;
            }
            all = (UINT64_C(1) << length) - 1;
            rest = all - 1;
            covered |= rest << lead;
            b->covered |= rest >> 1 >> (63 - lead);
            if (token_class != CP_OTHER) {
                uint64_t with = token_class >= CP_MARK ? all : rest;

                joins |= with << lead;
                b->joins |= with >> 1 >> (63 - lead);
                run |= token_class == CP_RUN ? one : 0;
                cluster |= token_class == CP_CLUSTER ? one : 0;
                marks |= token_class == CP_MARK ? one : 0;
                found.fold |= kind >= CP_PLAIN_KINDS ? one : 0;
            } else if (code && cp_is_operator(point, kind)) {
                single |= one;
                found.fold |= kind >= CP_PLAIN_KINDS ? one : 0;
            }
            if (code && (marks | single) & one) {
                rests |= rest << lead;
                b->rests |= rest >> 1 >> (63 - lead);
            }
            leads &= leads - 1;
        }
        b->ill_formed += (uint64_t)__builtin_popcountll(tail & ~covered);
    } else {
        b->covered = 0;
    }
    in_run = run | joined(joins, run, b->run);
    in_cluster = cluster | joined(joins, cluster, b->cluster);
    in = in_run | in_cluster;
    found.start = cluster | (run & ~(in_run << 1 | b->run));
    if (code) {
        single |= marks & ~in; /* marks with nothing to continue */
        found.start |= single;
        single |= joined(rests, single, b->single);
        in |= single;
    }
    found.end = (in << 1 | b->run | b->cluster | b->single) & (found.start | ~in);
    found.fold &= in;
    b->run = in_run >> 63;
    b->cluster = in_cluster >> 63;
    b->single = code ? single >> 63 : 0;
    return found;
}

/* The last block, with `left` of 1 to 64 bytes at `at`. */
INLINE edges classify_last(const uint8_t *text, const uint8_t *at, size_t left, before *b,
                           const bool code)
{
    uint8_t alone[BLOCK + 8] = {0}; /* zeros end a token and a sequence */

    if (at - text >= BLOCK)
        return classify(at, at + left, (unsigned)(BLOCK - left), b, code);
    for (size_t i = 0; i < left; i++)
        alone[i] = at[i];
    return classify(alone, alone + sizeof alone, 0, b, code);
}

/* The places of the ones of a byte, one a byte, from the lowest on. */
#define ONE(byte, i) ((uint64_t)((byte) >> i & 1) * i << 8 * __builtin_popcount((byte) % (1 << i)))
#define ONES(byte)                                                                                \
    (ONE(byte, 1) | ONE(byte, 2) | ONE(byte, 3) | ONE(byte, 4) | ONE(byte, 5) | ONE(byte, 6) |    \
     ONE(byte, 7))
#define ONES_4(byte) ONES(byte), ONES(byte + 1), ONES(byte + 2), ONES(byte + 3)
#define ONES_16(byte) ONES_4(byte), ONES_4(byte + 4), ONES_4(byte + 8), ONES_4(byte + 12)
#define ONES_64(byte) ONES_16(byte), ONES_16(byte + 16), ONES_16(byte + 32), ONES_16(byte + 48)
static const uint64_t ones[256] = {ONES_64(0), ONES_64(64), ONES_64(128), ONES_64(192)};

/* A text is scanned by pieces of this many bytes, each in passes that hardly branch on what is in
 * it: the edges of its tokens as masks, then as numbers, then the hashes. Of n bytes at most
 * (n + 1) / 2 begin a token of two bytes, or one that is no code token. */
#define PIECE 4096
#define MOST (PIECE / 2 + BLOCK)

typedef struct {
    uint64_t start[PIECE / BLOCK], end[PIECE / BLOCK], fold[PIECE / BLOCK];
    uint64_t any_fold;
} piece_edges;

INLINE void find_edges_of(const uint8_t *text, size_t len, size_t at, size_t blocks,
                          before *state, piece_edges *to, const bool code)
{
    before b = *state;

    to->any_fold = 0;
    for (size_t i = 0; i < blocks; i++, at += BLOCK) {
        const edges found = len - at > BLOCK ? classify(text + at, text + len, 0, &b, code)
                                             : classify_last(text, text + at, len - at, &b, code);

        to->start[i] = found.start;
        to->end[i] = found.end;
        to->fold[i] = found.fold;
        to->any_fold |= found.fold;
    }
    *state = b;
}

PASS void find_edges(const uint8_t *text, size_t len, size_t at, size_t blocks, before *state,
                     piece_edges *to)
{
    find_edges_of(text, len, at, blocks, state, to, false);
}

PASS void find_code_edges(const uint8_t *text, size_t len, size_t at, size_t blocks,
                          before *state, piece_edges *to)
{
    find_edges_of(text, len, at, blocks, state, to, true);
}

/* The numbers of all masks of a piece that begins at `base`. Returns how many. */
PASS size_t write_all(uint32_t *to, const uint64_t *masks, size_t blocks, uint32_t base)
{
    size_t count = 0;

    for (size_t i = 0; i < blocks; i++, base += BLOCK)
        count += write_bits(to + count, masks[i], base);
    return count;
}

/* Appends to `list` of `count` the tokens with a code point that cp_tokens_hash does not know, as
 * 1 + the token's index, when `token` tokens began before the piece. Returns the new count. */
PASS size_t list_folding(uint32_t *list, size_t count, const piece_edges *masks, size_t blocks,
                         size_t token)
{
    for (size_t i = 0; i < blocks; i++) {
        for (uint64_t left = masks->fold[i]; left; left &= left - 1) {
            const uint64_t upto = left ^ (left - 1);
            const size_t its = token + (size_t)__builtin_popcountll(masks->start[i] & upto);

            if (!count || list[count - 1] != its)
                list[count++] = (uint32_t)its;
        }
        token += (size_t)__builtin_popcountll(masks->start[i]);
    }
    return count;
}

INLINE int scan_blocks(const uint8_t *text, size_t len, cp_tokens *out, uint64_t *ill_formed,
                       const bool code)
{
    const size_t count = out->count;
    size_t starts = count, ends = count; /* starts is at most one ahead */
    piece_edges masks;
    uint32_t folding[MOST];
    size_t folds = 0;
    before b = {0};

    if (len > UINT32_MAX)
        return CP_TOO_LONG;
    for (size_t at = 0; at < len; at += PIECE) {
        const size_t piece = len - at < PIECE ? len - at : PIECE, first = ends;
        const size_t blocks = (piece + BLOCK - 1) / BLOCK;
        size_t open = 0;

        if (cp_tokens_reserve(out, (code ? piece : piece / 2) + BLOCK) != CP_OK) {
            out->count = count;
            return CP_NO_MEMORY;
        }
        (code ? find_code_edges : find_edges)(text, len, at, blocks, &b, &masks);
        if (masks.any_fold)
            folds = list_folding(folding, folds, &masks, blocks, starts - count);
        starts += write_all(out->start + starts, masks.start, blocks, (uint32_t)at);
        ends += write_all(out->end + ends, masks.end, blocks, (uint32_t)at);
        if (len - at <= PIECE && starts > ends) /* only when the last block is full */
            out->end[ends++] = (uint32_t)len;
        hash_all(text, out->start + first, out->end + first, out->hash + first, ends - first,
                 code);
        for (size_t i = 0; i < folds; i++) {
            const size_t token = count + folding[i] - 1;

            if (token < ends)
                out->hash[token] =
                    cp_tokens_hash_decoded(text, out->start[token], out->end[token]);
            else
                folding[open++] = folding[i];
        }
        folds = open;
        out->count = ends;
    }
    *ill_formed += b.ill_formed;
    return CP_OK;
}

INLINE uint64_t count_blocks(const uint8_t *text, size_t len, const bool code)
{
    uint64_t count = 0;
    before b = {0};
    size_t at = 0;

    for (; len - at > BLOCK; at += BLOCK)
        count += (uint64_t)__builtin_popcountll(
            classify(text + at, text + len, 0, &b, code).start);
    if (at < len)
        count += (uint64_t)__builtin_popcountll(
            classify_last(text, text + at, len - at, &b, code).start);
    return count;
}

#endif
