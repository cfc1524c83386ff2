/* replay.c: the main of a fuzz target without libFuzzer: runs it over the files of its corpus folder, each also cut short and
 * with single bytes changed, so that the corpus is an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long run_variants(uint8_t *data, size_t size) {
    long runs = 1;
    LLVMFuzzerTestOneInput(data, size);
    size_t step = 1 + size / 200;
    for (size_t at = 0; at < size; at += step, runs += 3) {
        LLVMFuzzerTestOneInput(data, at);
        uint8_t kept = data[at];
        data[at] = (uint8_t)(kept ^ 0x01);
        LLVMFuzzerTestOneInput(data, size);
        data[at] = (uint8_t)(kept ^ 0xFF);
        LLVMFuzzerTestOneInput(data, size);
        data[at] = kept;
    }
    return runs;
}

static long run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    uint8_t *exact = malloc(size ? (size_t)size : 1); /* no byte to spare, so that a sanitizer sees a read past the end */
    if (!exact) exit(1);
    memcpy(exact, data, (size_t)size);
    free(data);
    long runs = run_variants(exact, (size_t)size);
    free(exact);
    return runs;
}

int main(int argc, char **argv) {
    long files = 0, runs = 1;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            runs += run_file(argv[i]);
            files++;
            continue;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (entry->d_name[0] == '.') continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            runs += run_file(path);
            files++;
        }
        closedir(folder);
    }
    printf("%ld files, %ld runs\n", files, runs);
    return files ? 0 : 1; /* a corpus that has gone missing tests nothing */
}
