/* table_describe.c: what a table's rows mean, as canonical JSON and its SHA-256; two tables whose
 * rows mean the same have the same. */
#include "table_set.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *at;
    int64_t n, capacity;
} text;

static og_status add(text *t, const char *s, og_error *err) {
    int64_t bytes = (int64_t)strlen(s);
    OG_TRY(og_grow((void **)&t->at, &t->capacity, t->n + bytes + 1, 1, err));
    memcpy(t->at + t->n, s, (size_t)bytes + 1);
    t->n += bytes;
    return OG_OK;
}

/* The stencil's keys with every default spelled out; dim and dtype are the store's and not the
 * key's matter, orders the addressing's. */
static og_status add_stencil(text *t, const og_table *table, const og_config *map, og_error *err) {
    const og_stencil_type *type = table->parts[0].stencil;
    og_config *tree;
    OG_TRY(og_config_from_json("{}", 2, "stencil", &tree, err));
    char line[512];
    snprintf(line, sizeof line, "stencil=%s", type->name);
    og_status status = og_config_override(tree, line, err);
    for (const og_key *key = type->keys; status == OG_OK && key->name; key++) {
        static const char *const others[] = {"stencil", "addressing", "dim", "dtype", "orders", "order"};
        int skip = 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) skip |= !strcmp(key->name, others[i]);
        const og_config *node = og_config_get(map, key->name);
        if (skip || (!node && (!key->fallback || !*key->fallback))) continue;
        char *json = NULL;
        if (node) status = og_config_to_json(node, &json, err);
        if (status == OG_OK) {
            const char *value = node ? json : key->fallback;
            char *assignment = og_alloc((int64_t)(strlen(key->name) + strlen(value) + 2), 1);
            if (!assignment)
                status = og_fail(err, OG_ENOMEM, "no memory for a table's description");
            else {
                sprintf(assignment, "%s=%s", key->name, value);
                status = og_config_override(tree, assignment, err);
            }
            og_release(assignment);
        }
        og_release(json);
    }
    char *json = NULL;
    if (status == OG_OK) status = og_config_to_json(tree, &json, err);
    if (status == OG_OK) status = add(t, json, err);
    og_release(json);
    og_config_free(tree);
    return status;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Whether table keys of the modalities in `sources` are of codebook i. */
static int counts(const og_books *books, int32_t i, uint32_t sources) {
    uint32_t known = 0;
    for (int32_t k = 0; books->modalities && k < books->n; k++)
        if (books->modalities[k] >= 0 && books->modalities[k] < OG_MARKER) known |= 1u << books->modalities[k];
    int32_t modality = books->modalities ? books->modalities[i] : -1;
    if (modality >= 0 && modality < OG_MARKER) return sources >> modality & 1;
    return (sources & ~known & ~(1u << OG_TEXT)) != 0;
}

static og_status add_codebooks(text *t, const og_books *books, uint32_t sources, og_error *err) {
    const char **sorted = og_alloc(books->n, sizeof *sorted); /* the order in which a corpus names them means nothing */
    int32_t n = 0;
    if (!sorted) return og_fail(err, OG_ENOMEM, "no memory for %d fingerprints", books->n);
    for (int32_t i = 0; i < books->n; i++)
        if (counts(books, i, sources)) sorted[n++] = books->fingerprints[i];
    if (n) qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    og_status status = OG_OK;
    for (int32_t i = 0; i < n && status == OG_OK; i++) {
        status = add(t, i ? ",\"" : "\"", err);
        if (status == OG_OK) status = add(t, sorted[i], err);
        if (status == OG_OK) status = add(t, "\"", err);
    }
    og_release(sorted);
    return status;
}

