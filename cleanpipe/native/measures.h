/* All surface measures of a text in one go, and only those that are wanted: docs/measures.md
 * defines them, cleanpipe/surface.py describes them under the same names. */
#ifndef CP_MEASURES_H
#define CP_MEASURES_H

#include <stddef.h>
#include <stdint.h>

/* Raised by whatever changes the value of a measure for any text. */
#define CP_MEASURES_VERSION 2

#define CP_MEASURES_OF_GRAMS(X, prefix) \
    X(prefix##top_2_gram_share) \
    X(prefix##top_3_gram_share) \
    X(prefix##top_4_gram_share) \
    X(prefix##duplicate_5_gram_share) \
    X(prefix##duplicate_6_gram_share) \
    X(prefix##duplicate_7_gram_share) \
    X(prefix##duplicate_8_gram_share) \
    X(prefix##duplicate_9_gram_share) \
    X(prefix##duplicate_10_gram_share)

#define CP_MEASURES_OF_DATATROVES_WORDS(X) \
    X(datatrove_words) \
    X(datatrove_mean_word_length) \
    X(datatrove_hash_word_ratio) \
    X(datatrove_ellipsis_word_ratio) \
    X(datatrove_alphabetic_word_share) \
    X(datatrove_stop_words)

#define CP_MEASURES(X) \
    X(characters) \
    X(tokens) \
    X(lines) \
    X(sentences) \
    X(paragraphs) \
    X(whitespace_words) \
    X(mean_word_length) \
    X(symbol_share) \
    X(punctuation_share) \
    X(digit_share) \
    X(upper_share) \
    X(letter_share) \
    X(hash_word_ratio) \
    X(ellipsis_word_ratio) \
    X(bullet_line_share) \
    X(ellipsis_line_share) \
    X(alphabetic_word_share) \
    X(stop_words) \
    X(terminal_punctuation_line_share) \
    X(short_line_share) \
    X(newline_word_ratio) \
    X(duplicate_line_share) \
    X(duplicate_line_character_share) \
    X(duplicate_paragraph_share) \
    X(duplicate_paragraph_character_share) \
    CP_MEASURES_OF_DATATROVES_WORDS(X) \
    CP_MEASURES_OF_GRAMS(X, ) \
    CP_MEASURES_OF_GRAMS(X, datatrove_) \
    CP_MEASURES_OF_GRAMS(X, dolma_) \
    X(span_repeats) \
    X(html_tags) \
    X(html_entities) \
    X(curly_brackets) \
    X(urls) \
    X(email_addresses) \
    X(links) \
    X(markup_share) \
    X(link_share) \
    X(markup_token_share) \
    X(link_token_share) \
    X(residue_lines) \
    X(residue_line_share)

#define CP_MEASURE_NUMBER(name) CP_MEASURE_##name,
enum { CP_MEASURES(CP_MEASURE_NUMBER) CP_MEASURE_COUNT };
#undef CP_MEASURE_NUMBER

/* A set of measures: bit i is measure i. */
__extension__ typedef unsigned __int128 cp_measure_set;

#define CP_MEASURE_BIT(number) ((cp_measure_set)1 << (number))

_Static_assert(CP_MEASURE_COUNT < 128, "a set of measures is 128 bits");

/* Their names, in the order of the numbers. */
extern const char *const cp_measure_names[CP_MEASURE_COUNT];

/* Memory that is used again from text to text. The caller owns it: one a thread, from
 * cp_measures_open, which returns NULL when memory is short, to cp_measures_close. */
typedef struct cp_measures_scratch cp_measures_scratch;

cp_measures_scratch *cp_measures_open(void);
void cp_measures_close(cp_measures_scratch *scratch);

/* Takes the measures of `wanted` of `text`, which may be NULL when len is 0
 * and ill-formed UTF-8 anywhere. Writes out[i] for these alone.
 * Returns CP_OK, or CP_NO_MEMORY or CP_TOO_LONG (tokens.h), and then `out` holds nothing. */
int cp_measures_take(const uint8_t *text, size_t len, cp_measure_set wanted,
                     cp_measures_scratch *scratch, double out[CP_MEASURE_COUNT]);

#endif
