/* row_ops.h: the kernels of lookups: rows from a store into output rows, one set of functions an instruction set. */
#ifndef OMNIGRAM_LOOKUP_ROW_OPS_H
#define OMNIGRAM_LOOKUP_ROW_OPS_H

#include <omnigram/dtype.h>
#include <omnigram/internal/cpu.h>

#include <stdint.h>

/* One row's values to dim output values. scales may be NULL where the type has none. */
typedef void og_convert_fn(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group);

/* A part of a batch: n ids, one column, one store. */
typedef struct og_gather {
    const uint8_t *values, *scales; /* of row 0 */
    int64_t value_stride, scale_stride;
    int64_t value_bytes; /* of a row in the store */
    int64_t dim;
    int32_t group;
    int32_t prefetch;       /* rows ahead; 0: none */
    int32_t far;            /* 1: prefetch into the second-level cache, for a long distance */
    int32_t stream;         /* 1: write past the caches; best where out and out_stride are multiples of 64 */
    og_convert_fn *convert; /* NULL: the bytes as they are */
    const int64_t *rows;    /* ids of the column, row_step apart; negative: zeros */
    int64_t row_step, base;
    int64_t out_bytes; /* of the column in an output row */
    uint8_t *out;
    int64_t out_stride;
} og_gather;

enum { OG_CONVERT_PAST_MOST = 8192 }; /* bytes of an output row that is converted and has `stream` */

enum { OG_ROW_TYPES = 6, OG_OUT_TYPES = 3 }; /* OG_F32 .. OG_NF4; OG_F32, OG_BF16, OG_F16 */

/* 64 ids of a range: those that occur, and how many do before them. */
typedef struct og_rank_word {
    uint64_t set;
    int64_t before;
} og_rank_word;

/* Bytes. The CPU follows a stream of ids by itself, but stops at the end of each page of 4 KiB. */
#define OG_STREAM_AHEAD 4096

enum { OG_RANK_PART = 1 << 16 }; /* ids of a part at most: a bitmap of 8 KiB */

typedef struct og_rank_parts {
    int64_t least, parts;
    int32_t low;            /* <= 16 */
    uint32_t *start, *rank; /* scratch: [parts], [n] */
    uint16_t *entry;        /* scratch: [n] */
} og_rank_parts;

typedef struct og_row_ops {
    const char *name;
    void (*gather)(const og_gather *g, int64_t n);
    void (*copy)(uint8_t *out, const uint8_t *row, int64_t bytes, int32_t stream);
    void (*fence)(void); /* after copies past the caches, before another thread reads them */
    /* 1: some id is neither OG_ROW_NONE nor in [base, base + limit) of its column. base and limit repeat the columns'
     * over a period, so that one loop over all ids does without a column's number. */
    int32_t (*outside)(const int64_t *ids, int64_t n, const uint64_t *base, const uint64_t *limit, int64_t period);
    /* What a gather of n of `rows` rows costs without ids: benchmarks only. Reads values, value_stride, out,
     * out_stride, out_bytes, stream. */
    void (*draw)(const og_gather *g, int64_t n, uint64_t seed, int64_t rows);
    /* og_dedupe of ids in [least, least + 64 * words) */
    int64_t (*rank)(const int64_t *ids, int64_t n, int64_t least, og_rank_word *word, int64_t words, int64_t *distinct,
                    int64_t *inverse);
    int32_t part_ids; /* how many ids of the batch rank_parts wants in a part, within a factor of two upwards */
    /* og_dedupe of n < 2^32 ids in [least, least + parts * 2^low) */
    int64_t (*rank_parts)(const int64_t *ids, int64_t n, const og_rank_parts *parts, int64_t *distinct,
                          int64_t *inverse);
    og_convert_fn *convert[OG_ROW_TYPES][OG_OUT_TYPES]; /* [from - 1][to - 1] */
} og_row_ops;

/* Kernels of a level, or NULL where CPU or build lack it. */
const og_row_ops *og_row_ops_of(int32_t level);

extern const og_row_ops og_row_ops_c, og_row_ops_avx2, og_row_ops_avx512;

#endif
