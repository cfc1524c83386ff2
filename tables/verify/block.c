/* block.c: rows of fp8, product keys, SCONE's matches. The other blocks are models, which tables
 * cannot run. */
#include "verify/verify.h"

#include <omnigram/fp8_row.h>
#include <omnigram/memory.h>
#include <omnigram/pkm.h>
#include <omnigram/scone.h>

#include <string.h>

static og_status wrong(const og_config *node, const char *what, og_error *err) {
    return og_fail(err, OG_EFORMAT, "%s: %s", OG_WHERE(node), what);
}

static og_status bytes_of(const og_config *map, const char *field, uint8_t **out, int64_t *n, og_error *err) {
    const og_config *node;
    int64_t *values;
    OG_TRY(og_verify_need(map, field, &node, err));
    OG_TRY(og_verify_integers(node, &values, n, err));
    uint8_t *bytes = og_alloc(*n, 1);
    og_status status = bytes ? OG_OK : og_fail(err, OG_ENOMEM, "no memory for %lld bytes", (long long)*n);
    for (int64_t i = 0; i < *n && status == OG_OK; i++) {
        if (values[i] < 0 || values[i] > 255)
            status = og_fail(err, OG_EFORMAT, "%s: %lld is not a byte", OG_WHERE(node), (long long)values[i]);
        else
            bytes[i] = (uint8_t)values[i];
    }
    og_release(values);
    if (status == OG_OK)
        *out = bytes;
    else
        og_release(bytes);
    return status;
}

static og_status reals_of(const og_config *map, const char *field, double **out, int64_t *n, og_error *err) {
    const og_config *node;
    OG_TRY(og_verify_need(map, field, &node, err));
    return og_verify_reals(node, out, n, err);
}

static og_status integers_of(const og_config *map, const char *field, int64_t **out, int64_t *n, og_error *err) {
    const og_config *node;
    OG_TRY(og_verify_need(map, field, &node, err));
    return og_verify_integers(node, out, n, err);
}

static og_status fp8_row(og_verify *v, const og_config *node, og_error *err) {
    uint8_t *values = NULL, *scales = NULL;
    double *want = NULL;
    float *got = NULL;
    int64_t n = 0, n_scales = 0, n_want = 0;
    og_status status = bytes_of(node, "e4m3", &values, &n, err);
    if (status == OG_OK) status = bytes_of(node, "ue8m0", &scales, &n_scales, err);
    if (status == OG_OK) status = reals_of(node, "values", &want, &n_want, err);
    if (status == OG_OK && n_want != n) status = wrong(node, "values and e4m3 differ in length", err);
    if (status == OG_OK && !(got = og_alloc(n, sizeof *got))) status = og_fail(err, OG_ENOMEM, "no memory for a row");
    if (status == OG_OK) status = og_fp8_row_decode(values, n, scales, n_scales, got, err);
    for (int64_t i = 0; i < n && status == OG_OK; i++)
        og_verify_real(v, "fp8_row", "values", i, want[i], (double)got[i], 1);
    og_release(values);
    og_release(scales);
    og_release(want);
    og_release(got);
    return status;
}

static og_status pkm(og_verify *v, const og_config *node, og_error *err) {
    double *query = NULL, *first = NULL, *second = NULL, *want = NULL;
    int64_t n_query = 0, n_first = 0, n_second = 0, n_want = 0, keys = 0, dim = 0, knn = 0;
    og_pkm_hit *hits = NULL;
    const og_config *at;
    og_status status = reals_of(node, "query", &query, &n_query, err);
    if (status == OG_OK) status = reals_of(node, "subkeys1", &first, &n_first, err);
    if (status == OG_OK) status = reals_of(node, "subkeys2", &second, &n_second, err);
    if (status == OG_OK) status = reals_of(node, "hits", &want, &n_want, err);
    if (status == OG_OK) status = og_verify_need(node, "knn", &at, err);
    if (status == OG_OK) status = og_config_i64(at, &knn, err);
    if (status == OG_OK) status = og_verify_shape(og_config_get(node, "subkeys1"), &keys, &dim, err);
    if (status == OG_OK && (n_query != 2 * dim || n_second != n_first || knn < 1 || n_want % 2 || n_want / 2 != knn))
        status = wrong(node, "query, sub-keys, knn and hits do not fit each other", err);
    if (status == OG_OK && !(hits = og_alloc(knn, sizeof *hits)))
        status = og_fail(err, OG_ENOMEM, "no memory for hits");
    if (status == OG_OK) status = og_pkm_search(query, first, second, keys, dim, knn, hits, err);
    for (int64_t i = 0; i < knn && status == OG_OK; i++) {
        og_verify_real(v, "pkm", "hits.index", i, want[2 * i], (double)hits[i].index, 1);
        og_verify_real(v, "pkm", "hits.weight", i, want[2 * i + 1], hits[i].weight, 0);
    }
    og_release(query);
    og_release(first);
    og_release(second);
    og_release(want);
    og_release(hits);
    return status;
}

