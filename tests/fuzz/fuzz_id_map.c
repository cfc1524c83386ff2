/* fuzz_id_map.c: any bytes as a compressed vocabulary's id map: a map whose ids appear in order, an Engram over it
 * whose rows are in range, or an error that says something. */
#include "fuzz.h"

#include "addr/id_map_file.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>

#include <string.h>

static void address(const char *path, int64_t raw) {
    char text[200];
    snprintf(text, sizeof text,
             "{scheme: deepseek_engram, max_order: 3, heads: 2, start_rows_per_order: [97, 97], pad: 0, id_map: %s}",
             path);
    og_error err;
    og_config *config;
    og_addr *addr;
    HOLDS(og_config_from_yaml(text, (int64_t)strlen(text), "fuzz", &config, &err) == OG_OK);
    og_status status = og_addr_new(config, &addr, &err);
    og_config_free(config);
    if (status != OG_OK) return;
    enum { N = 5, MOST = 64 };
    int32_t codes[N], columns = og_addr_layout_of(addr)->n_columns;
    for (int i = 0; i < N; i++) codes[i] = (int32_t)(raw - 1 - i % raw);
    const og_stream stream = {.codes = codes, .n = N, .width = 1, .doc_starts = &(int64_t){0}, .n_docs = 1};
    int64_t rows[N * MOST];
    HOLDS(columns <= MOST && og_addr_map(addr, &stream, NULL, NULL, rows, NULL, NULL, &err) == OG_OK);
    for (int i = 0; i < N * columns; i++) {
        const og_column *c = &og_addr_layout_of(addr)->columns[i % columns];
        HOLDS(rows[i] == OG_ROW_NONE || (rows[i] >= c->base && rows[i] < c->base + c->rows));
    }
    og_addr_free(addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file(data, size);
    int64_t before = og_alloc_count();
    og_id_map_file file;
    og_error err = {{0}};
    if (og_id_map_file_read(path, &file, &err) == OG_OK) {
        int64_t next = 0;
        for (int64_t i = 0; i < file.raw; i++) {
            HOLDS(file.map[i] >= 0 && file.map[i] <= next);
            next += file.map[i] == next;
        }
        HOLDS(next == file.compressed && next > 0 && strlen(file.digest) == 64);
        address(path, file.raw);
        og_release(file.map);
    } else {
        HOLDS(strstr(err.message, path));
    }
    HOLDS(og_alloc_count() == before);
    return 0;
}
