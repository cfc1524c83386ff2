/* tuxpaint_plan.h: stamps to documents: cards (one stamp) and pages (stamps of one folder in one language). */
#ifndef OMNIGRAM_MODALITIES_TUXPAINT_PLAN_H
#define OMNIGRAM_MODALITIES_TUXPAINT_PLAN_H

#include "data/tuxpaint.h"

enum { OG_TUXPAINT_LANGUAGES = 128 };
typedef struct og_tuxpaint_choice {
    const char *languages[OG_TUXPAINT_LANGUAGES]; /* of captions; n_languages -1: all */
    int64_t n_languages;
    const char *speech[OG_TUXPAINT_LANGUAGES];
    int64_t n_speech;
    int64_t augment, page_stamps, documents, seed;
    double page_share;
    int32_t sounds;
} og_tuxpaint_choice;

typedef struct og_planned {
    const char *id, *group;
    int64_t first, n; /* items */
    uint64_t order;
} og_planned;
typedef struct og_tuxpaint_plan {
    og_planned *documents;
    og_item *items;
    int64_t n_documents, cap_documents, n_items, cap_items;
    int64_t groups, pictures, svg_only, no_picture_captions, cards, pages, beyond_limit;
    int64_t captions_read, captions_used, captions_other_language, captions_same_text, captions_bad_lines;
    int64_t clips_read, clips_used, clips_other_language, clips_no_caption, clips_no_picture, clips_second_take,
        sounds_used, sounds_left_out;
} og_tuxpaint_plan;

og_status og_tuxpaint_plan_make(og_stamps *stamps, const og_tuxpaint_choice *choice, const og_split_policy *split,
                                og_tuxpaint_plan *out, og_error *err);
void og_tuxpaint_plan_free(og_tuxpaint_plan *plan);

#endif
