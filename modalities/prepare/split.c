/* split.c: which side of train, val and test a group of documents is on. */
#include <omnigram/modalities.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const og_key keys[] = {
    {"val", OG_KEY_F64, offsetof(og_split_policy, val), "0.1", 0, 1, NULL, "share of the groups, in thousandths"},
    {"test", OG_KEY_F64, offsetof(og_split_policy, test), "0.1", 0, 1, NULL, "likewise; train has the rest"},
    {"seed", OG_KEY_I64, offsetof(og_split_policy, seed), "1", 0, 1e15, NULL, "another seed, other sides"},
    {"cover", OG_KEY_BOOL, offsetof(og_split_policy, cover), "true", 0, 0, NULL,
     "move a group where train would lack a modality, or val be empty"},
    {0},
};

og_status og_split_read(const og_config *config, og_split_policy *out, og_error *err) {
    og_split_policy read = {0};
    OG_TRY(og_config_read(config, keys, &read, err));
    const double shares[2] = {read.val, read.test};
    for (int i = 0; i < 2; i++)
        if (fabs(1000 * shares[i] - nearbyint(1000 * shares[i])) > 1e-6)
            return og_fail(err, OG_EINVAL, "split.%s is %.9g: a share is a whole number of thousandths",
                           i ? "test" : "val", shares[i]);
    if (read.val + read.test > 0.9995)
        return og_fail(err, OG_EINVAL, "split.val %g and split.test %g leave nothing for train", read.val, read.test);
    *out = read;
    return OG_OK;
}

og_status og_split_of(const og_split_policy *policy, const char *group, int32_t *split, og_error *err) {
    og_split_policy defaults;
    char text[OG_DIGEST_TEXT], prefix[40];
    og_digest *digest = NULL;
    if (!policy) {
        OG_TRY(og_split_read(NULL, &defaults, err));
        policy = &defaults;
    }
    int n = snprintf(prefix, sizeof prefix, "split-%lld:", (long long)policy->seed);
    OG_TRY(og_digest_new(&digest, err));
    og_status status = og_digest_add(digest, prefix, n, err);
    if (status == OG_OK) status = og_digest_add(digest, group, (int64_t)strlen(group), err);
    if (status != OG_OK) {
        og_digest_free(digest);
        return status;
    }
    OG_TRY(og_digest_end(digest, text, err));
    text[16] = 0;
    int64_t value = (int64_t)(strtoull(text, NULL, 16) % 1000), test = llround(1000 * policy->test);
    *split = value < test ? OG_TEST : value < test + llround(1000 * policy->val) ? OG_VAL : OG_TRAIN;
    return OG_OK;
}
