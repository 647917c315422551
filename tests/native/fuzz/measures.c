/* segments.h, lines.h, markup.h, kinds.h and measures.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "lines.h"
#include "markup.h"
#include "measures.h"
#include "plain.h"
#include "segments.h"
#include "unicode_tables.h"
#include "utf8.h"

/* The traits of the character at `at`, and the place behind it. */
static uint16_t traits_at(const fuzz_input *in, size_t *at)
{
    uint32_t code;
    int length = cp_utf8_decode(in->text + *at, in->text + in->len, &code);

    *at += (size_t)(length < 0 ? -length : length);
    return cp_unicode_kinds[cp_unicode_kind_of(code)].traits;
}

/* ---- segments ---- */

static void check_blank(const fuzz_input *in, size_t from, size_t to)
{
    while (from < to)
        FUZZ_CHECK(traits_at(in, &from) == 0);
}

/* Only a line and a paragraph may begin with whitespace. */
static void check_ends(const fuzz_input *in, cp_unit unit, const bool *boundary, size_t start,
                       size_t end)
{
    FUZZ_CHECK(traits_at(in, &start) || unit != CP_SENTENCE);
    do
        end--;
    while (!boundary[end]);
    FUZZ_CHECK(traits_at(in, &end));
}

uint64_t fuzz_segments(const fuzz_input *in)
{
    cp_unit unit = in->parameter[0] % 3 == 0   ? CP_LINE
                   : in->parameter[0] % 3 == 1 ? CP_PARAGRAPH
                                               : CP_SENTENCE;
    uint64_t digest, count = cp_segments_count(in->text, in->len, unit);
    bool *boundary = fuzz_boundaries(in->text, in->len);
    cp_spans spans = {0};
    uint32_t behind = 0;

    /* Twice, as the spans of another text are behind those of the first. */
    for (int times = 1; times <= 2; times++) {
        size_t before = spans.count;

        if (fuzz_no_memory(cp_segments(in->text, in->len, unit, &spans))) {
            FUZZ_CHECK(spans.count == before);
            FUZZ_CHECK(!fuzz_no_memory(cp_segments(in->text, in->len, unit, &spans)));
        }
        FUZZ_CHECK(spans.count - before == count);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t start = spans.start[i], end = spans.end[i];

        FUZZ_CHECK(behind <= start && start < end && end <= in->len);
        FUZZ_CHECK(boundary[start] && boundary[end]);
        check_blank(in, behind, start);
        check_ends(in, unit, boundary, start, end);
        FUZZ_CHECK(unit == CP_PARAGRAPH || !memchr(in->text + start, '\n', end - start));
        FUZZ_CHECK(spans.start[count + i] == start && spans.end[count + i] == end);
        behind = end;
    }
    check_blank(in, behind, in->len);
    digest = fuzz_digest(unit, spans.start, spans.count * sizeof *spans.start);
    digest = fuzz_digest(digest, spans.end, spans.count * sizeof *spans.end);
    cp_spans_free(&spans);
    free(boundary);
    return digest;
}

/* ---- lines ---- */

/* A span without the whitespace it begins with. */
static size_t start_of(const fuzz_input *in, const cp_spans *spans, size_t i)
{
    size_t start = spans->start[i], next = start;

    while (next < spans->end[i] && traits_at(in, &next) == 0)
        start = next;
    return start;
}

static uint64_t characters(const fuzz_input *in, size_t from, size_t to)
{
    uint64_t count = 0;

    while (from < to) {
        traits_at(in, &from);
        count++;
    }
    return count;
}

typedef struct {
    uint64_t count, characters, duplicates, duplicate_characters;
} duplicates;

/* False where memory was refused. */
static bool count_slowly(const fuzz_input *in, cp_unit unit, duplicates *d)
{
    cp_spans spans = {0};
    bool done = !fuzz_no_memory(cp_segments(in->text, in->len, unit, &spans));

    *d = (duplicates){.count = spans.count};
    for (size_t i = 0; i < spans.count; i++) {
        size_t start = start_of(in, &spans, i), length = spans.end[i] - start;
        uint64_t size = characters(in, start, spans.end[i]);
        bool met = false;

        for (size_t j = 0; !met && j < i; j++) {
            size_t other = start_of(in, &spans, j);

            met = spans.end[j] - other == length &&
                  memcmp(in->text + other, in->text + start, length) == 0;
        }
        d->characters += size;
        d->duplicates += met;
        d->duplicate_characters += met ? size : 0;
    }
    cp_spans_free(&spans);
    return done;
}

