#include "measures.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "english_words.h"
#include "kinds.h"
#include "lines.h"
#include "markup.h"
#include "repetition.h"
#include "segments.h"
#include "tokens.h"

#define NAME(name) #name,
const char *const cp_measure_names[CP_MEASURE_COUNT] = {CP_MEASURES(NAME)};
#undef NAME

static const char stop_words[] = "the be to of and that have with";
enum { STOP_WORDS = 8 };

typedef struct {
    uint64_t hash[STOP_WORDS];
    uint64_t bits; /* bit h % 64 for each of these hashes h */
} stop_hashes;

struct cp_measures_scratch {
    cp_tokens tokens;
    cp_tokens words; /* datatrove's */
    cp_repetition_scratch repetition;
    cp_lines_scratch lines;
    stop_hashes stop, datatroves_stop;
};

static void take_stop_hashes(const cp_tokens *words, stop_hashes *stop)
{
    for (int i = 0; i < STOP_WORDS; i++) {
        stop->hash[i] = words->hash[i];
        stop->bits |= UINT64_C(1) << (words->hash[i] & 63);
    }
}

cp_measures_scratch *cp_measures_open(void)
{
    cp_measures_scratch *scratch = calloc(1, sizeof *scratch);
    cp_salt salt = cp_salt_of_process();
    uint64_t ill_formed = 0;

    if (!scratch)
        return NULL;
    scratch->lines.salt[0] = salt.first;
    scratch->lines.salt[1] = salt.second;
    if (cp_tokens_scan((const uint8_t *)stop_words, sizeof stop_words - 1, &scratch->tokens,
                       &ill_formed) != CP_OK ||
        cp_english_words_scan((const uint8_t *)stop_words, sizeof stop_words - 1,
                              &scratch->words) != CP_OK) {
        cp_measures_close(scratch);
        return NULL;
    }
    take_stop_hashes(&scratch->tokens, &scratch->stop);
    take_stop_hashes(&scratch->words, &scratch->datatroves_stop);
    return scratch;
}

void cp_measures_close(cp_measures_scratch *scratch)
{
    if (!scratch)
        return;
    cp_tokens_free(&scratch->tokens);
    cp_tokens_free(&scratch->words);
    cp_repetition_free(&scratch->repetition);
    cp_lines_free(&scratch->lines);
    free(scratch);
}

/* ---- sets of measures ---- */

#define BIT(name) CP_MEASURE_BIT(CP_MEASURE_##name)
#define FROM_TO(first, last) ((BIT(last) << 1) - BIT(first)) /* in the order of CP_MEASURES */

static const cp_measure_set of_kinds = BIT(whitespace_words) | BIT(mean_word_length) |
                                      FROM_TO(symbol_share, letter_share) | BIT(hash_word_ratio) |
                                      BIT(ellipsis_word_ratio) | BIT(alphabetic_word_share) |
                                      BIT(newline_word_ratio) |
                                      FROM_TO(dolma_top_2_gram_share, dolma_top_4_gram_share);
#define OF_DATATROVES_GRAMS FROM_TO(datatrove_top_2_gram_share, datatrove_duplicate_10_gram_share)
static const cp_measure_set of_datatroves_grams = OF_DATATROVES_GRAMS;
static const cp_measure_set of_number = BIT(characters) | BIT(markup_share) | BIT(link_share) |
                                        OF_DATATROVES_GRAMS;
static const cp_measure_set of_markup = FROM_TO(html_tags, link_token_share);
static const cp_measure_set of_markup_tokens = BIT(markup_token_share) | BIT(link_token_share);
static const cp_measure_set of_datatroves_words = FROM_TO(datatrove_words, datatrove_stop_words);
static const cp_measure_set of_lines = BIT(lines);

/* The first of a family of nine measures of n-grams, n = 2 ... 10. */
enum {
    OURS = CP_MEASURE_top_2_gram_share,
    DATATROVE = CP_MEASURE_datatrove_top_2_gram_share,
    DOLMA = CP_MEASURE_dolma_top_2_gram_share,
};

static inline double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

/* ---- families ---- */

static uint64_t stop_words_in(const cp_tokens *tokens, const stop_hashes *stop)
{
    unsigned seen = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        uint64_t hash = tokens->hash[i];

        if (stop->bits >> (hash & 63) & 1)
            for (int word = 0; word < STOP_WORDS; word++)
                seen |= (unsigned)(hash == stop->hash[word]) << word;
    }
    seen = (seen & 0x55) + (seen >> 1 & 0x55);
    seen = (seen & 0x33) + (seen >> 2 & 0x33);
    return (seen & 0x0F) + (seen >> 4);
}

