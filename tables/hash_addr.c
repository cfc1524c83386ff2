/* hash_addr.c: the addressing that an audit over V codes looks at. */
#include <omnigram/audit.h>

#include <stdio.h>
#include <string.h>

/* The id that ends a window must be a code; which one it is moves no row of a whole window. */
static og_status set_eos(og_config *config, int64_t vocab, og_error *err) {
    const char *name;
    OG_TRY(og_config_string(og_config_get(config, "scheme"), &name, err));
    const og_addr_type *type = og_addr_find(name);
    for (const og_key *key = type ? type->keys : NULL; key && key->name; key++) {
        long long eos = 0;
        if (strcmp(key->name, "eos") || og_config_get(config, "eos") || sscanf(key->fallback, "%lld", &eos) != 1 ||
            eos < vocab)
            continue;
        char line[48];
        snprintf(line, sizeof line, "eos=%lld", (long long)vocab - 1);
        return og_config_override(config, line, err);
    }
    return OG_OK;
}

og_status og_hash_addr(const og_config *addressing, int64_t vocab, og_addr **out, og_error *err) {
    og_config *config;
    OG_TRY(og_config_copy(addressing, &config, err));
    og_status status = og_addr_fit(config, vocab, 0, err);
    if (status == OG_OK) status = set_eos(config, vocab, err);
    if (status == OG_OK) status = og_addr_new(config, out, err);
    og_config_free(config);
    return status;
}
