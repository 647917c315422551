/* profiles.h, vocabulary.h, ccnet.h and parts.h */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ccnet.h"
#include "parts.h"
#include "profiles.h"

/* The next code point, which is well-formed. */
static uint32_t next_code(const uint8_t **at, const uint8_t *end)
{
    uint32_t code;
    int length = cp_utf8_decode(*at, end, &code);

    FUZZ_CHECK(length > 0);
    *at += length;
    return code;
}

/* ---- profiles ---- */

/* Numbers of the fresh words are those of their first coming, and each stands alone in its line. */
static void check_fresh(const cp_prepared *p)
{
    const uint8_t *const text = p->text.data;

    FUZZ_CHECK(p->fresh.count == p->fresh_start.count && p->fresh.count == p->fresh_end.count);
    for (size_t i = 0; i < p->fresh_start.count; i++) {
        const size_t start = (size_t)p->fresh_start.number[i], end = (size_t)p->fresh_end.number[i];

        FUZZ_CHECK(start < end && end < p->text.size);
        FUZZ_CHECK(start == 0 || text[start - 1] == ' ' || text[start - 1] == '\n');
        FUZZ_CHECK(text[end] == ' ' || text[end] == '\n');
        FUZZ_CHECK(!memchr(text + start, ' ', end - start));
    }
    for (size_t i = 0, next = 0; i < p->unseen.count; i++) {
        FUZZ_CHECK((size_t)p->unseen.number[i] <= next);
        next += (size_t)p->unseen.number[i] == next;
    }
}

static void check_lines(const cp_prepared *p)
{
    const uint8_t *at = p->text.data, *const end = at + p->text.size;
    int64_t lines = 0, tokens = 0;
    uint32_t before = '\n';

    while (at < end) {
        const uint32_t code = next_code(&at, end);
        const uint16_t traits = cp_form_of(code)->traits;
        const bool between = code == ' ' || code == '\n';

        FUZZ_CHECK(code && (between || !(traits & CP_FORM_SPACE)));
        FUZZ_CHECK(code == '0' || !(traits & CP_FORM_DECIMAL));
        FUZZ_CHECK(!between || (before != ' ' && before != '\n'));
        lines += code == '\n';
        tokens += between;
        before = code;
    }
    FUZZ_CHECK(before == '\n' && lines == p->sentences && tokens == p->tokens);
}

/* Line by line the text gives the same. */
static void check_apart(const cp_prepared *whole, const fuzz_input *in, const cp_vocabulary *none)
{
    cp_prepared apart = {0};
    int status = cp_prepared_begin(&apart, whole->profile, none);

    for (size_t at = 0; status == CP_OK && at < in->len;) {
        const uint8_t *const found = memchr(in->text + at, '\n', in->len - at);
        const size_t end = found ? (size_t)(found - in->text) : in->len;

        status = cp_prepared_add(&apart, in->text + at, end - at);
        at = end + 1;
    }
    if (!fuzz_no_memory(status)) {
        FUZZ_CHECK(apart.text.size == whole->text.size && apart.sentences == whole->sentences);
        FUZZ_CHECK(!apart.text.size ||
                   memcmp(apart.text.data, whole->text.data, apart.text.size) == 0);
    }
    cp_prepared_free(&apart);
}

/* Once the words are in a vocabulary, every second one as known, none is unseen. */
static void check_known(const cp_prepared *first, const fuzz_input *in)
{
    const size_t words = first->fresh_start.count;
    cp_vocabulary all = {.count = cp_vocabulary_size(words)};
    cp_prepared again = {0};
    const cp_salt salt = cp_salt_of_process();
    int64_t known = 0;

    all.number = fuzz_allocate(all.count * sizeof *all.number);
    memset(all.number, 0, all.count * sizeof *all.number);
    for (size_t i = 0; i < words; i++) {
        const size_t start = (size_t)first->fresh_start.number[i];
        const size_t len = (size_t)first->fresh_end.number[i] - start;
        uint8_t *const copy = fuzz_copy(first->text.data + start, len);
        const uint64_t hash = cp_word_hash_within(copy, len, &salt);

        FUZZ_CHECK(hash == cp_word_hash(first->text.data + start, len, &salt));
        FUZZ_CHECK(!cp_vocabulary_find(&all, hash));
        cp_vocabulary_add(&all, hash | (i & 1));
        free(copy);
    }
    FUZZ_CHECK(cp_vocabulary_good(&all) && all.number[0] == words);
    for (size_t i = 0; i < first->unseen.count; i++)
        known += first->unseen.number[i] & 1;
    if (!fuzz_no_memory(cp_prepared_begin(&again, first->profile, &all)) &&
        !fuzz_no_memory(cp_prepared_add(&again, in->text, in->len))) {
        FUZZ_CHECK(again.unseen.count == 0 && again.known == known);
        FUZZ_CHECK(again.tokens == first->tokens && again.text.size == first->text.size);
    }
    cp_prepared_free(&again);
    free(all.number);
}

