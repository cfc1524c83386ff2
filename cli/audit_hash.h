/* audit_hash.h: the parts of `omnigram audit hash`. */
#ifndef OMNIGRAM_CLI_AUDIT_HASH_H
#define OMNIGRAM_CLI_AUDIT_HASH_H

#include <omnigram/audit.h>

#include <jansson.h>
#include <stdio.h>

/* What was audited under one name. */
typedef struct og_audit_entry {
    char name[80];
    char scheme[48];
    char refused[400];        /* why the scheme does not take this vocabulary; then there are no reports */
    og_hash_report **reports; /* one for each n-gram of the table */
    int32_t n_reports;
    og_corpus_column *corpus; /* [n_corpus], NULL without packs */
    int32_t n_corpus;
} og_audit_entry;

void og_audit_print(const og_audit_entry *entry, FILE *to);
/* A line for each entry: its weak cells and the least share of the rows that a random function reaches. */
void og_audit_summary(const og_audit_entry *entries, int32_t n, FILE *to);
json_t *og_audit_json(const og_audit_entry *entry);
/* A heat map, one line for each entry: distinct rows over ideal by order and lag. The text is
 * og_release'd; NULL when memory is short. */
char *og_audit_svg(const og_audit_entry *entries, int32_t n);

#endif
