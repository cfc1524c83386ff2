/* tuxpaint_plan.c: every caption and every clip goes into one document, every document has a picture of its own. */
#include "data/tuxpaint_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit { /* a stamp in one language */
    int64_t stamp;
    const char *language, *text, *clip; /* clip or NULL */
    const char *side;
    uint64_t order;
    int32_t on_page;
} unit;

typedef struct planner {
    og_stamps *stamps;
    const og_tuxpaint_choice *choice;
    const og_split_policy *split;
    og_tuxpaint_plan *plan;
    const char **group_names; /* of each stamp */
    unit *units;
    int64_t n_units, cap_units;
} planner;

static int32_t listed(const char *const *list, int64_t n, const char *word) {
    if (n < 0) return 1;
    for (int64_t i = 0; i < n; i++)
        if (!strcmp(list[i], word)) return 1;
    return 0;
}

static og_status hash_of(uint64_t *out, uint64_t seed, og_error *err, const char *kind, const char *folder,
                         const char *stem, const char *more) {
    char text[2200];
    snprintf(text, sizeof text, "%llu %s %.900s/%.900s %.200s", (unsigned long long)seed, kind, folder, stem, more);
    return og_name_hash(text, out, err);
}

/* A group is named by its smallest stem (docs/data.md). */
static og_status name_groups(planner *p, og_error *err) {
    int64_t n = p->stamps->n;
    p->group_names = og_alloc_zero(n, sizeof *p->group_names);
    if (!p->group_names) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    for (int64_t i = 0; i < n; i++) {
        const char **name = &p->group_names[p->stamps->list[i].group];
        if (!*name || strcmp(p->stamps->list[i].stem, *name) < 0) *name = p->stamps->list[i].stem;
    }
    for (int64_t i = 0; i < n; i++) p->group_names[i] = p->group_names[p->stamps->list[i].group];
    return OG_OK;
}

static const char *find_clip(og_tuxpaint_plan *plan, const og_stamp *stamp, const char *language) {
    const char *found = NULL;
    for (int64_t c = 0; c < stamp->n_clips; c++)
        if (stamp->clips[c].language && !strcmp(stamp->clips[c].language, language)) {
            if (found)
                plan->clips_second_take++;
            else
                found = stamp->clips[c].path;
        }
    return found;
}

/* Units of a stamp: distinct captions in the chosen languages, each with its clip where that is spoken
 * word for word. */
static og_status collect(planner *p, int64_t i, const char *side, og_error *err) {
    const og_stamp *stamp = &p->stamps->list[i];
    const og_tuxpaint_choice *choice = p->choice;
    og_tuxpaint_plan *plan = p->plan;
    int64_t first = p->n_units;
    for (int64_t k = 0; k < stamp->captions.n; k++) {
        const og_caption *caption = &stamp->captions.list[k];
        if (!listed(choice->languages, choice->n_languages, caption->language)) {
            plan->captions_other_language++;
            continue;
        }
        int32_t spoken = listed(choice->speech, choice->n_speech, caption->language), same = 0;
        const char *clip = spoken ? find_clip(plan, stamp, caption->language) : NULL;
        for (int64_t u = first; u < p->n_units && !clip; u++) same |= !strcmp(p->units[u].text, caption->text);
        if (same) {
            plan->captions_same_text++;
            continue;
        }
        OG_TRY(og_grow((void **)&p->units, &p->cap_units, p->n_units + 1, sizeof *p->units, err));
        unit *u = &p->units[p->n_units++];
        *u = (unit){.stamp = i, .language = caption->language, .text = caption->text, .clip = clip, .side = side};
        OG_TRY(hash_of(&u->order, (uint64_t)choice->seed, err, "unit", stamp->folder, stamp->stem, caption->language));
        plan->captions_used++;
        plan->clips_used += clip != NULL;
    }
    for (int64_t c = 0; c < stamp->n_clips; c++) {
        const char *language = stamp->clips[c].language;
        if (!language) continue;
        if (!listed(choice->speech, choice->n_speech, language))
            plan->clips_other_language++;
        else if (!og_captions_find(&stamp->captions, language))
            plan->clips_no_caption++;
    }
    return OG_OK;
}

static og_status add_item(planner *p, const og_item *item, og_error *err) {
    og_tuxpaint_plan *plan = p->plan;
    OG_TRY(og_grow((void **)&plan->items, &plan->cap_items, plan->n_items + 1, sizeof *plan->items, err));
    plan->items[plan->n_items++] = *item;
    return OG_OK;
}

static og_status add_document(planner *p, int64_t first, const char *id, const char *group, og_error *err) {
    og_tuxpaint_plan *plan = p->plan;
    if (!id) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    OG_TRY(
        og_grow((void **)&plan->documents, &plan->cap_documents, plan->n_documents + 1, sizeof *plan->documents, err));
    og_planned *d = &plan->documents[plan->n_documents++];
    *d = (og_planned){.id = id, .group = group, .first = first, .n = plan->n_items - first};
    return og_name_hash(id, &d->order, err);
}

