/* fuzz_prepared.c: any bytes as a shard of a prepared folder, or (from '{' on) as its index: every document and item
 * can be asked for, or an error says why not. Digests are made to fit, so that what is behind them is reached. */
#include "fuzz.h"

#include "prepare/shard.h"

#include <omnigram/memory.h>

#include <string.h>

static char folder[] = "/tmp/og-fuzz-XXXXXX", shard[64], index_path[64];

static void clean(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

static void put(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    HOLDS(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* The index with the digest that it should have. */
static void put_index(const char *text, size_t size) {
    og_error err;
    og_config *index;
    char digest[OG_DIGEST_TEXT], *json = NULL;
    put(index_path, text, size);
    if (og_config_from_json(text, (int64_t)size, "index", &index, &err) != OG_OK) return;
    if (og_config_kind(index) == OG_CONFIG_MAP && og_index_digest(index, digest, &err) == OG_OK &&
        og_config_set(index, "digest", digest, &err) == OG_OK && og_config_to_json(index, &json, &err) == OG_OK)
        put(index_path, json, strlen(json));
    og_release(json);
    og_config_free(index);
}

static void read_all(const og_prepared *p) {
    og_error err;
    unsigned sum = 0;
    for (int32_t split = 0; split < OG_N_SPLITS; split++)
        for (int64_t i = 0; i < og_prepared_count(p, split) && i < 256; i++) {
            og_prepared_document document;
            if (og_prepared_get(p, split, i, &document, &err) != OG_OK) continue;
            sum += (unsigned)strlen(document.id) + (unsigned)strlen(document.group);
            for (int64_t k = 0; k < document.n_items && k < 256; k++) {
                og_media media;
                int64_t unique;
                err.message[0] = 0;
                if (og_prepared_item(p, split, i, k, &media, &unique, &err) != OG_OK) {
                    HOLDS(err.message[0]);
                    continue;
                }
                HOLDS(unique >= 0 && unique < og_prepared_items(p));
                int64_t bytes = og_dtype_bits(media.dtype) / 8; /* a sanitizer sees one that is not in the file */
                for (int32_t d = 0; d < media.rank; d++) bytes *= media.shape[d];
                for (int64_t b = 0; b < bytes; b++) sum += ((const unsigned char *)media.data)[b];
            }
        }
    HOLDS(sum < 0xFFFFFFFF);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_error err = {{0}};
    if (!shard[0]) {
        HOLDS(mkdtemp(folder));
        atexit(clean);
        snprintf(shard, sizeof shard, "%s/shard.safetensors", folder);
        snprintf(index_path, sizeof index_path, "%s/index.json", folder);
    }
    int64_t before = og_alloc_count();
    if (size && data[0] == '{') {
        put_index((const char *)data, size);
    } else {
        char digest[OG_DIGEST_TEXT], text[300];
        put(shard, data, size);
        HOLDS(og_digest_of(data, (int64_t)size, digest, &err) == OG_OK);
        int n =
            snprintf(text, sizeof text,
                     "{\"format\": \"omnigram-prepared\", \"version\": %d, \"digest\": \"\", \"shards\": [{\"file\": "
                     "\"shard.safetensors\", \"sha256\": \"%s\"}]}",
                     OG_INDEX_VERSION, digest);
        put_index(text, (size_t)n);
    }
    og_prepared *p;
    if (og_prepared_open(folder, &p, &err) == OG_OK) {
        read_all(p);
        og_prepared_close(p);
    } else {
        HOLDS(err.message[0]);
    }
    HOLDS(og_alloc_count() == before);
    return 0;
}