uint64_t fuzz_profiles(const fuzz_input *in)
{
    uint64_t number[CP_VOCABULARY_LEAST] = {0}, digest = 0;
    const cp_vocabulary none = {number, CP_VOCABULARY_LEAST};
    const cp_profile profile = in->parameter[0] & 1 ? CP_CHARACTERS : CP_WORDS;
    cp_prepared prepared = {0};

    if (!fuzz_no_memory(cp_prepared_begin(&prepared, profile, &none)) &&
        !fuzz_no_memory(cp_prepared_add(&prepared, in->text, in->len))) {
        FUZZ_CHECK(prepared.known == 0 && (int64_t)prepared.unseen.count == prepared.tokens);
        if (prepared.text.size)
            check_lines(&prepared);
        check_fresh(&prepared);
        check_apart(&prepared, in, &none);
        check_known(&prepared, in);
        digest = fuzz_digest(digest, prepared.text.data, prepared.text.size);
        digest = fuzz_digest(digest, prepared.unseen.number,
                             prepared.unseen.count * sizeof *prepared.unseen.number);
    }
    cp_prepared_free(&prepared);
    return digest;
}

/* ---- CCNet's lines ---- */

uint64_t fuzz_ccnet(const fuzz_input *in)
{
    cp_bytes out = {0};
    cp_row row = {0};
    uint64_t digest = 0;

    /* Twice, as a line is behind another. */
    for (int times = 1; times <= 2; times++) {
        const size_t before = out.size;

        if (fuzz_no_memory(cp_ccnet(in->text, in->len, &row, &out))) {
            FUZZ_CHECK(out.size == before);
            FUZZ_CHECK(!fuzz_no_memory(cp_ccnet(in->text, in->len, &row, &out)));
        }
    }
    FUZZ_CHECK(out.size % 2 == 0);
    if (out.size) {
        const uint8_t *at = out.data, *const end = out.data + out.size / 2;

        FUZZ_CHECK(memcmp(at, end, out.size / 2) == 0);
        while (at < end) {
            const uint32_t code = next_code(&at, end);
            const uint16_t traits = cp_form_of(code)->traits;

            FUZZ_CHECK(code >= 0x20 && (code < 0x7F || code >= 0xA0));
            FUZZ_CHECK(!(traits & (CP_FORM_NONSPACING | CP_FORM_DECOMPOSES)));
            FUZZ_CHECK(code == '0' || !(traits & CP_FORM_DECIMAL));
            FUZZ_CHECK(code < 'A' || code > 'Z');
        }
        digest = fuzz_digest(digest, out.data, out.size);
    }
    cp_bytes_free(&out);
    cp_row_free(&row);
    return digest;
}

/* ---- parts ---- */

uint64_t fuzz_parts(const fuzz_input *in)
{
    const cp_part part = {
        .characters = in->parameter[0] % 64u,
        .stretch = in->parameter[1] % 16u,
        .how = in->parameter[2] & (CP_PART_SPACED | CP_PART_LOWERED),
    };
    cp_bytes spare = {0}, out = {0};
    uint64_t digest = 0;

    if (fuzz_no_memory(cp_part_add(&part, in->text, in->len, &spare, &out))) {
        FUZZ_CHECK(out.size == 0);
        FUZZ_CHECK(!fuzz_no_memory(cp_part_add(&part, in->text, in->len, &spare, &out)));
    }
    if (out.size) {
        const uint8_t *at = out.data, *const end = out.data + out.size - 1;
        size_t codes = 0;
        bool letter = false;

        FUZZ_CHECK(*end == '\n' && !memchr(at, '\n', out.size - 1));
        for (size_t i = 0; i + 4 < out.size; i++)
            FUZZ_CHECK(memcmp(out.data + i, "</s>", 4) != 0);
        while (at < end) {
            letter |= (cp_form_of(next_code(&at, end))->traits & CP_FORM_ALPHA) != 0;
            codes++;
        }
        FUZZ_CHECK(letter);
        /* A space between two stretches; İ becomes two. */
        if (part.characters && !part.how && !cp_utf8_ill_formed(in->text, in->len))
            FUZZ_CHECK(codes < 2 * part.characters);
        digest = fuzz_digest(digest, out.data, out.size);
    }
    cp_bytes_free(&spare);
    cp_bytes_free(&out);
    return digest;
}
