/* index_digest.c: the SHA-256 that index.json carries over the rest of itself. */
#include "prepare/shard.h"

#include <string.h>

static og_status add_part(og_digest *digest, const char *key, const og_config *value, og_error *err) {
    char *text = NULL;
    OG_TRY(og_config_to_json(value, &text, err));
    og_status status = og_digest_add(digest, key, (int64_t)strlen(key) + 1, err);
    if (status == OG_OK) status = og_digest_add(digest, text, (int64_t)strlen(text) + 1, err);
    og_release(text);
    return status;
}

og_status og_index_digest(const og_config *index, char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = OG_OK;
    for (int64_t i = 0; i < og_config_size(index) && status == OG_OK; i++) {
        const char *key = og_config_key_at(index, i);
        if (key && strcmp(key, "digest")) status = add_part(digest, key, og_config_at(index, i), err);
    }
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}
