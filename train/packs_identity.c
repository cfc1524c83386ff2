/* packs_identity.c: id ranges, codebooks and tokenizer of packs: equal ids of other ones mean other things. */
#include <omnigram/internal/packs_identity.h>

#include <string.h>

/* Text ids have no codebook; packs that `omnigram quantize` made tell their tokenizer. */
static const char *tokenizer_of(const og_packs *packs) {
    const char *name = NULL;
    const og_config *node = og_config_get(og_packs_counters(packs), "tokenizer");
    return node && og_config_string(node, &name, NULL) == OG_OK ? name : NULL;
}

json_t *og_packs_identity(const og_packs *packs) {
    const og_id_map *map = og_packs_ids(packs);
    json_t *ids = json_object(), *codebooks = json_array();
    for (int m = 0; m < OG_N_MODALITIES; m++)
        json_object_set_new(ids, og_modality_name(m),
                            json_pack("[i,i,i]", (int)map->base[m], (int)map->codes[m], (int)map->levels[m]));
    for (int32_t i = 0; i < og_packs_codebook_count(packs); i++)
        json_array_append_new(codebooks, json_string(og_packs_codebook(packs, i)));
    return json_pack("{s:o,s:o,s:s?}", "ids", ids, "codebooks", codebooks, "tokenizer", tokenizer_of(packs));
}

typedef struct comparison {
    const json_t *then;
    const char *then_name, *now_name;
    const og_packs *now;
} comparison;

static og_status check_ids(const comparison *c, og_error *err) {
    const og_id_map *now = og_packs_ids(c->now);
    for (int m = 0; m < OG_N_MODALITIES; m++) {
        json_t *range = json_object_get(json_object_get(c->then, "ids"), og_modality_name(m));
        int base, codes, levels;
        if (json_unpack(range, "[i,i,i]", &base, &codes, &levels)) continue;
        if (base != now->base[m] || codes != now->codes[m] || levels != now->levels[m])
            return og_fail(err, OG_EINVAL,
                           "%s have other id ranges than %s: %s has %d codes x %d levels from %d on, there %d x %d "
                           "from %d on",
                           c->now_name, c->then_name, og_modality_name(m), (int)now->codes[m], (int)now->levels[m],
                           (int)now->base[m], codes, levels, base);
    }
    return OG_OK;
}

static og_status check_codebooks(const comparison *c, og_error *err) {
    const json_t *codebooks = json_object_get(c->then, "codebooks"), *codebook;
    for (int32_t i = 0; codebooks && i < og_packs_codebook_count(c->now); i++) {
        const char *wanted = og_packs_codebook(c->now, i);
        int found = 0;
        char known[200] = "";
        size_t k, n = 0;
        json_array_foreach(codebooks, k, codebook) {
            const char *one = json_string_value(codebook);
            found |= one && !strcmp(one, wanted);
            if (one && n < sizeof known - 32)
                n += (size_t)snprintf(known + n, sizeof known - n, "%s%.16s...", k ? ", " : "", one);
        }
        if (!found)
            return og_fail(err, OG_EINVAL,
                           "%s hold codes of codebook %.16s..., %s those of %s: equal codes would mean other things; "
                           "quantize both with the same codebooks",
                           c->now_name, wanted, c->then_name, *known ? known : "none");
    }
    return OG_OK;
}

og_status og_packs_identity_check(const json_t *then, const char *then_name, const og_packs *packs,
                                  const char *now_name, og_error *err) {
    const comparison c = {then, then_name, now_name, packs};
    OG_TRY(check_ids(&c, err));
    OG_TRY(check_codebooks(&c, err));
    const char *theirs = json_string_value(json_object_get(then, "tokenizer")), *ours = tokenizer_of(packs);
    if (!theirs || !ours || !strcmp(theirs, ours)) return OG_OK;
    return og_fail(err, OG_EINVAL,
                   "the text of %s is of tokenizer %.16s..., that of %s of %.16s...: quantize both with the same "
                   "tokenizer",
                   now_name, ours, then_name, theirs);
}
