#include "ccnet.h"

#include <string.h>

#include "characters.h"

enum { MOST = 16 /* bytes that a code point becomes */, RUN = 4096 };

/* Nothing is mapped to U+0000, so that it may say: no entry. */
static const char *punctuation(uint32_t code)
{
    switch (code) {
    case 0xAB: case 0xBB:                                     /* « » */
    case 0x201C: case 0x201D: case 0x201E:                    /* “ ” „ */
    case 0x300A: case 0x300B: case 0x300C: case 0x300D:       /* 《 》 「 」 */
        return "\"";
    case 0xB4: case 0x2019:                                   /* ´ ’ */
        return "'";
    case 0x2013: case 0x2501: case 0x25BA:                    /* – ━ ► */
        return "-";
    case 0x2014: return " - ";                                /* — */
    case 0x2026: return "...";                                /* … */
    case 0x2236: case 0xFF1A: return ":";                     /* ∶ ： */
    case 0x3001: case 0xFF0C: return ",";                     /* 、 ， */
    case 0x3002: return ".";                                  /* 。 */
    case 0x3008: return "<";                                  /* 〈 */
    case 0x3009: return ">";                                  /* 〉 */
    case 0x3010: return "[";                                  /* 【 */
    case 0x3011: return "]";                                  /* 】 */
    case 0xFF01: return "!";                                  /* ！ */
    case 0xFF05: return "%";                                  /* ％ */
    case 0xFF08: return "(";                                  /* （ */
    case 0xFF09: return ")";                                  /* ） */
    case 0xFF0E: return ". ";                                 /* ． */
    case 0xFF1B: return ";";                                  /* ； */
    case 0xFF1F: return "?";                                  /* ？ */
    case 0xFF5E: return "~";                                  /* ～ */
    default: return NULL;
    }
}

/* What an ASCII character becomes; 0: it goes. */
static inline uint8_t ascii(uint8_t byte)
{
    if (byte < 0x20 || byte == 0x7F)
        return 0;
    if (byte >= '0' && byte <= '9')
        return '0';
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* Writes a code point that is neither Mn nor decomposes; there is room for MOST bytes. */
static void write(uint32_t code, uint16_t traits, cp_bytes *out)
{
    const char *mapped;
    uint8_t *to = out->data + out->size;

    if (traits & CP_FORM_DECIMAL) {
        *to = '0';
        out->size++;
    } else if (code < 0x80) {
        *to = ascii((uint8_t)code);
        out->size += *to != 0;
    } else if (!(traits & CP_FORM_WORD) && (mapped = punctuation(code))) {
        out->size += strlen(mapped);
        memcpy(to, mapped, strlen(mapped));
    } else if (code >= 0xA0) {
        out->size += (size_t)cp_utf8_encode(code, to);
    }
}

/* Marks that stay are put in order, once all of them are there. */
static int flush(cp_row *row, cp_bytes *out)
{
    if (cp_bytes_reserve(out, row->count * MOST) != CP_OK)
        return CP_NO_MEMORY;
    cp_row_order(row);
    for (size_t i = 0; i < row->count; i++) {
        uint32_t code = cp_row_code(row, i);

        write(code, cp_form_of(code)->traits, out);
    }
    row->count = 0;
    return CP_OK;
}

static int take(uint32_t code, cp_row *row, cp_bytes *out)
{
    const cp_form_kind *kind = cp_form_of(code);

    if (kind->ccc)
        return kind->traits & CP_FORM_NONSPACING ? CP_OK : cp_row_add(row, code);
    if (row->count && flush(row, out) != CP_OK)
        return CP_NO_MEMORY;
    if (kind->traits & CP_FORM_NONSPACING)
        return CP_OK;
    if (cp_bytes_reserve(out, MOST) != CP_OK)
        return CP_NO_MEMORY;
    write(code, kind->traits, out);
    return CP_OK;
}

/* A character in lower case, decomposed. */
static int take_decomposed(uint32_t code, cp_row *row, cp_bytes *out)
{
    const cp_decomposition *found;
    const uint32_t *from;
    uint32_t letters[3];
    int count, status = CP_OK;

    if (!(cp_form_of(code)->traits & CP_FORM_DECOMPOSES))
        return take(code, row, out);
    if (cp_is_hangul(code)) {
        count = cp_hangul_letters(code, letters);
        from = letters;
    } else {
        found = cp_decomposition_of(code);
        count = found->canonical;
        from = cp_decomposed + found->at;
    }
    for (int i = 0; i < count && status == CP_OK; i++)
        status = take(from[i], row, out);
    return status;
}

static int take_text(const uint8_t *begin, const uint8_t *end, cp_row *row, cp_bytes *out)
{
    const uint8_t *at = begin;
    uint32_t code;
    int length, status = CP_OK;

    while (at < end && status == CP_OK) {
        if (*at < 0x80) {
            const uint8_t *const stop = end - at > RUN ? at + RUN : end;
            uint8_t *to;

            if ((row->count && flush(row, out) != CP_OK) ||
                cp_bytes_reserve(out, (size_t)(stop - at)) != CP_OK)
                return CP_NO_MEMORY;
            for (to = out->data + out->size; at < stop && *at < 0x80; at++) {
                *to = ascii(*at);
                to += *to != 0;
            }
            out->size = (size_t)(to - out->data);
            continue;
        }
        length = cp_utf8_decode(at, end, &code);
        length = length < 0 ? -length : length;
        /* Behind CP_DOTTED_I's i CP_DOT_ABOVE would go again. */
        code = cp_lower_in(code, begin, at, at + length, end);
        status = take_decomposed(code, row, out);
        at += length;
    }
    return status == CP_OK && row->count ? flush(row, out) : status;
}

int cp_ccnet(const uint8_t *text, size_t len, cp_row *row, cp_bytes *out)
{
    const size_t size = out->size;
    const uint8_t *begin, *end = len ? text + len : text;
    int status;

    row->count = 0;
    begin = cp_skip_space(text, end);
    end = cp_trim_space(begin, end);
    status = take_text(begin, end, row, out);
    if (status != CP_OK)
        out->size = size;
    return status;
}