/* key 0: the whole picture; else a crop of 70..95 % of each side, mirrored half of the time where the
 * stamp allows it. */
static og_item picture(const og_stamp *stamp, uint64_t key) {
    og_item item = {.modality = OG_IMAGE, .path = stamp->picture};
    if (key) {
        double share = 0.70 + 0.25 * og_random_unit(key, 0);
        item.crop[0] = (1 - share) * og_random_unit(key, 1);
        item.crop[1] = (1 - share) * og_random_unit(key, 2);
        item.crop[2] = item.crop[3] = share;
        item.flip = !stamp->keep_sides && (og_random_bits(key, 3) & 1);
    }
    return item;
}

static og_status add_pair(planner *p, const unit *u, int32_t clip_first, og_error *err) {
    const og_item text = {.modality = OG_TEXT, .text = u->text, .language = u->language};
    const og_item clip = {.modality = OG_AUDIO, .path = u->clip, .language = u->language};
    if (u->clip && clip_first) OG_TRY(add_item(p, &clip, err));
    OG_TRY(add_item(p, &text, err));
    return u->clip && !clip_first ? add_item(p, &clip, err) : OG_OK;
}

/* The card number `card` of a stamp: its picture, and each `augment`-th of the units that are on no page. */
static og_status make_card(planner *p, int64_t i, int64_t first_unit, int64_t n_units, int64_t card, og_error *err) {
    const og_stamp *stamp = &p->stamps->list[i];
    int64_t mine[OG_TUXPAINT_LANGUAGES + 1], n = 0, first = p->plan->n_items, order[OG_TUXPAINT_LANGUAGES + 2];
    char number[32];
    uint64_t key = 0;
    for (int64_t u = 0, free_units = 0; u < n_units; u++)
        if (!p->units[first_unit + u].on_page && free_units++ % p->choice->augment == card && n < OG_TUXPAINT_LANGUAGES)
            mine[n++] = first_unit + u;
    snprintf(number, sizeof number, "%lld", (long long)card);
    OG_TRY(hash_of(&key, (uint64_t)p->choice->seed, err, "card", stamp->folder, stamp->stem, number));
    const char *sound = NULL;
    for (int64_t c = 0; c < stamp->n_clips && card == 0; c++)
        if (!stamp->clips[c].language && !sound) sound = stamp->clips[c].path;
    if (sound && !p->choice->sounds) sound = NULL, p->plan->sounds_left_out++;
    if (n == 0 && card > 0) return OG_OK; /* a further picture without a word is left out */
    int64_t parts = n + 1 + (sound != NULL);
    og_shuffle(key, parts, order);
    for (int64_t k = 0; k < parts; k++) {
        if (order[k] < n) {
            OG_TRY(add_pair(p, &p->units[mine[order[k]]], (int32_t)(og_random_bits(key, 1000 + (uint64_t)k) & 1), err));
        } else {
            og_item item = picture(stamp, card ? key : 0);
            if (order[k] > n) item = (og_item){.modality = OG_AUDIO, .path = sound};
            OG_TRY(add_item(p, &item, err));
        }
    }
    p->plan->sounds_used += sound != NULL;
    p->plan->cards++;
    char *id = og_strings_format(&p->stamps->strings, "card/%s/%s/%lld", stamp->folder, stamp->stem, (long long)card);
    return add_document(p, first, id, p->group_names[i], err);
}

static og_status make_page(planner *p, unit *const *list, int64_t n, int64_t number, og_error *err) {
    const og_stamp *head = &p->stamps->list[list[0]->stamp];
    int64_t first = p->plan->n_items, order[3];
    uint64_t key = 0;
    char *id = og_strings_format(&p->stamps->strings, "page/%s/%s/%s/%lld", list[0]->side, list[0]->language,
                                 head->folder, (long long)number);
    if (!id) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    OG_TRY(og_name_hash(id, &key, err));
    og_shuffle(key, 3, order); /* one layout a page: text, picture and clip in the same order for each stamp */
    for (int64_t k = 0; k < n; k++) {
        const unit *u = list[k];
        const og_stamp *stamp = &p->stamps->list[u->stamp];
        uint64_t own = 0;
        OG_TRY(hash_of(&own, (uint64_t)p->choice->seed, err, "page", stamp->folder, stamp->stem, u->language));
        const og_item parts[3] = {{.modality = OG_TEXT, .text = u->text, .language = u->language},
                                  picture(stamp, own | 1),
                                  {.modality = OG_AUDIO, .path = u->clip, .language = u->language}};
        for (int32_t j = 0; j < 3; j++) OG_TRY(add_item(p, &parts[order[j]], err));
    }
    p->plan->pages++;
    return add_document(p, first, id, p->group_names[list[0]->stamp], err);
}

