/* fuzz_tables.c: any YAML as the tables of a model: a table set that describes itself, or an error that
 * says something. */
#include "fuzz.h"

#include <omnigram/memory.h>
#include <omnigram/tables.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_error err = {{0}};
    og_id_map ids;
    og_config *config;
    int64_t before = og_alloc_count();
    HOLDS(og_id_map_make(50, 16, 1, 8, 2, &ids, &err) == OG_OK);
    if (og_config_from_yaml((const char *)data, (int64_t)size, "fuzz.yaml", &config, &err) != OG_OK) return 0;
    og_table_set *set = NULL;
    err.message[0] = 0;
    og_status status = og_table_set_new(config, &ids, NULL, NULL, 0, &set, &err);
    og_config_free(config);
    HOLDS((status == OG_OK) == (set != NULL) && (status == OG_OK || err.message[0]));
    for (int32_t i = 0; set && i < og_table_set_count(set); i++) {
        const og_table_info *info = og_table_set_info(set, i);
        HOLDS(strlen(info->fingerprint) == 64 && info->rows > 0 && info->dim > 0);
    }
    for (int32_t c = 0; set && c < og_table_set_columns(set); c++) {
        const og_column *column = og_table_set_column(set, c);
        HOLDS(column->rows > 0 && column->base >= 0 && column->base <= INT64_MAX - column->rows);
    }
    og_table_set_free(set);
    HOLDS(og_alloc_count() == before);
    return 0;
}