static void take_kinds(const uint8_t *text, size_t len, cp_measure_set wanted, cp_kind_counts *c,
                            double *out)
{
    cp_kinds_count(text, len, c);
    out[CP_MEASURE_whitespace_words] = (double)c->words;
    out[CP_MEASURE_mean_word_length] = ratio(c->printed, c->words);
    out[CP_MEASURE_symbol_share] = ratio(c->punctuation + c->symbols, c->visible);
    out[CP_MEASURE_punctuation_share] = ratio(c->punctuation, c->visible);
    out[CP_MEASURE_digit_share] = ratio(c->digits, c->visible);
    out[CP_MEASURE_upper_share] = ratio(c->upper, c->letters);
    out[CP_MEASURE_letter_share] = ratio(c->letters + c->marks, c->visible);
    out[CP_MEASURE_alphabetic_word_share] = ratio(c->alphabetic_words, c->words);
    if (wanted & BIT(hash_word_ratio))
        out[CP_MEASURE_hash_word_ratio] = ratio(cp_bytes_equal(text, len, '#'), c->words);
    if (wanted & BIT(ellipsis_word_ratio))
        out[CP_MEASURE_ellipsis_word_ratio] = ratio(cp_ellipses(text, len), c->words);
    if (wanted & BIT(newline_word_ratio))
        out[CP_MEASURE_newline_word_ratio] = ratio(cp_bytes_equal(text, len, '\n'), c->words);
}

static unsigned repetition_wanted(cp_measure_set wanted)
{
    unsigned found = wanted & BIT(span_repeats) ? CP_REPETITION_SPANS : 0;

    for (int n = 2; n <= 10; n++)
        if ((wanted >> (OURS + n - 2) | wanted >> (DOLMA + n - 2)) & 1)
            found |= CP_REPETITION_NGRAMS(n);
    return found;
}

static unsigned datatroves_repetition_wanted(cp_measure_set wanted)
{
    unsigned found = 0;

    for (int n = 2; n <= 10; n++)
        if (wanted >> (DATATROVE + n - 2) & 1)
            found |= CP_REPETITION_NGRAMS(n);
    return found ? found | CP_REPETITION_ANY_BYTES : 0;
}

static void take_datatroves_grams(const cp_repetition *r, uint64_t characters, double *out)
{
    for (int i = 0; i < 3; i++) {
        /* With the i + 1 spaces that it puts between the i + 2 words. */
        uint64_t size = r->top[i].gram_characters + (uint64_t)i + 1;

        out[DATATROVE + i] = ratio(r->top[i].occurrences * size, characters);
    }
    for (int i = 0; i < 6; i++)
        out[DATATROVE + 3 + i] = ratio(r->duplicate[i].datatrove, characters);
}

static int take_datatroves_words(const uint8_t *text, size_t len, cp_measure_set wanted,
                                 uint64_t characters, cp_measures_scratch *scratch, double *out)
{
    const unsigned repetition = datatroves_repetition_wanted(wanted);
    cp_tokens *words = &scratch->words;
    int code;

    words->count = 0;
    if ((code = cp_english_words_scan(text, len, words)) != CP_OK)
        return code;
    if (wanted & of_datatroves_words) {
        cp_english_word_counts c = cp_english_words_count(words, text);

        out[CP_MEASURE_datatrove_words] = (double)c.words;
        out[CP_MEASURE_datatrove_mean_word_length] = ratio(c.characters, c.words);
        out[CP_MEASURE_datatrove_hash_word_ratio] =
            ratio(cp_bytes_equal(text, len, '#'), words->count);
        out[CP_MEASURE_datatrove_ellipsis_word_ratio] = ratio(cp_ellipses(text, len), words->count);
        out[CP_MEASURE_datatrove_alphabetic_word_share] = ratio(c.alphabetic, words->count);
        out[CP_MEASURE_datatrove_stop_words] =
            (double)stop_words_in(words, &scratch->datatroves_stop);
    }
    if (repetition) {
        cp_repetition counts;

        if ((code = cp_repetition_measure(words, text, repetition, &scratch->repetition,
                                          &counts)) != CP_OK)
            return code;
        take_datatroves_grams(&counts, characters, out);
    }
    return CP_OK;
}

static void take_grams(const cp_repetition *r, const cp_kind_counts *c, double *out)
{
    for (int i = 0; i < 3; i++) {
        out[OURS + i] = ratio(r->top[i].covered, r->token_characters);
        out[DOLMA + i] = ratio(r->top[i].occurrences * r->top[i].gram_characters, c->printed);
    }
    for (int i = 0; i < 6; i++) {
        out[OURS + 3 + i] = ratio(r->duplicate[i].covered, r->token_characters);
        out[DOLMA + 3 + i] = ratio(r->duplicate[i].dolma, r->duplicate[i].dolma_all);
    }
    out[CP_MEASURE_span_repeats] = (double)r->span_repeats;
}

static unsigned lines_wanted(cp_measure_set wanted)
{
    unsigned found = 0;

    if (wanted & (BIT(bullet_line_share) | BIT(ellipsis_line_share) |
                  BIT(terminal_punctuation_line_share)))
        found |= CP_LINES_EDGES;
    if (wanted & (BIT(short_line_share) | BIT(duplicate_line_character_share)))
        found |= CP_LINES_CHARACTERS;
    if (wanted & (BIT(duplicate_line_share) | BIT(duplicate_line_character_share)))
        found |= CP_LINES_DUPLICATES;
    if (wanted & BIT(paragraphs))
        found |= CP_LINES_PARAGRAPHS;
    if (wanted & (BIT(duplicate_paragraph_share) | BIT(duplicate_paragraph_character_share)))
        found |= CP_LINES_DUPLICATE_PARAGRAPHS;
    if (wanted & (BIT(residue_lines) | BIT(residue_line_share)))
        found |= CP_LINES_RESIDUE;
    return found;
}