uint64_t fuzz_lines(const fuzz_input *in)
{
    cp_lines_scratch scratch = {.salt = {in->parameter[1], CP_HASH_START}};
    cp_line_counts all, some;
    unsigned wanted = in->parameter[0] & CP_LINES_ALL;
    duplicates lines, paragraphs;
    uint64_t digest = 0;

    if (fuzz_no_memory(cp_lines_count(in->text, in->len, CP_LINES_ALL, &scratch, &all)))
        FUZZ_CHECK(!fuzz_no_memory(cp_lines_count(in->text, in->len, CP_LINES_ALL, &scratch,
                                                  &all)));
    digest = fuzz_digest(digest, &all, sizeof all);
    /* With another salt, in a scratch that was used. */
    scratch.salt[0] = ~scratch.salt[0];
    if (fuzz_no_memory(cp_lines_count(in->text, in->len, wanted, &scratch, &some)))
        goto end;
    FUZZ_CHECK(some.lines == all.lines);
    if (wanted & CP_LINES_EDGES)
        FUZZ_CHECK(some.bullets == all.bullets && some.ellipses == all.ellipses &&
                   some.terminal == all.terminal);
    if (wanted & CP_LINES_CHARACTERS)
        FUZZ_CHECK(some.short_lines == all.short_lines && some.characters == all.characters);
    if (wanted & CP_LINES_RESIDUE)
        FUZZ_CHECK(some.residue == all.residue && all.residue <= all.lines);
    if (wanted & CP_LINES_DUPLICATES)
        FUZZ_CHECK(some.duplicates == all.duplicates &&
                   some.duplicate_characters == all.duplicate_characters);
    if (wanted & (CP_LINES_PARAGRAPHS | CP_LINES_DUPLICATE_PARAGRAPHS))
        FUZZ_CHECK(some.paragraphs == all.paragraphs &&
                   some.paragraph_characters == all.paragraph_characters);
    if (wanted & CP_LINES_DUPLICATE_PARAGRAPHS)
        FUZZ_CHECK(some.duplicate_paragraphs == all.duplicate_paragraphs &&
                   some.duplicate_paragraph_characters == all.duplicate_paragraph_characters);

    FUZZ_CHECK(all.bullets <= all.lines && all.ellipses <= all.lines);
    FUZZ_CHECK(all.terminal <= all.lines && all.short_lines <= all.lines);
    if (!count_slowly(in, CP_LINE, &lines) || !count_slowly(in, CP_PARAGRAPH, &paragraphs))
        goto end;
    FUZZ_CHECK(all.lines == lines.count && all.characters == lines.characters);
    FUZZ_CHECK(all.duplicates == lines.duplicates);
    FUZZ_CHECK(all.duplicate_characters == lines.duplicate_characters);
    FUZZ_CHECK(all.paragraphs == paragraphs.count);
    FUZZ_CHECK(all.paragraph_characters == paragraphs.characters);
    FUZZ_CHECK(all.duplicate_paragraphs == paragraphs.duplicates);
    FUZZ_CHECK(all.duplicate_paragraph_characters == paragraphs.duplicate_characters);
end:
    cp_lines_free(&scratch);
    return digest;
}

/* ---- markup ---- */

/* Nothing becomes ill-formed that was not. */
static uint64_t check_plain(const fuzz_input *in, uint64_t digest)
{
    uint8_t *shown = fuzz_allocate(in->len);

    cp_plain_text(in->text, in->len, shown);
    FUZZ_CHECK(cp_utf8_ill_formed(shown, in->len) <= cp_utf8_ill_formed(in->text, in->len));
    digest = fuzz_digest(digest, shown, in->len);
    free(shown);
    return digest;
}

uint64_t fuzz_markup(const fuzz_input *in)
{
    uint64_t curly = 0, less = 0, ampersands = 0, ats = 0, all = characters(in, 0, in->len);
    cp_markup_counts counts, with_tokens;
    cp_tokens tokens = {0};
    uint64_t ill_formed = 0;

    cp_markup_count(in->text, in->len, NULL, &counts);
    if (!fuzz_no_memory(cp_tokens_scan(in->text, in->len, &tokens, &ill_formed))) {
        cp_markup_count(in->text, in->len, &tokens, &with_tokens);
        FUZZ_CHECK(with_tokens.markup_tokens + with_tokens.link_tokens <= tokens.count);
        with_tokens.markup_tokens = with_tokens.link_tokens = 0;
        FUZZ_CHECK(memcmp(&counts, &with_tokens, sizeof counts) == 0);
    }
    cp_tokens_free(&tokens);
    for (size_t i = 0; i < in->len; i++) {
        curly += in->text[i] == '{' || in->text[i] == '}';
        less += in->text[i] == '<';
        ampersands += in->text[i] == '&';
        ats += in->text[i] == '@';
    }
    FUZZ_CHECK(counts.curly_brackets == curly);
    FUZZ_CHECK(counts.html_tags <= less && counts.html_entities <= ampersands);
    FUZZ_CHECK(counts.email_addresses <= ats);
    FUZZ_CHECK(counts.markup_characters >= counts.html_tags * 3 + counts.html_entities * 4);
    FUZZ_CHECK(counts.link_characters >= counts.urls * 5 + counts.email_addresses * 6);
    FUZZ_CHECK(counts.markup_characters + counts.link_characters <= all);
    return check_plain(in, fuzz_digest(0, &counts, sizeof counts));
}