/* The field's integers as ids of 32 bits. */
static og_status ids_of(const og_config *map, const char *field, int64_t **out, int32_t **ids, int64_t *n,
                        og_error *err) {
    OG_TRY(integers_of(map, field, out, n, err));
    if (!(*ids = og_alloc(*n, sizeof **ids))) return og_fail(err, OG_ENOMEM, "no memory for %lld ids", (long long)*n);
    for (int64_t i = 0; i < *n; i++) {
        if ((*out)[i] < INT32_MIN || (*out)[i] > INT32_MAX)
            return og_fail(err, OG_EFORMAT, "%s: id %lld does not fit 32 bits", OG_WHERE(og_config_get(map, field)),
                           (long long)(*out)[i]);
        (*ids)[i] = (int32_t)(*out)[i];
    }
    return OG_OK;
}

/* match[t] is compared token by token: its length, then its tokens. */
static og_status compare_match(og_verify *v, const og_config *match, const int64_t *got, const int64_t *first,
                               const int64_t *lengths, const int64_t *set, int64_t n, og_error *err) {
    if (og_config_kind(match) != OG_CONFIG_LIST || og_config_size(match) != n)
        return wrong(match, "match has another length than ids", err);
    for (int64_t t = 0; t < n; t++) {
        int64_t *want, length = 0;
        const og_config *at = og_config_at(match, t);
        if (og_config_kind(at) == OG_CONFIG_NULL) {
            og_verify_integer(v, "scone_longest_match", "match (length)", t, 0, 0, got[t] < 0 ? 0 : lengths[got[t]]);
            continue;
        }
        OG_TRY(og_verify_integers(at, &want, &length, err));
        og_verify_integer(v, "scone_longest_match", "match (length)", t, 0, length, got[t] < 0 ? 0 : lengths[got[t]]);
        for (int64_t k = 0; k < length && got[t] >= 0 && k < lengths[got[t]]; k++)
            og_verify_integer(v, "scone_longest_match", "match", t, k, want[k], set[first[got[t]] + k]);
        og_release(want);
    }
    return OG_OK;
}

static og_status scone(og_verify *v, const og_config *node, og_error *err) {
    const og_config *set_node, *match, *order_node;
    int64_t *set = NULL, *ids = NULL, *starts = NULL, *lengths = NULL, *got = NULL, n_set = 0, n = 0, n_docs = 0,
            max_order = 0;
    int32_t *set32 = NULL, *ids32 = NULL;
    og_scone *scone_set = NULL;
    OG_TRY(og_verify_need(node, "set", &set_node, err));
    OG_TRY(og_verify_need(node, "match", &match, err));
    OG_TRY(og_verify_need(node, "max_order", &order_node, err));
    OG_TRY(og_config_i64(order_node, &max_order, err));
    int64_t members = og_config_size(set_node);
    og_status status = ids_of(node, "set", &set, &set32, &n_set, err);
    if (status == OG_OK) status = ids_of(node, "ids", &ids, &ids32, &n, err);
    if (status == OG_OK && og_config_get(node, "doc_starts"))
        status = integers_of(node, "doc_starts", &starts, &n_docs, err);
    if (status == OG_OK) {
        lengths = og_alloc(2 * members, sizeof *lengths);
        got = og_alloc(n, sizeof *got);
        if (!lengths || !got) status = og_fail(err, OG_ENOMEM, "no memory for a set of n-grams");
    }
    if (status == OG_OK) {
        int64_t *first = lengths + members;
        for (int64_t i = 0, sum = 0; i < members; i++) {
            first[i] = sum;
            sum += lengths[i] = og_config_size(og_config_at(set_node, i));
        }
        status = og_scone_new(set32, lengths, members, max_order, &scone_set, err);
        if (status == OG_OK) status = og_scone_match(scone_set, ids32, n, starts, n_docs, got, err);
        if (status == OG_OK) status = compare_match(v, match, got, first, lengths, set, n, err);
    }
    og_scone_free(scone_set);
    og_release(set);
    og_release(ids);
    og_release(starts);
    og_release(lengths);
    og_release(got);
    og_release(set32);
    og_release(ids32);
    return status;
}

og_status og_verify_block(og_verify *v, const og_config *node, og_error *err) {
    static const struct {
        const char *name;
        og_status (*replay)(og_verify *v, const og_config *node, og_error *err);
        const char *fields[8];
    } blocks[] = {
        {"fp8_row", fp8_row, {"block", "e4m3", "ue8m0", "values"}},
        {"pkm", pkm, {"block", "query", "subkeys1", "subkeys2", "knn", "hits"}},
        {"scone_longest_match", scone, {"block", "set", "max_order", "ids", "doc_starts", "match"}},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (strcmp(blocks[i].name, v->system) != 0) continue;
        const char *field = og_verify_unknown_field(node, blocks[i].fields);
        if (!field) return blocks[i].replay(v, node, err);
        og_verify_unsupported(v, "unknown field '%.80s'", field);
        return OG_OK;
    }
    og_verify_unsupported(v, "no code here replays this block");
    return OG_OK;
}