static og_status describe(text *t, const og_table *table, const og_config *map, const og_id_map *ids,
                          const og_books *books, og_error *err) {
    uint32_t sources = 0;
    OG_TRY(add(t, "{\"addressing\":[", err));
    for (int32_t p = 0; p < table->n_parts; p++) {
        char *json;
        sources |= table->parts[p].layout.sources;
        OG_TRY(og_addr_describe(table->parts[p].addr, &json, err));
        og_status status = p ? add(t, ",", err) : OG_OK;
        if (status == OG_OK) status = add(t, json, err);
        og_release(json);
        OG_TRY(status);
    }
    OG_TRY(add(t, "],\"stencil\":", err));
    OG_TRY(add_stencil(t, table, map, err));
    OG_TRY(add(t, ",\"codes\":{", err));
    for (int32_t m = 0, n = 0; m < OG_MARKER; m++) {
        if (!(sources >> m & 1)) continue;
        char line[128];
        snprintf(line, sizeof line, "%s\"%s\":{\"codes\":%d,\"levels\":%d}", n++ ? "," : "", og_modality_name(m),
                 ids->codes[m], ids->levels[m]);
        OG_TRY(add(t, line, err));
    }
    OG_TRY(add(t, "},\"codebooks\":[", err));
    OG_TRY(add_codebooks(t, books, sources, err));
    return add(t, "]}", err);
}

og_status og_table_describe(og_table *table, const og_config *map, const og_id_map *ids, const og_books *books,
                            og_error *err) {
    text t = {0};
    og_config *tree = NULL;
    og_status status = describe(&t, table, map, ids, books, err);
    if (status == OG_OK) status = og_config_from_json(t.at, t.n, "table description", &tree, err);
    if (status == OG_OK) status = og_config_to_json(tree, &table->description, err);
    if (status == OG_OK)
        status = og_digest_of(table->description, (int64_t)strlen(table->description), table->fingerprint, err);
    og_config_free(tree);
    og_release(t.at);
    return status;
}

/* The first key, breadth first, whose JSON differs. */
static og_status compare(const char *ours, const char *theirs, char *out, size_t room, og_error *err) {
    static const char *const keys[] = {"codebooks", "codes", "stencil", "addressing"};
    og_config *a = NULL, *b = NULL;
    og_status status = og_config_from_json(ours, (int64_t)strlen(ours), "this table", &a, err);
    if (status == OG_OK) status = og_config_from_json(theirs, (int64_t)strlen(theirs), "the stored table", &b, err);
    snprintf(out, room, "its description differs");
    for (size_t i = 0; i < sizeof keys / sizeof *keys && status == OG_OK; i++) {
        char *x = NULL, *y = NULL;
        status = og_config_to_json(og_config_get(a, keys[i]), &x, err);
        if (status == OG_OK) status = og_config_to_json(og_config_get(b, keys[i]), &y, err);
        int differ = status == OG_OK && strcmp(x, y);
        if (differ) snprintf(out, room, "%s: %.140s here, %.140s there", keys[i], x, y);
        og_release(x);
        og_release(y);
        if (differ) break;
    }
    og_config_free(a);
    og_config_free(b);
    return status;
}

og_status og_table_set_check(const og_table_set *set, int32_t i, const char *fingerprint, const char *description,
                             og_error *err) {
    if (i < 0 || i >= set->n_tables) return og_fail(err, OG_EINVAL, "table %d; there are %d", i, set->n_tables);
    const og_table *table = &set->tables[i];
    if (!strcmp(table->fingerprint, fingerprint)) return OG_OK;
    char what[320] = "";
    og_status compared = description ? compare(table->description, description, what, sizeof what, NULL) : OG_OK;
    if (compared == OG_ENOMEM) /* refused all the same, without the reason */
        what[0] = 0;
    else if (compared != OG_OK)
        snprintf(what, sizeof what, "its description is unreadable");
    return og_fail(err, OG_EINVAL, "table %s: made for another table, fingerprint %.16s... here, %.16s... there%s%s",
                   table->name, table->fingerprint, fingerprint, *what ? "; " : "", what);
}
