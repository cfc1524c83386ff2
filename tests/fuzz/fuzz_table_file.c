/* fuzz_table_file.c: any bytes as a table file: opened, loaded, read in place; errors, never faults. */
#include <omnigram/table_file.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int file = memfd_create("table", MFD_CLOEXEC);
    if (file < 0) return 0;
    if (write(file, data, size) == (ssize_t)size) {
        char path[64];
        og_error err;
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        og_table_file *table;
        if (og_table_file_open(path, NULL, &table, &err) == OG_OK) {
            const og_table_header *h = og_table_file_header(table);
            og_store_options o = og_store_defaults(h->rows, h->dim, OG_F32);
            og_store *store;
            if (h->rows < 4096 && h->dim < 4096 && og_store_new(&o, &store, &err) == OG_OK) {
                og_status status = og_table_file_load(table, 0, store, &err);
                (void)status;
                og_store_free(store);
            }
            og_table_file_close(table);
        }
        og_store_options o = og_store_defaults(0, 0, 0);
        o.backing = OG_BACK_FILE;
        o.name = path;
        o.writable = 0;
        og_store *store;
        if (og_store_new(&o, &store, &err) == OG_OK) {
            static float values[65536];
            og_status status = og_store_read(store, (int64_t[]){og_store_rows(store) - 1}, 1, values, &err);
            (void)status;
            og_store_free(store);
        }
    }
    close(file);
    return 0;
}
