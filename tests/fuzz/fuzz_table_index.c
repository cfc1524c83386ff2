/* fuzz_table_index.c: any bytes as the index over a table's shards, beside two shards that are whole: opened, loaded,
 * published over; errors, never faults, and no shard outside the folder is read. */
#include "fuzz.h"

#include <omnigram/memory.h>
#include <omnigram/table_file.h>

static char folder[] = "/tmp/og-fuzz-XXXXXX", path[64];

static void clean(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

/* The shards t.g1-0000[12]-of-00002.safetensors; an index that names them is in the corpus. */
static void prepare(void) {
    og_error err;
    og_store *store;
    og_store_options o = og_store_defaults(5, 8, OG_BF16);
    const og_table_identity identity = {"t", "f", "{}", NULL};
    HOLDS(mkdtemp(folder));
    atexit(clean);
    snprintf(path, sizeof path, "%s/t.json", folder);
    HOLDS(og_store_new(&o, &store, &err) == OG_OK && og_store_fill(store, 1, 1.0, NULL, &err) == OG_OK);
    HOLDS(og_table_save(path, store, &identity, OG_LAYOUT_PACKED, 2, &err) == OG_OK);
    og_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!path[0]) prepare();
    int64_t before = og_alloc_count();
    og_error err = {{0}};
    FILE *file = fopen(path, "wb");
    HOLDS(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    og_table_file *table;
    if (og_table_file_open(path, NULL, &table, &err) == OG_OK) {
        const og_table_header *h = og_table_file_header(table);
        HOLDS(h->rows == 5 && h->dim == 8 && h->shards == 2); /* no other index fits the shards */
        og_store *store;
        og_store_options o = og_store_defaults(h->rows, h->dim, OG_F32);
        HOLDS(og_store_new(&o, &store, &err) == OG_OK);
        HOLDS(og_table_file_load(table, 0, store, &err) == OG_OK);
        og_store_free(store);
        og_table_file_close(table);
    } else {
        HOLDS(err.message[0]);
    }
    err.message[0] = 0;
    HOLDS(og_table_publish(path, 3, &err) != OG_OK && err.message[0]); /* there are no such parts */
    HOLDS(og_alloc_count() == before);
    return 0;
}
