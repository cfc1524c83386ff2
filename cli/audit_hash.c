/* audit_hash.c: `omnigram audit hash`. */
#include "audit_hash.h"
#include "audit.h"
#include "options.h"
#include "tables_section.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct words {
    const char *config, *tables, *packs, *ids, *schemes, *vocabs, *rows, *orders, *json, *svg, *threads;
    int strict;
} words;

typedef struct audit {
    og_audit_entry *entries;
    int64_t capacity;
    int32_t n;
    og_pool *pool;
} audit;

static og_status next_entry(audit *a, int32_t n_reports, const char *name, const char *scheme, og_audit_entry **out,
                            og_error *err) {
    OG_TRY(og_grow((void **)&a->entries, &a->capacity, a->n + 1, sizeof *a->entries, err));
    og_audit_entry *e = &a->entries[a->n];
    *e = (og_audit_entry){.reports = og_alloc_zero(n_reports, sizeof *e->reports)};
    if (!e->reports) return og_fail(err, OG_ENOMEM, "no memory for an audit");
    snprintf(e->name, sizeof e->name, "%s", name);
    snprintf(e->scheme, sizeof e->scheme, "%s", scheme);
    a->n++;
    *out = e;
    return OG_OK;
}

static void free_audit(audit *a) {
    for (int32_t i = 0; i < a->n; i++) {
        for (int32_t p = 0; p < a->entries[i].n_reports; p++) og_hash_report_free(a->entries[i].reports[p]);
        og_release(a->entries[i].reports);
        og_release(a->entries[i].corpus);
    }
    og_release(a->entries);
    og_pool_free(a->pool);
}

/* ---- the tables of a config ---- */

static og_status audit_table(audit *a, const og_table_set *set, int32_t i, const og_packs *packs, og_error *err) {
    og_audit_entry *e;
    const og_table_info *info = og_table_set_info(set, i);
    int32_t n = og_table_set_ngrams(set, i);
    OG_TRY(next_entry(a, n, info->name, og_addr_type_of(og_table_set_addr(set, i))->name, &e, err));
    const og_hash_options options = {.seed = 1};
    for (int32_t p = 0; p < n; p++) {
        OG_TRY(og_hash_audit_table(set, i, p, &options, a->pool, &e->reports[p], err));
        e->n_reports++;
    }
    if (!packs) return OG_OK;
    e->corpus = og_alloc_zero(info->n_columns, sizeof *e->corpus);
    if (!e->corpus) return og_fail(err, OG_ENOMEM, "no memory for %d columns", info->n_columns);
    OG_TRY(og_hash_corpus(set, i, packs, e->corpus, err));
    e->n_corpus = info->n_columns;
    return OG_OK;
}

static int audit_tables(audit *a, const words *w, const og_arguments *arguments) {
    og_config *config = NULL;
    const og_config *tables = NULL;
    og_packs *packs = NULL;
    og_table_set *set = NULL;
    og_id_map ids;
    og_error err = {{0}};
    if (!w->packs == !w->ids)
        return og_verb_usage("audit hash", "give --packs FILE or --ids TEXT,IMAGE,AUDIO with --config");
    int failed = w->ids ? og_ids_option("audit hash", w->ids, &ids) : 0;
    if (!failed) failed = og_tables_section("audit hash", w->config, arguments, &config, &tables);
    if (!failed) {
        og_status status = w->packs ? og_packs_load(w->packs, &packs, &err) : OG_OK;
        if (status == OG_OK)
            status = packs ? og_table_set_of_packs(tables, packs, &set, &err)
                           : og_table_set_new(tables, &ids, NULL, NULL, 0, &set, &err);
        for (int32_t i = 0; status == OG_OK && i < og_table_set_count(set); i++) {
            og_progress_print("audit hash", og_table_set_info(set, i)->name, i, og_table_set_count(set));
            status = audit_table(a, set, i, packs, &err);
        }
        if (status == OG_OK && a->n == 0) status = og_fail(&err, OG_EINVAL, "%s has no tables", w->config);
        if (status != OG_OK) failed = og_verb_fail("audit hash", &err);
    }
    og_table_set_free(set);
    og_packs_free(packs);
    og_config_free(config);
    return failed;
}

