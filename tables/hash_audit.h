/* hash_audit.h: the parts of the hash audit; not a public header. */
#ifndef OMNIGRAM_HASH_AUDIT_H
#define OMNIGRAM_HASH_AUDIT_H

#include <omnigram/audit.h>

/* hash_prober.c: a scheme that is asked for n-grams of random codes, block by block. */
typedef struct og_prober {
    const og_addr *addr;
    int32_t cells, columns, width; /* codes of a position: a column reads number head % width */
    int32_t block;                 /* windows a call: 1 for a scheme whose rows depend on the place */
    int64_t vocab, place;          /* of the first window in its stream: only random_row looks at it */
    int32_t *code[OG_MAX_ORDER];   /* [block][width] */
    int8_t tags[OG_MAX_ORDER];
    int64_t *rows; /* [block][columns] */
} og_prober;
og_status og_prober_new(const og_addr *addr, const og_hash_options *options, og_prober **out, og_error *err);
void og_prober_free(og_prober *p);
/* Rows of n windows (at most block) whose codes the caller has set. */
og_status og_prober_run(og_prober *p, int64_t n, og_error *err);

/* hash_load.c */
og_status og_hash_load(const og_addr *addr, const og_hash_options *options, og_hash_report *report, og_error *err);
/* R (1 - (1 - 1/R)^n), without cancellation. */
double og_hash_ideal(double rows, double n);

#endif
