/* modalities.c: media, the registries of modalities and data sets, and which split a group belongs
 * to. */
#include <omnigram/modalities.h>

#include <stdio.h>
#include <string.h>

void og_media_free(og_media *media) {
    if (!media) return;
    og_release(media->data);
    *media = (og_media){0};
}

const char *og_note_name(int32_t bit) {
    static const char *const names[OG_N_NOTES] = {"phase_cancel", "clipped",   "normalised", "not_finite",
                                                  "padded",       "odd_bytes", "rotated",    "first_frame"};
    return bit >= 0 && bit < OG_N_NOTES ? names[bit] : NULL;
}

const og_modality_type *og_modality_find(const char *name) {
    for (int32_t i = 0; og_modality_types[i]; i++)
        if (!strcmp(og_modality_types[i]->name, name)) return og_modality_types[i];
    return NULL;
}

const og_dataset_type *og_dataset_find(const char *name) {
    for (int32_t i = 0; og_dataset_types[i]; i++)
        if (!strcmp(og_dataset_types[i]->name, name)) return og_dataset_types[i];
    return NULL;
}

const char *og_split_name(int32_t split) {
    static const char *const names[OG_N_SPLITS] = {"train", "val", "test"};
    return split >= 0 && split < OG_N_SPLITS ? names[split] : NULL;
}

og_status og_split_of(const char *group, int32_t *split, og_error *err) {
    char text[OG_DIGEST_TEXT], head[17];
    og_digest *digest = NULL;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = og_digest_add(digest, "split-1:", 8, err);
    if (status == OG_OK) status = og_digest_add(digest, group, (int64_t)strlen(group), err);
    if (status != OG_OK) {
        og_digest_free(digest);
        return status;
    }
    OG_TRY(og_digest_end(digest, text, err));
    memcpy(head, text, 16);
    head[16] = 0;
    unsigned long long value = 0;
    sscanf(head, "%llx", &value);
    value %= 1000;
    *split = value < 100 ? OG_TEST : value < 200 ? OG_VAL : OG_TRAIN;
    return OG_OK;
}
