/* tally.c: counters of prepare as JSON. */
#include "prepare/tally.h"

static const char *const modalities[3] = {"text", "image", "audio"};
static const char *const causes[OG_N_DROPS] = {"missing", "damaged", "refused", "left_out"};

int32_t og_drop_cause(og_status status) {
    switch (status) {
    case OG_EIO: return OG_DROP_MISSING;
    case OG_EFORMAT: return OG_DROP_DAMAGED;
    case OG_EINVAL: return OG_DROP_REFUSED;
    default: return -1;
    }
}

json_t *og_tally_json(const og_tally *t) {
    json_t *items = json_object(), *notes = json_object(), *splits = json_object();
    for (int32_t m = 0; m < 3; m++) {
        json_t *dropped = json_object();
        for (int32_t c = 0; c < OG_N_DROPS; c++)
            if (t->items_dropped[m][c]) json_object_set_new(dropped, causes[c], json_integer(t->items_dropped[m][c]));
        json_object_set_new(items, modalities[m],
                            json_pack("{sI sI so sI}", "read", (json_int_t)t->items_read[m], "kept",
                                      (json_int_t)t->items_kept[m], "dropped", dropped, "distinct",
                                      (json_int_t)t->distinct[m]));
    }
    for (int32_t b = 0; b < OG_N_NOTES; b++) json_object_set_new(notes, og_note_name(b), json_integer(t->notes[b]));
    for (int32_t s = 0; s < OG_N_SPLITS; s++)
        json_object_set_new(splits, og_split_name(s),
                            json_pack("{sI sI sI sI sI sI}", "documents", (json_int_t)t->split_documents[s], "text",
                                      (json_int_t)t->split_items[s][0], "image", (json_int_t)t->split_items[s][1],
                                      "audio", (json_int_t)t->split_items[s][2], "text_bytes",
                                      (json_int_t)t->split_elements[s][0], "audio_samples",
                                      (json_int_t)t->split_elements[s][2]));
    return json_pack("{s{sI sI s{sI}} so so so}", "documents", "read", (json_int_t)t->documents_read, "kept",
                     (json_int_t)t->documents_kept, "dropped", "no_item_left", (json_int_t)t->documents_dropped,
                     "items", items, "notes", notes, "splits", splits);
}