static void take_lines(const cp_line_counts *l, double *out)
{
    out[CP_MEASURE_lines] = (double)l->lines;
    out[CP_MEASURE_paragraphs] = (double)l->paragraphs;
    out[CP_MEASURE_bullet_line_share] = ratio(l->bullets, l->lines);
    out[CP_MEASURE_ellipsis_line_share] = ratio(l->ellipses, l->lines);
    out[CP_MEASURE_terminal_punctuation_line_share] = ratio(l->terminal, l->lines);
    out[CP_MEASURE_short_line_share] = ratio(l->short_lines, l->lines);
    out[CP_MEASURE_residue_lines] = (double)l->residue;
    out[CP_MEASURE_residue_line_share] = ratio(l->residue, l->lines);
    out[CP_MEASURE_duplicate_line_share] = ratio(l->duplicates, l->lines);
    out[CP_MEASURE_duplicate_line_character_share] =
        ratio(l->duplicate_characters, l->characters);
    out[CP_MEASURE_duplicate_paragraph_share] = ratio(l->duplicate_paragraphs, l->paragraphs);
    out[CP_MEASURE_duplicate_paragraph_character_share] =
        ratio(l->duplicate_paragraph_characters, l->paragraph_characters);
}

static void take_markup(const cp_markup_counts *m, uint64_t characters, uint64_t tokens,
                        double *out)
{
    out[CP_MEASURE_html_tags] = (double)m->html_tags;
    out[CP_MEASURE_html_entities] = (double)m->html_entities;
    out[CP_MEASURE_curly_brackets] = (double)m->curly_brackets;
    out[CP_MEASURE_urls] = (double)m->urls;
    out[CP_MEASURE_email_addresses] = (double)m->email_addresses;
    out[CP_MEASURE_links] = (double)(m->urls + m->email_addresses);
    out[CP_MEASURE_markup_share] = ratio(m->markup_characters, characters);
    out[CP_MEASURE_link_share] = ratio(m->link_characters, characters);
    out[CP_MEASURE_markup_token_share] = ratio(m->markup_tokens, tokens);
    out[CP_MEASURE_link_token_share] = ratio(m->link_tokens, tokens);
}

int cp_measures_take(const uint8_t *text, size_t len, cp_measure_set wanted,
                     cp_measures_scratch *scratch, double out[CP_MEASURE_COUNT])
{
    cp_kind_counts kinds = {0};
    unsigned repetition = repetition_wanted(wanted), lines = lines_wanted(wanted);
    int code;

    if (wanted & of_kinds)
        take_kinds(text, len, wanted, &kinds, out);
    else if (wanted & of_number)
        kinds.characters = len ? cp_characters(text, text + len) : 0;
    out[CP_MEASURE_characters] = (double)kinds.characters;

    if (repetition || wanted & (BIT(stop_words) | of_markup_tokens)) {
        cp_repetition counts;
        uint64_t ill_formed = 0;

        scratch->tokens.count = 0;
        if ((code = cp_tokens_scan(text, len, &scratch->tokens, &ill_formed)) != CP_OK)
            return code;
        out[CP_MEASURE_tokens] = (double)scratch->tokens.count;
        out[CP_MEASURE_stop_words] = (double)stop_words_in(&scratch->tokens, &scratch->stop);
        if (repetition) {
            if ((code = cp_repetition_measure(&scratch->tokens, text, repetition,
                                              &scratch->repetition, &counts)) != CP_OK)
                return code;
            take_grams(&counts, &kinds, out);
        }
    } else if (wanted & BIT(tokens)) {
        out[CP_MEASURE_tokens] = (double)cp_tokens_count(text, len);
    }

    if (wanted & (of_datatroves_words | of_datatroves_grams) &&
        (code = take_datatroves_words(text, len, wanted, kinds.characters, scratch, out)) != CP_OK)
        return code;

    if (lines || wanted & of_lines) {
        cp_line_counts counts = {0};

        if ((code = cp_lines_count(text, len, lines, &scratch->lines, &counts)) != CP_OK)
            return code;
        take_lines(&counts, out);
    }
    if (wanted & BIT(sentences))
        out[CP_MEASURE_sentences] = (double)cp_segments_count(text, len, CP_SENTENCE);
    if (wanted & of_markup) {
        cp_markup_counts counts;

        const cp_tokens *tokens = wanted & of_markup_tokens ? &scratch->tokens : NULL;

        cp_markup_count(text, len, tokens, &counts);
        take_markup(&counts, kinds.characters, tokens ? tokens->count : 0, out);
    }
    return CP_OK;
}
