/* modality_text.c: text is checked to be UTF-8 and otherwise left as it is. */
#include "utf8.h"

#include <omnigram/modalities.h>

#include <string.h>

struct og_modality_impl {
    int64_t max_bytes;
    int32_t empty;
};

enum { EMPTY_ERROR, EMPTY_KEEP };

static const og_key keys[] = {
    {"max_bytes", OG_KEY_I64, offsetof(struct og_modality_impl, max_bytes), "67108864", 1, 1099511627776.0, NULL,
     "longest text of one item, bytes"},
    {"empty", OG_KEY_CHOICE, offsetof(struct og_modality_impl, empty), "error", 0, 0, "error|keep",
     "what a text of 0 bytes is"},
    {0},
};

static og_status create(const og_config *config, og_modality_impl **impl, og_error *err) {
    struct og_modality_impl read = {0};
    OG_TRY(og_config_read(config, keys, &read, err));
    og_modality_impl *self = og_alloc(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "text: no memory");
    *self = read;
    *impl = self;
    return OG_OK;
}

static void destroy(og_modality_impl *impl) { og_release(impl); }

static og_status decode(const og_modality_impl *impl, const char *place, const void *bytes, int64_t n, og_media *out,
                        og_error *err) {
    if (n == 0 && impl->empty == EMPTY_ERROR) return og_fail(err, OG_EFORMAT, "%s: empty text (0 bytes)", place);
    if (n > impl->max_bytes)
        return og_fail(err, OG_EFORMAT, "%s: text of %lld bytes is over the limit of %lld (text.max_bytes)", place,
                       (long long)n, (long long)impl->max_bytes);
    OG_TRY(og_utf8_check(place, bytes, n, err));
    char *copy = og_alloc(n, 1);
    if (!copy) return og_fail(err, OG_ENOMEM, "%s: no memory for %lld bytes", place, (long long)n);
    if (n) memcpy(copy, bytes, (size_t)n);
    *out = (og_media){.modality = OG_TEXT, .dtype = OG_U8, .rank = 1, .shape = {n}, .data = copy};
    return OG_OK;
}

static int64_t dim(const og_modality_impl *impl) {
    (void)impl;
    return 0;
}

static og_status describe(const og_modality_impl *impl, og_config **preprocess, og_error *err) {
    (void)impl;
    static const char text[] = "{\"modality\":\"text\",\"normalise\":\"none\"}";
    return og_config_from_json(text, (int64_t)sizeof text - 1, "text", preprocess, err);
}

const og_modality_type og_modality_text = {
    .abi = OG_ABI,
    .name = "text",
    .summary = "UTF-8 text, unchanged",
    .source = "RFC 3629",
    .modality = OG_TEXT,
    .keys = keys,
    .create = create,
    .destroy = destroy,
    .decode = decode,
    .dim = dim,
    .describe = describe,
};
