/* replay.c: the main of a fuzz target without libFuzzer, so that every build searches a little: each file of the corpus
 * folder as it is, cut short, with single bytes changed, and under seeded random mutations (OG_FUZZ_RUNS of them). */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input files[4096];
static size_t n_files;
static long runs;
static uint64_t state;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(size_t n) { return n ? (size_t)(draw() % n) : 0; }

static const uint8_t *now;
static size_t now_size;

/* Keeps what broke the target, so that it can become a file of the corpus. */
static void on_abort(int number) {
    FILE *file = fopen("fuzz-crash", "wb");
    if (file) {
        fwrite(now, 1, now_size, file);
        fclose(file);
    }
    fprintf(stderr, "signal %d on the %zu bytes of ./fuzz-crash\n", number, now_size);
    signal(number, SIG_DFL);
    raise(number);
}

/* On memory with no byte to spare, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) exit(1);
    if (size) memcpy(exact, data, size);
    now = exact;
    now_size = size;
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

static void run_neighbours(const input *in) {
    run(in->data, in->size);
    uint8_t *copy = malloc(in->size + 1);
    if (!copy) exit(1);
    memcpy(copy, in->data, in->size);
    size_t step = 1 + in->size / 200;
    for (size_t at = 0; at < in->size; at += step) {
        run(copy, at);
        copy[at] = (uint8_t)(in->data[at] ^ 0x01);
        run(copy, in->size);
        copy[at] = (uint8_t)(in->data[at] ^ 0xFF);
        run(copy, in->size);
        copy[at] = in->data[at];
    }
    free(copy);
}

/* Replaces [at, at + gone) of a growing copy by bytes. */
static void splice(input *in, size_t at, size_t gone, const void *bytes, size_t n) {
    uint8_t *grown = malloc(in->size - gone + n + 1);
    if (!grown) exit(1);
    memcpy(grown, in->data, at);
    if (n) memcpy(grown + at, bytes, n);
    memcpy(grown + at + n, in->data + at + gone, in->size - at - gone);
    free(in->data);
    in->data = grown;
    in->size = in->size - gone + n;
}

static void mutate(input *in) {
    static const char *const words[] = {"0",
                                        "-1",
                                        "1",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551616",
                                        "4294967296",
                                        "2147483647",
                                        "1e999",
                                        "-0.0",
                                        "null",
                                        "true",
                                        "\"\"",
                                        "[]",
                                        "{}",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        ",",
                                        ":",
                                        "\n",
                                        "  ",
                                        "- ",
                                        "&a ",
                                        "*a",
                                        "\\",
                                        "\"",
                                        "\xff",
                                        "\xe2\x80\xa8",
                                        "\\u0000",
                                        "\\ud800",
                                        ".inf",
                                        "#",
                                        "|",
                                        ">"};
    size_t at = below(in->size + 1), left = in->size - at, some = left < 32 ? below(left + 1) : below(32);
    const input *other = &files[below(n_files)];
    const char *word = words[below(sizeof words / sizeof *words)];
    uint8_t byte = (uint8_t)draw();
    switch (draw() % 8) {
    case 0:
        if (left) in->data[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (left) in->data[at] = byte;
        break;
    case 2: splice(in, at, 0, &byte, 1); break;
    case 3: splice(in, at, some, "", 0); break;
    case 4: splice(in, at, some, word, strlen(word)); break;
    case 5: splice(in, at, 0, word, strlen(word)); break;
    case 6: { /* a piece of this file again, elsewhere */
        uint8_t piece[32];
        memcpy(piece, in->data + at, some);
        splice(in, below(in->size + 1), 0, piece, some);
        break;
    }
    default: { /* the tail of another file */
        size_t from = below(other->size + 1);
        splice(in, at, left, other->data + from, other->size - from);
    }
    }
}

static void run_mutations(const input *from, long n) {
    for (long i = 0; i < n; i++) {
        input in = {malloc(from->size + 1), from->size};
        if (!in.data) exit(1);
        memcpy(in.data, from->data, from->size);
        for (size_t k = 1 + below(6); k > 0; k--) mutate(&in);
        run(in.data, in.size < 65536 ? in.size : 65536);
        free(in.data);
    }
}

static void add_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) || n_files == sizeof files / sizeof *files) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    rewind(file);
    input in = {malloc((size_t)size + 1), (size_t)size};
    if (!in.data || fread(in.data, 1, in.size, file) != in.size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    files[n_files++] = in;
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* In the order of names, so that the seeds mean the same everywhere. */
static void add_folder(DIR *folder, const char *path) {
    char *names[4096];
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) && n < 4096;) {
        if (entry->d_name[0] == '.') continue;
        size_t room = strlen(path) + strlen(entry->d_name) + 2;
        names[n] = malloc(room);
        if (!names[n]) exit(1);
        snprintf(names[n++], room, "%s/%s", path, entry->d_name);
    }
    qsort(names, n, sizeof *names, compare);
    for (size_t i = 0; i < n; i++) {
        add_file(names[i]);
        free(names[i]);
    }
}

int main(int argc, char **argv) {
    const char *wanted = getenv("OG_FUZZ_RUNS");
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder) {
            add_folder(folder, argv[i]);
            closedir(folder);
        } else {
            add_file(argv[i]);
        }
    }
    signal(SIGABRT, on_abort); /* of the target's own checks; a sanitizer reports for itself */
    run((const uint8_t *)"", 0);
    for (size_t i = 0; i < n_files; i++) {
        state = i; /* a new file at the end changes nothing before it */
        run_neighbours(&files[i]);
        run_mutations(&files[i], wanted ? atol(wanted) : 20000 / (long)n_files);
    }
    printf("%zu files, %ld runs\n", n_files, runs);
    for (size_t i = 0; i < n_files; i++) free(files[i].data);
    return n_files ? 0 : 1; /* a corpus that has gone missing tests nothing */
}
