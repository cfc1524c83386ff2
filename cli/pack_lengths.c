/* pack_lengths.c: a file of lengths to bins, bound, fill and speed. */
#include "pack_lengths.h"
#include "options.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct lengths {
    int64_t *at, n, capacity;
    int64_t read, empty, dropped, cut, fragmented;
    int64_t tokens, lost; /* tokens read; tokens cut or dropped */
} lengths;

static og_status add(lengths *l, int64_t length, og_error *err) {
    OG_TRY(og_grow((void **)&l->at, &l->capacity, l->n + 1, sizeof *l->at, err));
    l->at[l->n++] = length;
    return OG_OK;
}

static og_status apply(lengths *l, int64_t length, const og_pack_policy *policy, const char *path, int64_t line,
                       og_error *err) {
    l->read++;
    l->tokens += length;
    if (length == 0) {
        l->empty++;
        return OG_OK;
    }
    if (length <= policy->capacity) return add(l, length, err);
    switch (policy->long_doc) {
    case OG_LONG_DROP:
        l->dropped++;
        l->lost += length;
        return OG_OK;
    case OG_LONG_TRUNCATE:
        l->cut++;
        l->lost += length - policy->capacity;
        return add(l, policy->capacity, err);
    case OG_LONG_FRAGMENT:
        l->fragmented++;
        for (; length > 0; length -= policy->capacity)
            OG_TRY(add(l, length < policy->capacity ? length : policy->capacity, err));
        return OG_OK;
    default:
        return og_fail(err, OG_EINVAL,
                       "%s:%lld: length %lld, the pack holds %lld; --pack.long_doc=drop, truncate "
                       "or fragment says what to do",
                       path, (long long)line, (long long)length, (long long)policy->capacity);
    }
}

static og_status read_lengths(const char *path, const og_pack_policy *policy, lengths *out, og_error *err) {
    char *text;
    int64_t bytes, line = 1;
    OG_TRY(og_file_read(path, INT64_C(1) << 40, &text, &bytes, err));
    og_status status = OG_OK;
    const char *at = text, *end = text + bytes;
    for (; at < end && status == OG_OK; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        const char *from = at, *to = stop;
        while (from < to && (*from == ' ' || *from == '\t')) from++;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) to--;
        int64_t value = 0;
        int digits = 0;
        for (const char *c = from; c < to && *c >= '0' && *c <= '9' && digits < 16; c++, digits++)
            value = value * 10 + (*c - '0');
        if (from == to && stop == end) break; /* the file's last line break, or nothing at all */
        if (digits == 0 || from + digits != to)
            status = og_fail(err, OG_EFORMAT,
                             "%s:%lld: '%.*s' is no length; a line holds one integer from 0 to 999999999999999", path,
                             (long long)line, (int)(to - from < 40 ? to - from : 40), from);
        else
            status = apply(out, value, policy, path, line, err);
        at = stop + 1;
    }
    og_release(text);
    return status;
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of several runs, since the first one pays for the memory. */
static og_status measure(const lengths *l, const og_pack_policy *policy, og_pack_plan **plan, double *seconds,
                         og_error *err) {
    double all = 0, least = 0;
    for (int run = 0; run < 20 && (run < 3 || all < 0.2); run++) {
        og_pack_plan *next;
        double begin = cpu_seconds();
        OG_TRY(og_pack_lengths(l->at, l->n, policy->capacity, policy->method, &next, err));
        double took = cpu_seconds() - begin;
        if (run == 0 || took < least) least = took;
        all += took;
        og_pack_plan_free(*plan);
        *plan = next;
    }
    *seconds = least;
    return OG_OK;
}

int og_pack_lengths_file(const char *path, const og_pack_policy *policy, const char *json) {
    og_error err = {{0}};
    lengths l = {0};
    og_pack_plan *plan = NULL;
    double seconds = 0;
    og_status status = read_lengths(path, policy, &l, &err);
    if (status == OG_OK && l.read == 0) status = og_fail(&err, OG_EFORMAT, "%s: no lengths in it", path);
    if (status == OG_OK) status = measure(&l, policy, &plan, &seconds, &err);
    int failed = status == OG_OK ? 0 : og_verb_fail("pack", &err);
    if (!failed) {
        double rate = seconds > 0 ? (double)l.n / seconds : 0;
        fprintf(json && !strcmp(json, "-") ? stderr : stdout,
                "%lld documents in %lld packs of %lld tokens: %.3f %% full, no packing has fewer "
                "than %lld; %.1f M documents/s\n",
                (long long)l.n, (long long)plan->n_bins, (long long)policy->capacity, 100 * plan->fill,
                (long long)plan->lower_bound, rate / 1e6);
        json_t *object =
            json_pack("{s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "bins",
                      (json_int_t)plan->n_bins, "lower_bound", (json_int_t)plan->lower_bound, "fill", plan->fill,
                      "documents_per_s", rate, "capacity", (json_int_t)policy->capacity, "read", (json_int_t)l.read,
                      "documents", (json_int_t)l.n, "empty", (json_int_t)l.empty, "dropped", (json_int_t)l.dropped,
                      "cut", (json_int_t)l.cut, "fragmented", (json_int_t)l.fragmented, "tokens", (json_int_t)l.tokens,
                      "tokens_lost", (json_int_t)l.lost, "seconds", seconds);
        failed = og_json_result("pack", json, object);
    }
    og_pack_plan_free(plan);
    og_release(l.at);
    return failed;
}
