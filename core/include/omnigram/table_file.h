/* Tables on disk: safetensors with the table's identity in the metadata, one file or shards with an index. */
#ifndef OMNIGRAM_TABLE_FILE_H
#define OMNIGRAM_TABLE_FILE_H

#include <omnigram/status.h>
#include <omnigram/store.h>

OG_BEGIN

/* Two layouts. PLAIN has tensors as published systems store them, for exchange: `weight` [rows, dim] (U8 [rows, dim /
 * 2] for NF4), `weight_scale_inv` U8 [rows, groups] for FP8, `weight_scale` F32 [rows, groups] for INT8 and NF4,
 * `state` F32 [rows, state]. PACKED has one tensor `records` U8 [rows, row_bytes]: values, scales, optimiser state,
 * padding to 64 bytes, as a store has them in memory. Both are read in place by og_store_new with OG_BACK_FILE. */
enum { OG_LAYOUT_PLAIN = 0, OG_LAYOUT_PACKED = 1 };

/* What a table is. All strings are borrowed; none may be NULL or empty but constants. */
typedef struct og_table_identity {
    const char *name;
    const char *fingerprint; /* og_addr_fingerprint or og_table_info.fingerprint */
    const char *description; /* canonical JSON of the same: scheme, keys, hash constants, id map, codebooks */
    const char *constants;   /* hash constants as JSON (og_addr_type.constants); NULL: they are in the description */
} og_table_identity;

/* Writes all rows with their optimiser state, streamed: memory does not grow with the table. A path that ends in .json
 * is an index over `shards` files beside it; any other path is one file and shards must be 1. Until the last step the
 * table that was there before stays whole: files of the new one have names of their own, the index is replaced at once,
 * then the old files go. */
OG_API og_status og_table_save(const char *path, const og_store *store, const og_table_identity *identity,
                               int32_t layout, int32_t shards, og_error *err) OG_MUST_USE;
/* The same by several processes: each writes its parts (rows [row, row + n) of its store are rows [first, first + n) of
 * the table's `total`), then, when all are written, one publishes. path must end in .json. */
OG_API og_status og_table_save_part(const char *path, const og_store *store, int64_t row, int64_t n,
                                    const og_table_identity *identity, int32_t layout, int32_t part, int32_t parts,
                                    int64_t first, int64_t total, og_error *err) OG_MUST_USE;
/* Checks that the parts cover every row once and belong to one table, and makes them the table at path. */
OG_API og_status og_table_publish(const char *path, int32_t parts, og_error *err) OG_MUST_USE;

typedef struct og_table_header { /* borrowed from the open table */
    og_table_identity identity;
    int64_t rows, dim;
    int32_t dtype, group, state, layout, shards;
} og_table_header;

typedef struct og_table_file og_table_file;
/* expected: NULL, or what the model needs; a table of another scheme, vocabulary or codebook is OG_EINVAL, and the
 * message has both fingerprints and the first key of the descriptions that differs. A missing metadata key is
 * OG_EFORMAT and is named. */
OG_API og_status og_table_file_open(const char *path, const og_table_identity *expected, og_table_file **out,
                                    og_error *err) OG_MUST_USE;
OG_API void og_table_file_close(og_table_file *file); /* NULL is fine */
OG_API const og_table_header *og_table_file_header(const og_table_file *file);
/* Rows [first, first + rows of the store) of the table into the store's rows: bit for bit when dtype and group agree,
 * else through f32. State comes along when the store keeps as much as the table has; a store without state drops it;
 * state that the file lacks is zero; anything else is OG_EINVAL. One shard is mapped at a time, and what was read is
 * let go. */
OG_API og_status og_table_file_load(const og_table_file *file, int64_t first, og_store *store,
                                    og_error *err) OG_MUST_USE;
/* Rewrites a table in another layout or number of shards, streamed. */
OG_API og_status og_table_convert(const char *from, const char *to, int32_t layout, int32_t shards,
                                  og_error *err) OG_MUST_USE;

OG_END
#endif
