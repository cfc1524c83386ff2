/* verify_report.h: what a replay of test vectors found, by system. */
#ifndef OMNIGRAM_VERIFY_REPORT_H
#define OMNIGRAM_VERIFY_REPORT_H

#include <omnigram/verify.h>

#include <jansson.h>
#include <stdio.h>

typedef struct og_verify_row { /* a system's cases, or the cases of one system that are unsupported for one reason */
    char system[64], path[200], reason[240];
    int64_t first; /* number of the first such case in path */
    og_verify_counts counts;
} og_verify_row;

typedef struct og_verify_rows {
    og_verify_row *at; /* in order of first appearance */
    int64_t n, capacity;
} og_verify_rows;

typedef struct og_verify_tally {
    og_verify_rows systems, unsupported;
    int64_t unread;        /* files that are no test vectors */
    int64_t printed, most; /* lines of mismatches, to standard error */
    int32_t no_memory;
} og_verify_tally;

/* For og_verify_report, with the tally as context. */
void og_tally_case(void *tally, const og_verify_case *one);
void og_tally_mismatch(void *tally, const char *line);
/* Another file could not be read, as err says; a line of it. */
void og_tally_unread(og_verify_tally *tally, const og_error *err);
/* Whether the replay as a whole failed: a mismatch, a file that is not read, or nothing compared. */
int og_tally_failed(const og_verify_tally *tally, const og_verify_counts *all);
void og_tally_free(og_verify_tally *tally);

/* The table of systems, what is not supported and why, and a line that says how it ended. */
void og_tally_print(const og_verify_tally *tally, const og_verify_counts *all, FILE *to);
json_t *og_tally_json(const og_verify_tally *tally, const og_verify_counts *all);

#endif
