/* modalities.c: media, and the registries of modalities and data sets. */
#include <omnigram/modalities.h>

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
