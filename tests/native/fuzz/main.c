/* Runs inputs through the properties: libFuzzer's (FUZZ_LIBFUZZER), or given or made-up ones.
 *
 * All sources are compiled with -Dmalloc=fuzz_malloc and so on, so that allocations can fail. */
#undef malloc
#undef calloc
#undef realloc

#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

static const struct {
    const char *name;
    uint64_t (*run)(const fuzz_input *in);
} kernels[] = {
    {"utf8", fuzz_utf8},
    {"tokens", fuzz_tokens},
    {"code_tokens", fuzz_code_tokens},
    {"ngrams", fuzz_ngrams},
    {"minhash", fuzz_minhash},
    {"index", fuzz_index},
    {"table", fuzz_table},
    {"repetition", fuzz_repetition},
    {"segments", fuzz_segments},
    {"lines", fuzz_lines},
    {"markup", fuzz_markup},
    {"kinds", fuzz_kinds},
    {"measures", fuzz_measures},
    {"sets", fuzz_sets},
    {"passages", fuzz_passages},
    {"profiles", fuzz_profiles},
    {"ccnet", fuzz_ccnet},
    {"parts", fuzz_parts},
};

enum { KERNELS = sizeof kernels / sizeof *kernels, HEADER = 1 + FUZZ_PARAMETERS, BEHIND = 64 };

static const char *running = "none";

_Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: kernel %s: not so: %s\n", file, line, running, what);
    abort();
}

/* ---- memory ---- */

static unsigned refuse_in; /* the allocation to refuse, 1 for the next; 0: none */
static bool refused;

static bool refuse(void)
{
    if (!refuse_in || --refuse_in)
        return false;
    return refused = true;
}

void *fuzz_malloc(size_t size);
void *fuzz_calloc(size_t count, size_t size);
void *fuzz_realloc(void *block, size_t size);

void *fuzz_malloc(size_t size)
{
    return refuse() ? NULL : malloc(size);
}

void *fuzz_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : calloc(count, size);
}

void *fuzz_realloc(void *block, size_t size)
{
    return refuse() ? NULL : realloc(block, size);
}

bool fuzz_no_memory(int status)
{
    FUZZ_CHECK(status == CP_OK || (status == CP_NO_MEMORY && refused));
    return status != CP_OK;
}

void *fuzz_allocate(size_t size)
{
    void *block = size ? malloc(size) : NULL;

    if (size && !block) {
        fprintf(stderr, "the harness has no memory\n");
        exit(2);
    }
    return block;
}

void *fuzz_copy(const void *from, size_t size)
{
    void *block = fuzz_allocate(size);

    return size ? memcpy(block, from, size) : NULL;
}

/* ---- one input ---- */

/* Runs the kernel on the text followed by `behind` bytes of the value `byte`. */
static uint64_t run(size_t kernel, const fuzz_input *in, size_t behind, int byte)
{
    fuzz_input copy = *in;
    uint8_t *text = fuzz_allocate(in->len + behind);
    uint64_t digest;

    if (in->len)
        memcpy(text, in->text, in->len);
    if (behind)
        memset(text + in->len, byte, behind);
    copy.text = text;
    digest = kernels[kernel].run(&copy);
    FUZZ_CHECK(in->len == 0 || memcmp(text, in->text, in->len) == 0);
    free(text);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* What the bytes behind could continue: an ASCII word, a multi-byte sequence. */
    static const uint8_t behind[] = {'a', 0xBF};
    size_t kernel = size ? data[0] % KERNELS : 0;
    fuzz_input in = {.len = size > HEADER ? size - HEADER : 0};
    uint64_t digest;

    if (size > 1)
        memcpy(in.parameter, data + 1, (size < HEADER ? size : HEADER) - 1);
    in.text = in.len ? data + HEADER : NULL;
    running = kernels[kernel].name;

    cp_isa_used = cp_isa_usable(0);
    digest = run(kernel, &in, 0, 0);
    for (size_t i = 1; (cp_isa_used = cp_isa_usable(i)); i++)
        FUZZ_CHECK(run(kernel, &in, 0, 0) == digest);
    cp_isa_used = cp_isa_usable(0);
    for (size_t i = 0; i < sizeof behind; i++)
        FUZZ_CHECK(run(kernel, &in, BEHIND, behind[i]) == digest);

    refuse_in = 1 + in.parameter[FUZZ_PARAMETERS - 1] % 8u;
    run(kernel, &in, 0, 0);
    refuse_in = 0;
    refused = false;
    return 0;
}

/* ---- with libFuzzer ---- */

#ifdef FUZZ_LIBFUZZER

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* In place of a corpus: one in eight inputs is made up anew. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (seed % 8 == 0 && room > HEADER)
        return fuzz_make(seed / 8, data, room);
    return LLVMFuzzerMutate(data, size, room);
}

#else

/* ---- without ---- */

static unsigned long seed; /* of the made-up input, if it is one */

static void say_seed(int number)
{
    (void)number;
    if (seed)
        fprintf(stderr, "this was input %lu: run it alone by --made %lu %lu\n", seed, seed, seed);
    _Exit(1);
}

/* So that what sanitizers report ends in say_seed too. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0) {
        rewind(file);
        data = fuzz_allocate((size_t)size);
        if (fread(data, 1, (size_t)size, file) != (size_t)size)
            size = -1;
    }
    if (file)
        fclose(file);
    if (size < 0)
        fprintf(stderr, "cannot read %s\n", path);
    else
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return size >= 0;
}

int main(int argc, char **argv)
{
    signal(SIGABRT, say_seed);
    if (argc == 4 && strcmp(argv[1], "--made") == 0) {
        unsigned long last = strtoul(argv[3], NULL, 10);
        uint8_t data[2048];

        for (seed = strtoul(argv[2], NULL, 10); seed <= last; seed++)
            LLVMFuzzerTestOneInput(data, fuzz_make(seed, data, sizeof data));
        seed = 0;
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: %s FILE... | --made FIRST LAST\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (!run_file(argv[i]))
            return 2;
    return 0;
}

#endif
