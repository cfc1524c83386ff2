/* table_set.c: the named tables of one model. */
#include "table_set.h"

#include <omnigram/memory.h>

#include <string.h>

static void place_columns(og_table_set *set) {
    for (int32_t t = 0, c = 0; t < set->n_tables; t++) {
        og_table *table = &set->tables[t];
        table->info.first_column = c;
        table->info.name = table->name;
        table->info.fingerprint = table->fingerprint;
        table->info.description = table->description;
        for (int32_t p = 0; p < table->n_parts; p++) {
            og_part *part = &table->parts[p];
            const og_addr_layout *l = og_addr_layout_of(part->addr);
            part->column += table->info.first_column;
            if (l->window.max_order > set->order_max) set->order_max = l->window.max_order;
            if (part->layout.width > set->width_max) set->width_max = part->layout.width;
            if (part->layout.order > set->order_max) set->order_max = part->layout.order;
            if (l->n_columns > set->part_columns_max) set->part_columns_max = l->n_columns;
            for (int32_t k = 0; k < l->n_columns; k++, c++) {
                set->columns[c] = l->columns[k];
                set->columns[c].base += part->shift[k];
                set->width += table->info.dim;
            }
        }
    }
}

static og_status read_tables(og_table_set *set, const og_config *tables, const og_books *books, og_error *err) {
    int64_t n = og_config_size(tables);
    for (int64_t i = 0; i < n; i++) {
        og_table *table = &set->tables[i];
        const char *name = og_config_key_at(tables, i);
        og_status status = og_table_read(og_config_at(tables, i), &set->ids, books, table, err);
        if (status != OG_OK) return og_fail_at(err, status, "table %.60s", name);
        set->n_tables++;
        table->name = og_copy_string(name);
        if (!table->name) return og_fail(err, OG_ENOMEM, "no memory for a table's name");
        if (table->info.n_columns > 65536 - set->n_columns)
            return og_fail(err, OG_EINVAL, "table %.60s: more than 65536 columns in the set", name);
        set->n_columns += table->info.n_columns;
    }
    return OG_OK;
}

og_status og_table_set_new(const og_config *tables, const og_id_map *ids, const char *const *codebooks,
                           const int32_t *modalities, int32_t n_codebooks, og_table_set **out, og_error *err) {
    OG_TRY(og_id_map_check(ids, err));
    if (tables && og_config_kind(tables) != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: tables is a map from names to tables", OG_WHERE(tables));
    og_table_set *set = og_alloc_zero(1, sizeof *set);
    if (set) set->tables = og_alloc_zero(og_config_size(tables), sizeof *set->tables);
    if (!set || !set->tables) {
        og_table_set_free(set);
        return og_fail(err, OG_ENOMEM, "no memory for a table set");
    }
    set->ids = *ids;
    const og_books books = {codebooks, modalities, n_codebooks};
    og_status status = read_tables(set, tables, &books, err);
    if (status == OG_OK) {
        set->columns = og_alloc(set->n_columns, sizeof *set->columns);
        if (!set->columns) status = og_fail(err, OG_ENOMEM, "no memory for %d columns", set->n_columns);
    }
    if (status != OG_OK) {
        og_table_set_free(set);
        return status;
    }
    place_columns(set);
    *out = set;
    return OG_OK;
}

og_status og_table_set_of_packs(const og_config *tables, const og_packs *packs, og_table_set **out, og_error *err) {
    int32_t n = og_packs_codebook_count(packs);
    const char **codebooks = og_alloc(n, sizeof *codebooks);
    int32_t *modalities = og_alloc(n, sizeof *modalities);
    og_status status = codebooks && modalities ? OG_OK : og_fail(err, OG_ENOMEM, "no memory for %d codebooks", n);
    for (int32_t i = 0; status == OG_OK && i < n; i++) {
        codebooks[i] = og_packs_codebook(packs, i);
        modalities[i] = og_packs_codebook_modality(packs, i);
    }
    if (status == OG_OK) status = og_table_set_new(tables, og_packs_ids(packs), codebooks, modalities, n, out, err);
    og_release(codebooks);
    og_release(modalities);
    return status;
}

void og_table_set_free(og_table_set *set) {
    if (!set) return;
    for (int32_t t = 0; t < set->n_tables; t++) og_table_release(&set->tables[t]);
    og_release(set->tables);
    og_release(set->columns);
    og_release(set);
}

int32_t og_table_set_count(const og_table_set *set) { return set->n_tables; }
const og_table_info *og_table_set_info(const og_table_set *set, int32_t i) {
    return i >= 0 && i < set->n_tables ? &set->tables[i].info : NULL;
}
int32_t og_table_set_columns(const og_table_set *set) { return set->n_columns; }
const og_column *og_table_set_column(const og_table_set *set, int32_t c) {
    return c >= 0 && c < set->n_columns ? &set->columns[c] : NULL;
}
int64_t og_table_set_width(const og_table_set *set) { return set->width; }
int32_t og_table_set_ngrams(const og_table_set *set, int32_t i) {
    return i >= 0 && i < set->n_tables ? set->tables[i].n_parts : 0;
}
const og_addr *og_table_set_ngram_addr(const og_table_set *set, int32_t i, int32_t ngram) {
    return ngram >= 0 && ngram < og_table_set_ngrams(set, i) ? set->tables[i].parts[ngram].addr : NULL;
}
const og_addr *og_table_set_addr(const og_table_set *set, int32_t i) { return og_table_set_ngram_addr(set, i, 0); }