/* ---- kinds ---- */

uint64_t fuzz_kinds(const fuzz_input *in)
{
    cp_kind_counts counts, slowly = {0};
    bool in_word = false, alphabetic = false;
    uint64_t ellipses = 0;

    for (size_t at = 0; at < in->len;) {
        uint16_t traits = traits_at(in, &at);

        slowly.characters++;
        slowly.printed += (traits & CP_PRINTED) != 0;
        slowly.visible += (traits & CP_VISIBLE) != 0;
        slowly.letters += (traits & CP_LETTER) != 0;
        slowly.marks += (traits & CP_WRITTEN_MARK) != 0;
        slowly.upper += (traits & CP_UPPER) != 0;
        slowly.digits += (traits & CP_DIGIT) != 0;
        slowly.punctuation += (traits & CP_PUNCTUATION) != 0;
        slowly.symbols += (traits & CP_SYMBOL) != 0;
        slowly.words += traits && !in_word;
        in_word = traits != 0;
        slowly.alphabetic_words += traits & CP_LETTER && !alphabetic;
        alphabetic = in_word && (alphabetic || traits & CP_LETTER);
    }
    cp_kinds_count(in->text, in->len, &counts);
    FUZZ_CHECK(memcmp(&counts, &slowly, sizeof counts) == 0);

    for (size_t i = 0; i + 3 <= in->len; i++)
        if (memcmp(in->text + i, "...", 3) == 0 || memcmp(in->text + i, "\xE2\x80\xA6", 3) == 0) {
            ellipses++;
            i += 2;
        }
    FUZZ_CHECK(cp_ellipses(in->text, in->len) == ellipses);
    return fuzz_digest(ellipses, &counts, sizeof counts);
}

/* ---- all measures ---- */

uint64_t fuzz_measures(const fuzz_input *in)
{
    const cp_measure_set everything = CP_MEASURE_BIT(CP_MEASURE_COUNT) - 1;
    double all[CP_MEASURE_COUNT], some[CP_MEASURE_COUNT];
    cp_measures_scratch *scratch = cp_measures_open();
    cp_measure_set wanted;
    uint64_t drawn = 0, digest = 0;

    if (!scratch) {
        FUZZ_CHECK(fuzz_no_memory(CP_NO_MEMORY));
        return 0;
    }
    memcpy(&drawn, in->parameter, FUZZ_PARAMETERS - 1);
    wanted = ((cp_measure_set)cp_hash_mix(~drawn) << 64 | cp_hash_mix(drawn)) & everything;
    if (fuzz_no_memory(cp_measures_take(in->text, in->len, everything, scratch, all)))
        FUZZ_CHECK(!fuzz_no_memory(cp_measures_take(in->text, in->len, everything, scratch, all)));
    /* Any set of measures gives the same, in a scratch that was used. */
    if (!fuzz_no_memory(cp_measures_take(in->text, in->len, wanted, scratch, some)))
        for (int i = 0; i < CP_MEASURE_COUNT; i++)
            if (wanted >> i & 1)
                FUZZ_CHECK(some[i] == all[i]);
    for (int i = 0; i < CP_MEASURE_COUNT; i++) {
        const char *name = cp_measure_names[i];
        size_t length = strlen(name);

        FUZZ_CHECK(all[i] >= 0 && all[i] <= (double)(in->len * 16));
        if (length > 6 && strcmp(name + length - 6, "_share") == 0 &&
            strncmp(name, "datatrove_top", 13) != 0 && strncmp(name, "dolma_top", 9) != 0)
            FUZZ_CHECK(all[i] <= 1);
    }
    digest = fuzz_digest(digest, all, sizeof all);
    cp_measures_close(scratch);
    return digest;
}