static int by_order(const void *a, const void *b) {
    const og_planned *x = a, *y = b;
    return x->order != y->order ? (x->order < y->order ? -1 : 1) : strcmp(x->id, y->id);
}

typedef struct page_key { /* all that the order of pages needs */
    const char *side, *language, *folder;
    uint64_t order;
    unit *unit;
} page_key;

static int by_shelf(const page_key *x, const page_key *y) {
    int c = strcmp(x->side, y->side);
    if (!c) c = strcmp(x->language, y->language);
    return c ? c : strcmp(x->folder, y->folder);
}
static int by_page(const void *a, const void *b) {
    const page_key *x = a, *y = b;
    int c = by_shelf(x, y);
    return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

/* Runs of at most page_stamps spoken units of one side, language and folder; a share of the runs becomes pages. */
static og_status make_pages(planner *p, og_error *err) {
    page_key *keys = og_alloc(p->n_units, sizeof *keys);
    unit **list = og_alloc(p->choice->page_stamps, sizeof *list);
    int64_t n = 0, number = 0;
    og_status status = keys && list ? OG_OK : og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    for (int64_t i = 0; i < p->n_units && status == OG_OK; i++)
        if (p->units[i].clip)
            keys[n++] = (page_key){p->units[i].side, p->units[i].language, p->stamps->list[p->units[i].stamp].folder,
                                   p->units[i].order, &p->units[i]};
    if (n) qsort(keys, (size_t)n, sizeof *keys, by_page);
    for (int64_t i = 0; i < n && status == OG_OK;) {
        int64_t end = i;
        if (i && by_shelf(&keys[i - 1], &keys[i])) number = 0;
        while (end < n && end - i < p->choice->page_stamps && !by_shelf(&keys[i], &keys[end])) end++;
        if (end - i > 1 && og_random_unit(keys[i].order, 7) < p->choice->page_share) {
            for (int64_t k = i; k < end; k++) {
                list[k - i] = keys[k].unit;
                keys[k].unit->on_page = 1;
            }
            status = make_page(p, list, end - i, number++, err);
        }
        i = end;
    }
    og_release(keys);
    og_release(list);
    return status;
}

static og_status make_all(planner *p, og_error *err) {
    og_tuxpaint_plan *plan = p->plan;
    OG_TRY(og_stamps_group(p->stamps, &plan->groups, err));
    OG_TRY(name_groups(p, err));
    for (int64_t i = 0; i < p->stamps->n; i++) {
        const og_stamp *stamp = &p->stamps->list[i];
        int32_t split = 0;
        plan->captions_read += stamp->captions.n;
        plan->captions_bad_lines += stamp->captions.bad_lines;
        plan->clips_read += stamp->n_clips;
        if (!stamp->picture) {
            plan->svg_only++;
            plan->no_picture_captions += stamp->captions.n;
            plan->clips_no_picture += stamp->n_clips;
            continue;
        }
        plan->pictures++;
        OG_TRY(og_split_of(p->split, p->group_names[i], &split, err));
        OG_TRY(collect(p, i, og_split_name(split), err));
    }
    OG_TRY(make_pages(p, err));
    for (int64_t i = 0, at = 0; i < p->stamps->n; i++) {
        int64_t first = at;
        while (at < p->n_units && p->units[at].stamp == i) at++;
        if (!p->stamps->list[i].picture) continue;
        for (int64_t card = 0; card < p->choice->augment; card++) OG_TRY(make_card(p, i, first, at - first, card, err));
    }
    if (plan->n_documents) qsort(plan->documents, (size_t)plan->n_documents, sizeof *plan->documents, by_order);
    if (p->choice->documents && p->choice->documents < plan->n_documents) {
        plan->beyond_limit = plan->n_documents - p->choice->documents;
        plan->n_documents = p->choice->documents;
    }
    return OG_OK;
}

og_status og_tuxpaint_plan_make(og_stamps *stamps, const og_tuxpaint_choice *choice, const og_split_policy *split,
                                og_tuxpaint_plan *out, og_error *err) {
    og_tuxpaint_plan plan = {0};
    planner p = {.stamps = stamps, .choice = choice, .split = split, .plan = &plan};
    og_status status = make_all(&p, err);
    og_release(p.group_names);
    og_release(p.units);
    if (status != OG_OK) {
        og_tuxpaint_plan_free(&plan);
        return status;
    }
    *out = plan;
    return OG_OK;
}

void og_tuxpaint_plan_free(og_tuxpaint_plan *plan) {
    og_release(plan->documents);
    og_release(plan->items);
    *plan = (og_tuxpaint_plan){0};
}
