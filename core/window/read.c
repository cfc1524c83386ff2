/* read.c: the window keys of a config. */
#include <omnigram/window.h>

#include <string.h>

static const char *const break_names[OG_N_BREAKS] = {"eos",      "special", "image_token", "turn",
                                                     "modality", "image",   "row",         "fragment"};

typedef struct window_keys {
    const og_config *breaks, *self;
    int32_t fill, span;
    int64_t fill_id;
    og_i64_list eos, special, image;
} window_keys;

static const og_key keys[] = {
    {"breaks", OG_KEY_NODE, offsetof(window_keys, breaks), "", 0, 0, NULL,
     "what breaks a window and how: {eos|special|image_token|turn|modality|image|row|fragment: "
     "none|latch|hole|skip}"},
    {"self", OG_KEY_NODE, offsetof(window_keys, self), "", 0, 0, NULL,
     "list of eos, special, image: a current token so marked is itself absent"},
    {"fill", OG_KEY_CHOICE, offsetof(window_keys, fill), "zero_vec", 0, 0,
     "zero_vec|zero_id|pad_id|eos_id|row0|backoff|leak", "what an absent cell reads as"},
    {"fill_id", OG_KEY_I64, offsetof(window_keys, fill_id), "0", INT32_MIN, INT32_MAX, NULL, "the id of fill: pad_id"},
    {"span", OG_KEY_CHOICE, offsetof(window_keys, span), "order", 0, 0, "order|max_order",
     "the cells an n-gram needs: its own, or those of the longest order"},
    {"eos", OG_KEY_I64_LIST, offsetof(window_keys, eos), "", INT32_MIN, INT32_MAX, NULL, "ids that carry the eos mark"},
    {"special", OG_KEY_I64_LIST, offsetof(window_keys, special), "", INT32_MIN, INT32_MAX, NULL,
     "ids that carry the special mark"},
    {"image", OG_KEY_I64_LIST, offsetof(window_keys, image), "", INT32_MIN, INT32_MAX, NULL,
     "ids that carry the image_token mark"},
    {0},
};

typedef struct break_keys {
    int32_t mode[OG_N_BREAKS];
} break_keys;

#define BREAK(name, i)                                                                                                 \
    {                                                                                                                  \
        name, OG_KEY_CHOICE, offsetof(break_keys, mode) + (i) * sizeof(int32_t), "none", 0, 0, "none|latch|hole|skip", \
            "how it breaks"                                                                                            \
    }
static const og_key break_table[] = {
    BREAK("eos", 0),  BREAK("special", 1),  BREAK("image_token", 2),
    BREAK("turn", 3), BREAK("modality", 4), BREAK("image", 5),
    BREAK("row", 6),  BREAK("fragment", 7), {0},
};

static og_status read_self(const og_config *list, og_window *window, og_error *err) {
    if (og_config_kind(list) != OG_CONFIG_LIST)
        return og_fail(err, OG_EINVAL, "%s: is a list of eos, special, image", OG_WHERE(list));
    int32_t self[3] = {0, 0, 0};
    for (int64_t i = 0; i < og_config_size(list); i++) {
        const char *word;
        OG_TRY(og_config_string(og_config_at(list, i), &word, err));
        int at = !strcmp(word, "eos")                                     ? OG_AT_EOS
                 : !strcmp(word, "special")                               ? OG_AT_SPECIAL
                 : !strcmp(word, "image") || !strcmp(word, "image_token") ? OG_AT_IMAGE_TOKEN
                                                                          : -1;
        if (at < 0)
            return og_fail(err, OG_EINVAL, "%s: knows eos, special and image, not '%s'",
                           OG_WHERE(og_config_at(list, i)), word);
        self[at] = 1;
    }
    for (int i = 0; i < 3; i++) window->self[i] = self[i];
    return OG_OK;
}

og_status og_window_read(const og_config *map, og_window *window, og_error *err) {
    if (og_config_kind(map) == OG_CONFIG_NULL) return OG_OK;
    window_keys given;
    OG_TRY(og_config_read(map, keys, &given, err));
    og_window out = *window;
    if (given.breaks) {
        break_keys modes;
        OG_TRY(og_config_read(given.breaks, break_table, &modes, err));
        for (int i = 0; i < OG_N_BREAKS; i++)
            if (og_config_get(given.breaks, break_names[i])) out.mode[i] = modes.mode[i];
    }
    if (given.self) OG_TRY(read_self(given.self, &out, err));
    if (og_config_get(map, "fill")) out.fill = given.fill;
    if (og_config_get(map, "fill_id")) out.fill_id = (int32_t)given.fill_id;
    if (og_config_get(map, "span")) out.fill_span_max = given.span;
    if (og_config_get(map, "eos")) out.eos = given.eos.values, out.n_eos = (int32_t)given.eos.n;
    if (og_config_get(map, "special")) out.special = given.special.values, out.n_special = (int32_t)given.special.n;
    if (og_config_get(map, "image")) out.image = given.image.values, out.n_image = (int32_t)given.image.n;
    if (out.fill == OG_FILL_EOS_ID && out.n_eos == 0)
        return og_fail(err, OG_EINVAL, "%s: fill eos_id needs an id in eos", OG_WHERE(map));
    if (out.fill == OG_FILL_PAD_ID && !og_config_get(map, "fill_id") && window->fill != OG_FILL_PAD_ID)
        return og_fail(err, OG_EINVAL, "%s: fill pad_id needs fill_id", OG_WHERE(map));
    *window = out;
    return OG_OK;
}
