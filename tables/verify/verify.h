/* verify.h: what the parts of the verifier share. */
#ifndef OMNIGRAM_TABLES_VERIFY_H
#define OMNIGRAM_TABLES_VERIFY_H

#include <omnigram/config.h>
#include <omnigram/verify.h>

typedef struct og_verify {
    const char *path;
    og_verify_canonical_fn *canonical;
    const og_verify_report *report;
    og_verify_counts *counts;
    double rtol, atol;
    int64_t number;        /* of the case in its file */
    const char *system;    /* of the case: its scheme, its block, or "canonical" */
    char unsupported[400]; /* why the case is not supported, or empty */
} og_verify;

/* Counts a mismatch and reports "path: case 3 (label): ...". */
void og_verify_mismatch(const og_verify *v, const char *label, const char *format, ...) OG_PRINTF(3, 4);
/* The case is not supported, for this reason. */
void og_verify_unsupported(og_verify *v, const char *format, ...) OG_PRINTF(2, 3);
void og_verify_integer(const og_verify *v, const char *label, const char *field, int64_t at, int64_t column,
                       int64_t want, int64_t got);
void og_verify_real(const og_verify *v, const char *label, const char *field, int64_t at, double want, double got,
                    int32_t exact);

/* Numbers of a list of any nesting, in order; *out og_release, [*n]. A null is no integer; of reals it is a NaN. */
og_status og_verify_integers(const og_config *node, int64_t **out, int64_t *n, og_error *err);
og_status og_verify_reals(const og_config *node, double **out, int64_t *n, og_error *err);
/* The first field of the case that is neither in known (ends with NULL) nor a remark, or NULL. */
const char *og_verify_unknown_field(const og_config *node, const char *const *known);
/* The child, or an error that names the place and the missing field. */
og_status og_verify_need(const og_config *map, const char *field, const og_config **out, og_error *err);
/* A list of numbers (*columns 0) or of rows of numbers, all of the same length: *rows x *columns. */
og_status og_verify_shape(const og_config *list, int64_t *rows, int64_t *columns, og_error *err);

og_status og_verify_address(og_verify *v, const og_config *node, og_error *err);
og_status og_verify_block(og_verify *v, const og_config *node, og_error *err);

#endif
