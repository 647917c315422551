/* Runs each kernel twice over each kind of text, in run_kernel, which callgrind counts and dumps,
 * and prints a line for each pair: kernel, kind of text, bytes; tab-separated, in the order of the
 * dumps. The second run is the one to look at: all arrays have grown then. */
#include <stdio.h>
#include <stdlib.h>

#include "ngrams.h"
#include "texts.h"
#include "tokens.h"

static cp_tokens tokens;
static uint64_t ill_formed;

static int scan(const uint8_t *text, size_t len)
{
    tokens.count = 0;
    return cp_tokens_scan(text, len, &tokens, &ill_formed);
}

static int count(const uint8_t *text, size_t len)
{
    tokens.count = cp_tokens_count(text, len);
    return CP_OK;
}

static int roll(const uint8_t *text, size_t len)
{
    int code = scan(text, len);

    if (code == CP_OK)
        cp_ngrams_roll(tokens.hash, tokens.count, 5, tokens.hash);
    return code;
}

/* A new kernel is a row here. */
static const struct {
    const char *name;
    int (*run)(const uint8_t *text, size_t len); /* CP_OK, or a kernel's code */
} kernels[] = {
    {"token counts", count},
    {"tokens", scan},
    {"tokens and 5-grams", roll},
};

/* callgrind is told this name, so it stays a function. */
__attribute__((noinline)) void run_kernel(size_t kernel, const texts *in);

void run_kernel(size_t kernel, const texts *in)
{
    size_t start = 0;

    for (size_t i = 0; i < in->count; i++) {
        int code = kernels[kernel].run(in->bytes + start, in->end[i] - start);

        if (code != CP_OK) {
            fprintf(stderr, "%s: code %d\n", kernels[kernel].name, code);
            exit(1);
        }
        start = in->end[i];
    }
}

int main(void)
{
    static texts in;

    for (size_t kind = 0; kind < TEXT_KINDS; kind++) {
        if (!texts_make(kind, &in)) {
            fprintf(stderr, "no memory\n");
            return 1;
        }
        for (size_t kernel = 0; kernel < sizeof kernels / sizeof *kernels; kernel++) {
            run_kernel(kernel, &in);
            run_kernel(kernel, &in);
            printf("%s\t%s\t%zu\n", kernels[kernel].name, text_names[kind], in.end[in.count - 1]);
        }
        free(in.bytes);
    }
    cp_tokens_free(&tokens);
    return 0;
}