/* ---- schemes by vocabularies ---- */

static og_status audit_scheme(audit *a, const char *scheme, const char *vocab, const words *w, og_error *err) {
    char yaml[512], name[80], *end;
    const og_addr_type *type = og_addr_find(scheme);
    int takes_orders = 0; /* schemes that are no list of orders keep the columns of their source */
    for (const og_key *key = type ? type->keys : NULL; key && key->name; key++)
        takes_orders |= !strcmp(key->name, "orders");
    const char *nearest = og_addr_nearest(scheme);
    if (!type)
        return og_fail(err, OG_EINVAL, "--scheme %s: is unknown%s%s%s; `omnigram verify --schemes` lists them", scheme,
                       nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    int64_t v = strtoll(vocab, &end, 10);
    if (*end || v < 2 || v > INT32_MAX)
        return og_fail(err, OG_EINVAL, "--vocab %s; it is a list of integers from 2 to %d", vocab, INT32_MAX);
    size_t n = (size_t)snprintf(yaml, sizeof yaml, "{scheme: %s", scheme);
    if (takes_orders)
        n += (size_t)snprintf(yaml + n, sizeof yaml - n, ", orders: [%.200s], rows: %.40s", w->orders, w->rows);
    snprintf(yaml + n, sizeof yaml - n, "}");
    snprintf(name, sizeof name, "%s/%s", scheme, vocab);
    og_config *config;
    og_addr *addr;
    OG_TRY(og_config_from_yaml(yaml, (int64_t)strlen(yaml), name, &config, err));
    og_error why = {{0}};
    og_status status = og_hash_addr(config, v, &addr, &why);
    og_config_free(config);
    og_audit_entry *e;
    const og_hash_options options = {.vocab = v, .contexts = 1, .seed = 1};
    if (status != OG_OK && (status != OG_EINVAL || !strchr(w->vocabs, ','))) {
        *err = why;
        return status;
    }
    og_status listed = next_entry(a, 1, name, scheme, &e, err);
    if (status != OG_OK) { /* one of several vocabularies: said, and the others are audited */
        if (listed == OG_OK) snprintf(e->refused, sizeof e->refused, "%s", why.message);
        return listed;
    }
    status = listed;
    if (status == OG_OK) status = og_hash_audit(addr, &options, a->pool, &e->reports[0], err);
    if (status == OG_OK) e->n_reports = 1;
    og_addr_free(addr);
    return status;
}

/* The k-th word of a list with commas, into out; 0 when there is none. */
static int word_of(const char *list, int k, char *out, size_t room) {
    for (; k > 0; k--) {
        list = strchr(list, ',');
        if (!list) return 0;
        list++;
    }
    snprintf(out, room, "%.*s", (int)strcspn(list, ","), list);
    return 1;
}

static int32_t words_in(const char *list) {
    int32_t n = 1;
    for (; *list; list++) n += *list == ',';
    return n;
}

static int audit_schemes(audit *a, const words *w) {
    char scheme[48], vocab[48];
    og_error err = {{0}};
    int32_t count = words_in(w->schemes) * words_in(w->vocabs);
    for (int s = 0; word_of(w->schemes, s, scheme, sizeof scheme); s++)
        for (int v = 0; word_of(w->vocabs, v, vocab, sizeof vocab); v++) {
            char stage[112];
            snprintf(stage, sizeof stage, "%s, V = %s", scheme, vocab);
            og_progress_print("audit hash", stage, a->n, count);
            if (audit_scheme(a, scheme, vocab, w, &err) != OG_OK) return og_verb_fail("audit hash", &err);
        }
    return 0;
}

/* ---- the verb ---- */

static int results(const audit *a, const words *w) {
    FILE *to = w->json && !strcmp(w->json, "-") ? stderr : stdout;
    json_t *hash = json_object();
    int32_t weak = 0, refused = 0;
    for (int32_t i = 0; i < a->n; i++) {
        og_audit_print(&a->entries[i], to);
        json_object_set_new(hash, a->entries[i].name, og_audit_json(&a->entries[i]));
        refused += a->entries[i].n_reports == 0;
        for (int32_t p = 0; p < a->entries[i].n_reports; p++) weak += a->entries[i].reports[p]->n_warnings > 0;
    }
    if (a->n > 1) og_audit_summary(a->entries, a->n, to);
    int failed = og_json_result("audit hash", w->json,
                                json_pack("{s:o, s:i, s:i}", "hash", hash, "weak", weak, "refused", refused));
    if (!failed && w->svg) {
        char *svg = og_audit_svg(a->entries, a->n);
        og_error err = {{0}};
        og_status status = svg ? og_file_write(w->svg, svg, (int64_t)strlen(svg), &err)
                               : og_fail(&err, OG_ENOMEM, "no memory for the picture");
        if (status != OG_OK) failed = og_verb_fail("audit hash", &err);
        og_release(svg);
    }
    if (!failed && w->strict && weak) {
        fprintf(stderr, "omnigram audit hash: %d of the addressings are weak\n", weak);
        failed = 1;
    }
    return failed;
}

/* Options of the other kind of audit would be without effect. */
static int check_kind(const words *w, int tables) {
    static const char *const names[] = {"--scheme", "--vocab", "--rows", "--orders", "--packs", "--ids"};
    const char *const values[] = {w->schemes, w->vocabs, w->rows, w->orders, w->packs, w->ids};
    for (int i = 0; i < 6; i++)
        if (values[i] && tables == (i < 4))
            return og_verb_usage("audit hash", "%s %s %s", names[i], values[i],
                                 tables ? "goes without --config, whose tables have their own" : "needs --config YAML");
    return 0;
}

int og_verb_audit_hash(int argc, char **argv) {
    words w = {0};
    const og_option options[] = {{"--config", &w.config, NULL},
                                 {"--tables", &w.tables, NULL},
                                 {"--packs", &w.packs, NULL},
                                 {"--ids", &w.ids, NULL},
                                 {"--scheme", &w.schemes, NULL},
                                 {"--vocab", &w.vocabs, NULL},
                                 {"--rows", &w.rows, NULL},
                                 {"--orders", &w.orders, NULL},
                                 {"--json", &w.json, NULL},
                                 {"--svg", &w.svg, NULL},
                                 {"--threads", &w.threads, NULL},
                                 {"--strict", NULL, &w.strict},
                                 {0}};
    og_arguments arguments;
    audit a = {0};
    og_error err = {{0}};
    int failed = og_options_read("audit hash", argc, argv, options, 1, &arguments);
    if (!failed && arguments.n_files) failed = og_verb_usage("audit hash", "unexpected '%s'", arguments.files[0]);
    if (!failed) {
        long threads = w.threads ? strtol(w.threads, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
        if (threads < 1 || threads > 1024)
            failed = og_verb_usage("audit hash", "--threads %s; it is 1 .. 1024", w.threads);
        else if (og_pool_new((int32_t)threads, &a.pool, &err) != OG_OK)
            failed = og_verb_fail("audit hash", &err);
    }
    if (!failed) failed = og_tables_option("audit hash", &w.config, w.tables);
    int tables = w.config || arguments.n_overrides;
    if (!failed) failed = check_kind(&w, tables);
    if (!w.schemes) w.schemes = "mix64,welm_knuth32,mojo_mod";
    if (!w.vocabs) w.vocabs = "8192,16384,32000,50257,65536,100352,129280,131072,151936,155648";
    if (!w.rows) w.rows = "16000000";
    if (!w.orders) w.orders = "2,3,4,5";
    if (!failed) failed = tables ? audit_tables(&a, &w, &arguments) : audit_schemes(&a, &w);
    if (!failed) failed = results(&a, &w);
    free_audit(&a);
    og_arguments_free(&arguments);
    return failed;
}
