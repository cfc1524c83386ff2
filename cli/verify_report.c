/* verify_report.c: the results of a replay, by system, for the eye and for scripts. */
#include "verify_report.h"

#include <omnigram/memory.h>

#include <string.h>

/* The row of these words, made when it is the first of them; NULL without memory. */
static og_verify_row *row_of(og_verify_rows *rows, const char *system, const char *path, const char *reason) {
    og_verify_row row = {.first = 0};
    snprintf(row.system, sizeof row.system, "%s", system);
    snprintf(row.path, sizeof row.path, "%s", path);
    snprintf(row.reason, sizeof row.reason, "%s", reason);
    for (int64_t i = 0; i < rows->n; i++)
        if (!strcmp(rows->at[i].system, row.system) && !strcmp(rows->at[i].path, row.path) &&
            !strcmp(rows->at[i].reason, row.reason))
            return &rows->at[i];
    if (og_grow((void **)&rows->at, &rows->capacity, rows->n + 1, sizeof *rows->at, NULL) != OG_OK) return NULL;
    rows->at[rows->n] = row;
    return &rows->at[rows->n++];
}

static void add(og_verify_row *row, const og_verify_case *one) {
    if (!row->counts.cases++) row->first = one->number;
    row->counts.supported += !one->unsupported;
    row->counts.values += one->values;
    row->counts.mismatches += one->mismatches;
}

void og_tally_case(void *context, const og_verify_case *one) {
    og_verify_tally *tally = context;
    og_verify_row *row = row_of(&tally->systems, one->system, "", "");
    if (row) add(row, one);
    og_verify_row *why =
        one->unsupported ? row_of(&tally->unsupported, one->system, one->path, one->unsupported) : NULL;
    if (why) add(why, one);
    if (!row || (one->unsupported && !why)) tally->no_memory = 1;
}

void og_tally_mismatch(void *context, const char *line) {
    og_verify_tally *tally = context;
    if (tally->printed++ < tally->most) fprintf(stderr, "MISMATCH %s\n", line);
}

void og_tally_unread(og_verify_tally *tally, const og_error *err) {
    tally->unread++;
    fprintf(stderr, "omnigram verify: %s\n", err->message);
}

int og_tally_failed(const og_verify_tally *tally, const og_verify_counts *all) {
    return all->mismatches || !all->supported || tally->unread;
}

void og_tally_free(og_verify_tally *tally) {
    og_release(tally->systems.at);
    og_release(tally->unsupported.at);
}

static void print_row(const char *name, const og_verify_counts *c, FILE *to) {
    fprintf(to, "%-24s %8lld %10lld %10lld %11lld\n", name, (long long)c->cases, (long long)c->supported,
            (long long)c->values, (long long)c->mismatches);
}

void og_tally_print(const og_verify_tally *tally, const og_verify_counts *all, FILE *to) {
    fprintf(to, "%-24s %8s %10s %10s %11s\n", "system", "cases", "supported", "values", "mismatches");
    for (int64_t i = 0; i < tally->systems.n; i++)
        print_row(tally->systems.at[i].system, &tally->systems.at[i].counts, to);
    if (tally->systems.n != 1) print_row("all", all, to);
    if (all->supported < all->cases)
        fprintf(to, "\nnot supported, so neither passed nor failed: %lld of %lld cases\n",
                (long long)(all->cases - all->supported), (long long)all->cases);
    for (int64_t i = 0; i < tally->unsupported.n; i++) {
        const og_verify_row *row = &tally->unsupported.at[i];
        fprintf(to, "  %-22s %8lld  %s (%s, %scase %lld)\n", row->system, (long long)row->counts.cases, row->reason,
                row->path, row->counts.cases > 1 ? "first: " : "", (long long)row->first);
    }
    fprintf(to, "\n%s: ", og_tally_failed(tally, all) ? "FAILED" : "verified");
    if (tally->unread)
        fprintf(to, "%lld file%s could not be read, ", (long long)tally->unread, tally->unread > 1 ? "s" : "");
    if (!all->supported)
        fprintf(to, "0 of %lld cases could be replayed\n", (long long)all->cases);
    else
        fprintf(to, "%lld of %lld cases replayed, %lld values compared, %lld mismatches\n", (long long)all->supported,
                (long long)all->cases, (long long)all->values, (long long)all->mismatches);
}

static json_t *counts_json(const og_verify_counts *c) {
    return json_pack("{s:I, s:I, s:I, s:I}", "cases", (json_int_t)c->cases, "supported", (json_int_t)c->supported,
                     "values", (json_int_t)c->values, "mismatches", (json_int_t)c->mismatches);
}

json_t *og_tally_json(const og_verify_tally *tally, const og_verify_counts *all) {
    json_t *object = counts_json(all), *systems = json_array(), *unsupported = json_array();
    for (int64_t i = 0; i < tally->systems.n; i++) {
        json_t *row = counts_json(&tally->systems.at[i].counts);
        json_object_set_new(row, "system", json_string(tally->systems.at[i].system));
        json_array_append_new(systems, row);
    }
    for (int64_t i = 0; i < tally->unsupported.n; i++) {
        const og_verify_row *row = &tally->unsupported.at[i];
        json_array_append_new(unsupported, json_pack("{s:s, s:s, s:I, s:I, s:s}", "system", row->system, "path",
                                                     row->path, "first_case", (json_int_t)row->first, "cases",
                                                     (json_int_t)row->counts.cases, "reason", row->reason));
    }
    json_object_set_new(object, "files_not_read", json_integer(tally->unread));
    json_object_set_new(object, "by_system", systems);
    json_object_set_new(object, "unsupported", unsupported);
    return object;
}
