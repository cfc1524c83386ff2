/* table_index.h: the files of a table. */
#ifndef OMNIGRAM_TABLE_INDEX_H
#define OMNIGRAM_TABLE_INDEX_H

#include <omnigram/table_file.h>

typedef struct og_table_part { /* rows [row, row + n) of a store are rows [first, first + n) of a table of total rows */
    const og_table_identity *identity;
    int32_t layout;
    int64_t row, n, first, total;
} og_table_part;

typedef struct og_table_shard {
    char *path;
    int64_t first, n, bytes;
} og_table_shard;

typedef struct og_table_index {
    int64_t generation; /* of the files' names: a new table never writes over the files of the old one */
    int32_t n;
    og_table_shard *shards; /* in order of rows */
} og_table_index;

int32_t og_table_is_index(const char *path); /* ends in .json */
/* path of part i of the generation after the one that the index now has. */
og_status og_table_part_path(const char *path, int32_t part, int32_t parts, char *out, size_t size, og_error *err);
og_status og_table_index_read(const char *path, og_table_index *out, og_error *err);
void og_table_index_free(og_table_index *index);

/* One file with these rows. */
og_status og_table_write(const char *path, const og_store *store, const og_table_part *part, og_error *err);
/* The rows of an open table into another, shard by shard of the new one. */
og_status og_table_rewrite(const og_table_file *file, const char *to, int32_t layout, int32_t shards, og_error *err);

#endif
