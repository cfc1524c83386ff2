/* Hash audit: how well an addressing spreads n-grams over its rows, cell by cell, against a random
 * function. */
#ifndef OMNIGRAM_AUDIT_H
#define OMNIGRAM_AUDIT_H

#include <omnigram/tables.h>

OG_BEGIN

typedef struct og_hash_options {
    int64_t vocab;    /* V: codes are drawn from [0, V); the scheme must take them. Where a position has several, each
                         is drawn by itself */
    int64_t edits;    /* random edits of each cell; 0: 65536 */
    int32_t contexts; /* random contexts that each cell's sweep is averaged over; 0: as many as make
                         2^20 n-grams, 1 .. 64 */
    int64_t samples;  /* random n-grams for load and collisions; 0: 2^20; -1: none */
    uint64_t seed;
    const int8_t *tags; /* [cells] modality of each cell, or NULL: text */
} og_hash_options;

/* One cell of one column's n-grams. Lag 0 is the current code, lag order - 1 the oldest. */
typedef struct og_hash_lag {
    int32_t column, order, head, lag;
    int64_t rows;    /* R of the column */
    double changed;  /* share of random edits of the cell that change the row; a random function: 1 -
                        1/R */
    double distinct; /* rows reached while the cell sweeps all V codes, mean over the contexts */
    double ideal;    /* R (1 - (1 - 1/R)^V): what a random function reaches */
} og_hash_lag;

typedef struct og_hash_column {
    int32_t order, head;
    int64_t rows;
    int64_t gcd;     /* of V and rows: base-V sums modulo rows lose old codes where it is not 1 */
    int64_t samples; /* distinct random n-grams */
    double chi2_z;   /* (chi-square of the row load - its mean) / its deviation; within +-4 for a
                        random function */
    double collided; /* share of the n-grams that share their row with another */
    double expected; /* 1 - (1 - 1/R)^(samples - 1) */
} og_hash_column;

typedef struct og_hash_order {
    int32_t order, heads;
    int32_t bits;    /* of V^order: above 64 the base-V number overflows 64 bits */
    double pairs;    /* pairs of the samples that collide in every head at once */
    double expected; /* samples (samples - 1) / 2 / product of the heads' rows */
} og_hash_order;

typedef struct og_hash_report {
    int64_t vocab;
    int32_t twos; /* 2-adic valuation of V: how many low bits of an old code a sum modulo 2^b loses
                     at each step */
    og_hash_lag *lags;
    og_hash_column *columns;
    og_hash_order *orders;
    int32_t n_lags, n_columns, n_orders;
    char (*warnings)[200]; /* what a user must know, worst first */
    int32_t n_warnings;
} og_hash_report;

/* The addressing of {scheme: NAME, ...} for V codes: what og_addr_fit sets, and an eos below V. OG_EINVAL says why a
 * scheme cannot take so many codes. */
OG_API og_status og_hash_addr(const og_config *addressing, int64_t vocab, og_addr **out, og_error *err) OG_MUST_USE;

/* Pure; the same numbers for any pool. OG_EINVAL when the scheme does not take codes up to V. */
OG_API og_status og_hash_audit(const og_addr *addr, const og_hash_options *options, og_pool *pool, og_hash_report **out,
                               og_error *err) OG_MUST_USE;
/* The same for one n-gram of table i, over its own codes and tags (options->vocab and tags are not
 * used). */
OG_API og_status og_hash_audit_table(const og_table_set *set, int32_t i, int32_t ngram, const og_hash_options *options,
                                     og_pool *pool, og_hash_report **out, og_error *err) OG_MUST_USE;
OG_API void og_hash_report_free(og_hash_report *report);

/* What a corpus does to a table: its own n-grams, with their repetitions. */
typedef struct og_corpus_column {
    int32_t order, head;
    int64_t rows;
    int64_t ngrams;           /* n-grams that exist, repetitions counted */
    int64_t distinct;         /* different ones */
    int64_t used;             /* rows that any of them has */
    double expected_used;     /* of a random function: R (1 - (1 - 1/R)^distinct) */
    double collided;          /* share of the distinct n-grams that share their row */
    double collided_mass;     /* the same, each n-gram counted as often as it comes */
    double expected_collided; /* of a random function: 1 - (1 - 1/R)^(distinct - 1) */
    int64_t most;             /* n-grams (repetitions counted) on the fullest row */
} og_corpus_column;
/* columns: [columns of table i]. Reads every pack. */
OG_API og_status og_hash_corpus(const og_table_set *set, int32_t i, const og_packs *packs, og_corpus_column *columns,
                                og_error *err) OG_MUST_USE;

OG_END
#endif
