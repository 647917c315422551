/* Where in a document a part of a test item stands, judged by coverage: docs/contamination.md.
 *
 * A candidate is a document and a part of which an indexed n-gram was found there, at some tokens
 * s of the document: the seeds. All is counted in tokens and in whole numbers. With D tokens in the
 * document and S the part's span:
 *
 *   region   a maximal stretch of the union of [s - S, s + n + S), cut to [0, D)
 *   match    tokens in a row, all in the region, that are a gram of the part, which has grams of 1
 *            to CP_PASSAGE_GRAM tokens. It covers the part's tokens at each position of that gram,
 *            of which the first CP_PASSAGE_POSITIONS count. Matches are in order of their ends,
 *            then of their begins
 *   covered  the weight of the part's tokens that a window of matches, l to r, covers
 *
 * In each region r goes from match to match, and l follows so that the window, from the begin of
 * match l to the end of match r, has at most S tokens. Where `need` is covered (need 0: never)
 *
 *   best     windows go on in that way; the first one with the most covered is the passage's. They
 *            end before a match without `need`, one that begins more than S tokens behind the end
 *            of the best window, and one with more matches between it and the best window than
 *            that window has, and CP_PASSAGE_PATIENCE more
 *   trim     matches from l on go while that takes nothing from what is covered
 *
 * and the next window begins empty behind the best one's last match. What repeats within a part
 * adds nothing to what is covered, and is of the passage all the same: it goes on to the right from
 * match to match while the next one begins no more than CP_PASSAGE_EDGE tokens behind the end of
 * the one before and is of no later window, then to the left likewise. It is from the least begin
 * of its matches to the end of its last. So passages are of different matches, though the tokens
 * at their ends may be the same ones.
 *
 * Then its edges: a gram breaks at a replaced token, and leaves some beyond it. Let q be the least
 * position in the part of the gram that the passage begins with: the passage is longer on the left
 * by the greatest k <= CP_PASSAGE_EDGE for which the token k before the passage is the part's token
 * q - k and no token of the passage before; on the right likewise, from the last token of the
 * greatest position of the last match's gram. `covered` stays.
 *
 * Time: for each token of a region one look at a filter of the part's grams, and O(log(grams) + 1)
 * where it may be one, to find the matches; the filter takes O(grams) to fill. Every match is added and
 * removed once as r goes. The search for the best window adds those between it and where it ends in
 * vain, as many as the best window has and CP_PASSAGE_PATIENCE more or fewer, and the best window
 * once more; best windows have no match in common, so all that is no more than
 * 3 * matches + CP_PASSAGE_PATIENCE * passages, and there are no more passages than matches. To add
 * and to remove one costs CP_PASSAGE_POSITIONS * CP_PASSAGE_GRAM steps or fewer. So a candidate is
 * linear in its regions, whatever repeats in the document or the part. */
#ifndef CP_PASSAGES_H
#define CP_PASSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

#define CP_PASSAGE_GRAM 3       /* most tokens of the grams that cover */
#define CP_PASSAGE_POSITIONS 64 /* of one gram in a part that are covered by a match */
#define CP_PASSAGE_PATIENCE 8
#define CP_PASSAGE_EDGE 8

enum { /* beside CP_OK, CP_NO_MEMORY */
    CP_PASSAGES_SEEDS = -20, /* seeds that descend, or that are not in the document */
    CP_PASSAGES_PART = -21,  /* a position at which the part has no gram */
};

/* A part; the caller's memory, of any alignment, and not trusted: damaged grams give wrong
 * passages or CP_PASSAGES_PART, never a read outside. */
typedef struct {
    const uint8_t *tokens;    /* uint64[length], their hashes */
    const uint8_t *weights;   /* uint32[length] */
    const uint8_t *grams;     /* uint64[grams_count], ascending */
    const uint8_t *positions; /* uint32, of each gram in the part, ascending where grams repeat */
    const uint8_t *lengths;   /* uint8, of each gram; equal grams have one length */
    size_t grams_count;       /* at most UINT32_MAX */
    size_t length;            /* at most UINT32_MAX */
    uint64_t need;            /* the least weight that is to be covered; 0: no passage */
    uint32_t span;            /* the most tokens that a window has */
} cp_part;

typedef struct {
    size_t candidate;
    uint64_t covered;
    uint32_t first, last; /* tokens of the document, inclusive */
    uint32_t start, end;  /* bytes of the document, half-open */
} cp_passage;

/* The caller owns it: zero-initialise, release with cp_passages_free. */
typedef struct {
    cp_passage *passage;
    size_t count;
    size_t capacity;
} cp_passages;

void cp_passages_free(cp_passages *passages);

/* Memory reused from candidate to candidate; NULL from open means that there is none. Close takes
 * NULL. */
typedef struct cp_passages_scratch cp_passages_scratch;
cp_passages_scratch *cp_passages_open(void);
void cp_passages_close(cp_passages_scratch *scratch);

/* Appends the passages of one candidate, by that name, in order of their windows: mostly that of
 * their first tokens too, but a longer gram may end behind a shorter one and begin before it. `seeds`
 * has `count` int64 of any alignment, ascending; n >= 1. Returns CP_OK; or CP_NO_MEMORY,
 * CP_PASSAGES_SEEDS or CP_PASSAGES_PART, and then leaves out->count as it was. */
int cp_passages_find(const cp_part *part, const cp_tokens *document, const uint8_t *seeds,
                     size_t count, size_t n, size_t candidate, cp_passages_scratch *scratch,
                     cp_passages *out);

#endif
