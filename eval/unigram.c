/* unigram.c: the control that any model must beat. */
#include <omnigram/eval.h>

#include <math.h>
#include <string.h>

static int is_target(const og_pack *pack, int64_t t) {
    return pack->loss_weight[t] > 0 && t > 0 && pack->doc_id[t] >= 0 && pack->doc_id[t] == pack->doc_id[t - 1];
}

og_status og_eval_unigram(const og_packs *train, const og_packs *val, og_bits *out, og_error *err) {
    const og_id_map *ids = og_packs_ids(train);
    if (memcmp(ids, og_packs_ids(val), sizeof *ids))
        return og_fail(err, OG_EINVAL, "unigram: training and held-out packs have different id ranges");
    int64_t *count = og_alloc_zero(ids->size, sizeof *count), total[OG_N_MODALITIES] = {0};
    if (!count) return og_fail(err, OG_ENOMEM, "unigram: no memory for %d counts", (int)ids->size);
    og_pack pack;
    og_status status = OG_OK;
    for (int64_t i = 0; status == OG_OK && i < og_packs_count(train); i++) {
        status = og_packs_get(train, i, &pack, err);
        for (int64_t t = 0; status == OG_OK && t < pack.n_valid; t++)
            if (is_target(&pack, t)) {
                count[pack.tokens[t]]++;
                total[pack.modality[t]]++;
            }
    }
    og_bits sum;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; status == OG_OK && i < og_packs_count(val); i++) {
        status = og_packs_get(val, i, &pack, err);
        for (int64_t t = 0; status == OG_OK && t < pack.n_valid; t++)
            if (is_target(&pack, t)) {
                int m = pack.modality[t];
                double size = (double)ids->codes[m] * ids->levels[m];
                sum.bits[m] -= log2(((double)count[pack.tokens[t]] + 1) / ((double)total[m] + size));
                sum.tokens[m]++;
            }
    }
    og_release(count);
    if (status == OG_OK) *out = sum;
    return status;
}
