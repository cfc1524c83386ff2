/* tuxpaint_groups.c: which stamps must stay on one side of a split. */
#include "data/tuxpaint.h"

#include "audio/audio_payload.h"
#include "image/image.h"
#include "prepare/keymap.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int64_t root_of(og_stamps *stamps, int64_t i) {
    while (stamps->list[i].group != i) i = stamps->list[i].group = stamps->list[stamps->list[i].group].group;
    return i;
}

/* The smaller number leads, so a group is named by its first stamp in sorted order. */
static void join(og_stamps *stamps, int64_t a, int64_t b) {
    a = root_of(stamps, a);
    b = root_of(stamps, b);
    if (a < b) stamps->list[b].group = a;
    if (b < a) stamps->list[a].group = b;
}

/* Joins with the stamp that had this key first. */
static og_status meet(og_stamps *stamps, og_keymap *map, const void *key, int64_t bytes, int64_t stamp, og_error *err) {
    int64_t first = 0;
    int32_t found = 0;
    OG_TRY(og_keymap_put(map, key, bytes, stamp, &first, &found, err));
    if (found) join(stamps, first, stamp);
    return OG_OK;
}

static og_status meet_text(og_stamps *stamps, og_keymap *map, const char *kind, const char *text, int64_t stamp,
                           og_error *err) {
    char key[4200];
    int n = snprintf(key, sizeof key, "%s:%s", kind, text);
    if (n >= (int)sizeof key) n = (int)sizeof key - 1;
    return meet(stamps, map, key, n, stamp, err);
}

void og_stamp_family(const char *stem, char out[64]) {
    const char *s = stem;
    /* chessmen: b_3_bishop and w_3_bishop */
    if ((s[0] == 'b' || s[0] == 'w') && s[1] == '_' && isdigit((unsigned char)s[2]) && s[3] == '_') s += 2;
    while (isdigit((unsigned char)*s)) s++; /* 025quarter */
    if (s != stem && (*s == '_' || *s == '-')) s++;
    size_t n = 0;
    while (s[n] && s[n] != '_' && s[n] != '-' && !isdigit((unsigned char)s[n]) && n < 63) {
        out[n] = (char)tolower((unsigned char)s[n]);
        n++;
    }
    out[n] = 0;
}

/* "cat_mirror", "cat_flip" and "cat_mirror_flip" to "cat". */
static void without_mirror(const char *stem, char *out, size_t room) {
    snprintf(out, room, "%s", stem);
    for (;;) {
        size_t n = strlen(out);
        if (n > 7 && !strcmp(out + n - 7, "_mirror"))
            out[n - 7] = 0;
        else if (n > 5 && !strcmp(out + n - 5, "_flip"))
            out[n - 5] = 0;
        else
            return;
    }
}

/* One key for a picture and its mirror image: the smaller of the two digests of what is seen on
 * white. */
static og_status meet_picture(og_stamps *stamps, og_keymap *map, int64_t i, og_error *err) {
    static const og_picture_policy policy = {{255, 255, 255}, 1, 64000000};
    char *bytes = NULL, digests[2][OG_DIGEST_TEXT], key[2 * OG_DIGEST_TEXT];
    int64_t n = 0;
    og_media media = {0};
    OG_TRY(og_file_read(stamps->list[i].picture, 1 << 28, &bytes, &n, err));
    og_status status = og_digest_of(bytes, n, digests[0], err);
    if (status == OG_OK) status = meet_text(stamps, map, "picture file", digests[0], i, err);
    /* A damaged picture is for bad_item to judge; so is a build without OpenCV. */
    og_status decoded =
        status == OG_OK ? og_picture_decode(&policy, stamps->list[i].picture, bytes, n, &media, NULL) : status;
    og_release(bytes);
    if (status != OG_OK || decoded != OG_OK) return status;
    int64_t w = media.shape[1], h = media.shape[0];
    status = og_digest_of(media.data, 3 * w * h, digests[0], err);
    if (status == OG_OK) status = og_picture_orient(&media, 2, err);
    if (status == OG_OK) status = og_digest_of(media.data, 3 * w * h, digests[1], err);
    og_media_free(&media);
    OG_TRY(status);
    snprintf(key, sizeof key, "%lldx%lld %s", (long long)w, (long long)h,
             strcmp(digests[0], digests[1]) < 0 ? digests[0] : digests[1]);
    return meet_text(stamps, map, "picture", key, i, err);
}

/* The same recording may come with another title inside, so the sound is compared and not the file. */
static og_status meet_clips(og_stamps *stamps, og_keymap *map, int64_t i, og_error *err) {
    for (int64_t c = 0; c < stamps->list[i].n_clips; c++) {
        char digest[OG_DIGEST_TEXT], *bytes = NULL;
        int64_t n = 0;
        OG_TRY(og_file_read(stamps->list[i].clips[c].path, 1 << 28, &bytes, &n, err));
        og_status status = og_sound_digest(bytes, n, digest, err);
        og_release(bytes);
        OG_TRY(status);
        OG_TRY(meet_text(stamps, map, "recording", digest, i, err));
    }
    return OG_OK;
}

static og_status meet_names(og_stamps *stamps, og_keymap *map, int64_t i, og_error *err) {
    const og_stamp *stamp = &stamps->list[i];
    char family[64], plain[1024], key[2048];
    og_stamp_family(stamp->stem, family);
    if (*family) {
        snprintf(key, sizeof key, "%.1000s/%s", stamp->folder, family);
        OG_TRY(meet_text(stamps, map, "family", key, i, err));
    }
    without_mirror(stamp->stem, plain, sizeof plain);
    snprintf(key, sizeof key, "%.1000s/%s", stamp->folder, plain);
    OG_TRY(meet_text(stamps, map, "mirror", key, i, err));
    const char *english = og_captions_find(&stamp->captions, "en");
    if (!english) return OG_OK;
    size_t n = 0; /* upper case and the full stop make no difference */
    for (; english[n] && n < sizeof key - 1; n++) key[n] = (char)tolower((unsigned char)english[n]);
    while (n && (key[n - 1] == '.' || key[n - 1] == '!' || key[n - 1] == ' ')) n--;
    key[n] = 0;
    return meet_text(stamps, map, "english", key, i, err);
}

og_status og_stamps_group(og_stamps *stamps, int64_t *groups, og_error *err) {
    og_keymap map = {0};
    og_status status = OG_OK;
    for (int64_t i = 0; i < stamps->n; i++) stamps->list[i].group = i;
    for (int64_t i = 0; i < stamps->n && status == OG_OK; i++) {
        status = meet_names(stamps, &map, i, err);
        if (status == OG_OK && stamps->list[i].picture) status = meet_picture(stamps, &map, i, err);
        if (status == OG_OK) status = meet_clips(stamps, &map, i, err);
    }
    og_keymap_free(&map);
    OG_TRY(status);
    int64_t count = 0;
    for (int64_t i = 0; i < stamps->n; i++) {
        stamps->list[i].group = root_of(stamps, i);
        count += stamps->list[i].group == i;
    }
    *groups = count;
    return OG_OK;
}
