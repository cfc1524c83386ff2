/* check.c: whether held-out packs are of the kind that a model was made for. */
#include <omnigram/eval.h>

#include <omnigram/internal/packs_identity.h>

og_status og_eval_check(const og_packs *train, const og_packs *val, og_error *err) {
    if (!og_packs_count(val)) return og_fail(err, OG_EINVAL, "there are no held-out packs");
    json_t *then = og_packs_identity(train);
    if (!then) return og_fail(err, OG_ENOMEM, "eval: no memory");
    og_status status = og_packs_identity_check(then, "the training packs", val, "the held-out packs", err);
    json_decref(then);
    if (status != OG_OK) return status;
    if (og_packs_capacity(val) > og_packs_capacity(train))
        return og_fail(err, OG_EINVAL, "the held-out packs hold %lld tokens, the model was made for %lld",
                       (long long)og_packs_capacity(val), (long long)og_packs_capacity(train));
    return OG_OK;
}
