/* inspect_origin.c: the pack that holds a document, by where the document is from. */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

/* Calls of og_prepared_get by split; *out the document whose name or place it is. 1 when found. */
static int find_prepared(const og_prepared *prepared, const char *name, const og_origin *origin,
                         og_prepared_document *out) {
    for (int32_t split = 0; split < OG_N_SPLITS; split++)
        for (int64_t i = 0; i < og_prepared_count(prepared, split); i++) {
            if (og_prepared_get(prepared, split, i, out, NULL) != OG_OK) continue;
            if (name ? !strcmp(out->id, name) : out->shard == origin->shard && out->index == origin->index) return 1;
        }
    return 0;
}

const char *og_inspect_name(const og_inspect *in, const og_origin *origin) {
    og_prepared_document document;
    return in->prepared && find_prepared(in->prepared, NULL, origin, &document) ? document.id : NULL;
}

og_status og_inspect_check_prepared(const og_inspect *in, const char *folder, og_error *err) {
    const char *wanted = NULL;
    char is[OG_DIGEST_TEXT];
    const og_config *node = og_config_get(og_packs_counters(in->packs), "shards");
    if (!in->prepared || !node || og_config_string(node, &wanted, NULL) != OG_OK) return OG_OK;
    OG_TRY(og_prepared_fingerprint(in->prepared, is, err));
    if (!strcmp(wanted, is)) return OG_OK;
    return og_fail(err, OG_EINVAL,
                   "--prepared %s: its shards have fingerprint %.16s, the packs were made from those of %.16s: names "
                   "would be those of other documents",
                   folder, is, wanted);
}

static int is_pair(const char *text, og_origin *out) {
    char *end;
    if (*text < '0' || *text > '9') return 0;
    out->shard = strtoll(text, &end, 10);
    if (*end != ':' || end[1] < '0' || end[1] > '9') return 0;
    out->index = strtoll(end + 1, &end, 10);
    return !*end;
}

og_status og_inspect_find(og_inspect *in, const char *origin, og_error *err) {
    og_origin wanted = {0};
    og_prepared_document document;
    if (in->prepared && find_prepared(in->prepared, origin, NULL, &document)) {
        wanted.shard = document.shard;
        wanted.index = document.index;
    } else if (!is_pair(origin, &wanted)) {
        if (in->prepared)
            return og_fail(err, OG_EINVAL, "--origin %s: no document of --prepared has this name", origin);
        return og_fail(err, OG_EINVAL,
                       "--origin %s: is no SHARD:INDEX; a name needs --prepared FOLDER, which has the names", origin);
    }
    int64_t n = og_packs_count(in->packs);
    for (int64_t i = 0; i < n; i++) {
        og_pack pack;
        OG_TRY(og_packs_get(in->packs, i, &pack, err));
        for (int64_t d = 0; d < pack.n_docs; d++)
            if (pack.origin[d].shard == wanted.shard && pack.origin[d].index == wanted.index) {
                in->number = i;
                in->pack = pack;
                in->from = pack.cu_seqlens[d];
                in->to = pack.cu_seqlens[d + 1];
                return OG_OK;
            }
    }
    return og_fail(err, OG_EINVAL, "--origin %s: none of the %lld packs of %s holds document %lld of shard %lld",
                   origin, (long long)n, in->path, (long long)wanted.index, (long long)wanted.shard);
}
