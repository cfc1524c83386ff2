/* fuzz_table_file.c: any bytes as a table file: opened, loaded, read in place; errors, never
 * faults. */
#include "fuzz.h"

#include <omnigram/memory.h>
#include <omnigram/table_file.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file(data, size);
    int64_t before = og_alloc_count();
    og_error err = {{0}};
    og_table_file *table;
    og_store *store;
    if (og_table_file_open(path, NULL, &table, &err) == OG_OK) {
        const og_table_header *h = og_table_file_header(table);
        og_store_options o = og_store_defaults(h->rows, h->dim, OG_F32);
        if (h->rows < 4096 && h->dim < 4096 && og_store_new(&o, &store, &err) == OG_OK) {
            err.message[0] = 0;
            HOLDS(og_table_file_load(table, 0, store, &err) == OG_OK || err.message[0]);
            og_store_free(store);
        }
        og_table_file_close(table);
    } else {
        HOLDS(err.message[0]);
    }
    og_store_options o = og_store_defaults(0, 0, 0);
    o.backing = OG_BACK_FILE;
    o.name = path;
    o.writable = 0;
    if (og_store_new(&o, &store, &err) == OG_OK) {
        static float values[65536];
        err.message[0] = 0;
        HOLDS(og_store_read(store, (int64_t[]){og_store_rows(store) - 1}, 1, values, &err) == OG_OK || err.message[0]);
        og_store_free(store);
    }
    HOLDS(og_alloc_count() == before);
    return 0;
}
