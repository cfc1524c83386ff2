/* Replays test vectors (format 2, docs/addressing.md) against this build: addresses through
 * og_addr, canonical texts, rows of fp8, product keys and SCONE's matches. */
#ifndef OMNIGRAM_VERIFY_H
#define OMNIGRAM_VERIFY_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_verify_counts {
    int64_t cases, supported;   /* a case of an unknown scheme, block or field, or without a value to compare, is not
                                   supported, and never counted as passed */
    int64_t values, mismatches; /* scalars compared; a case that is malformed or refused is one mismatch */
} og_verify_counts;

typedef struct og_verify_case { /* one case of a file, borrowed for the call */
    const char *path;
    int64_t number;          /* in its file, from 0 */
    const char *system;      /* its scheme, its block, "canonical", or "(no system)" */
    const char *unsupported; /* why it is not supported, or NULL */
    int64_t values, mismatches;
} og_verify_case;

/* omnigram/canonical.h's og_canonical_key, which tables does not see; NULL: canonical cases are not
 * supported. */
typedef og_status og_verify_canonical_fn(const char *text, int64_t bytes, char **key, int64_t *key_bytes,
                                         og_error *err);
typedef struct og_verify_report { /* who is told; each function may be NULL */
    void *context;
    void (*mismatch)(void *context, const char *line);     /* file, case, field, position, expected, got */
    void (*one)(void *context, const og_verify_case *one); /* after each case */
} og_verify_report;

/* Adds to *counts; report may be NULL. A file that is not of the format is an error that names file and line, and
 * nothing of it is counted. */
OG_API og_status og_verify_file(const char *path, og_verify_canonical_fn *canonical, const og_verify_report *report,
                                og_verify_counts *counts, og_error *err) OG_MUST_USE;
/* The same for a text that is already in memory; name stands for its path in messages. */
OG_API og_status og_verify_text(const char *text, int64_t bytes, const char *name, og_verify_canonical_fn *canonical,
                                const og_verify_report *report, og_verify_counts *counts, og_error *err) OG_MUST_USE;

OG_END
#endif
