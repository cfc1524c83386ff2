/* tuxpaint_scan.c: finds the stamps and what belongs to each by its name. */
#include "data/tuxpaint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b) {
    const og_stamp *x = a, *y = b;
    int folder = strcmp(x->folder, y->folder);
    return folder ? folder : strcmp(x->stem, y->stem);
}

static og_stamp *find(og_stamps *stamps, const char *folder, const char *stem) {
    og_stamp key = {.folder = folder, .stem = stem};
    return stamps->n ? bsearch(&key, stamps->list, (size_t)stamps->n, sizeof *stamps->list, by_name) : NULL;
}

/* "a/b/cat_desc_es.ogg" into folder "a/b", stem "cat_desc_es", extension "ogg". 0 when there is no extension. */
static int32_t split_name(og_strings *strings, const char *path, char **folder, char **stem, const char **extension) {
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path, *dot = strrchr(leaf, '.');
    if (!dot || dot == leaf) return 0;
    *folder = og_strings_add(strings, path, slash ? slash - path : 0);
    *stem = og_strings_add(strings, leaf, dot - leaf);
    *extension = dot + 1;
    return *folder && *stem ? 1 : -1;
}

/* The longest stem that is a stamp and ends where a "_" follows: "cat", "cat_LANG", "cat_desc", "cat_desc_LANG". */
static og_stamp *owner(og_stamps *stamps, const char *folder, char *stem, int32_t *spoken, const char **language) {
    og_stamp *whole = find(stamps, folder, stem);
    *spoken = 0;
    *language = NULL;
    if (whole) return whole;
    for (size_t n = strlen(stem); n-- > 1;) {
        if (stem[n] != '_') continue;
        stem[n] = 0;
        og_stamp *found = find(stamps, folder, stem);
        const char *rest = stem + n + 1;
        if (found) {
            *spoken = !strncmp(rest, "desc", 4) && (rest[4] == 0 || rest[4] == '_');
            *language = *spoken ? (rest[4] ? rest + 5 : "en") : rest;
        }
        if (found) return found; /* the cut stays: language points behind it */
        stem[n] = '_';
    }
    return NULL;
}

static og_status add_stamp(og_stamps *out, const og_stamp *stamp, og_error *err) {
    OG_TRY(og_grow((void **)&out->list, &out->capacity, out->n + 1, sizeof *out->list, err));
    out->list[out->n++] = *stamp;
    return OG_OK;
}

static og_status read_captions(og_stamps *out, og_stamp *stamp, const char *path, og_error *err) {
    char *text = NULL;
    int64_t n = 0;
    OG_TRY(og_file_read(path, 1 << 22, &text, &n, err));
    og_status status = og_captions_parse(text, n, &out->strings, &stamp->captions, err);
    og_release(text);
    return status;
}

static og_status read_hints(og_stamp *stamp, const char *path, og_error *err) {
    char *text = NULL;
    int64_t n = 0;
    OG_TRY(og_file_read(path, 1 << 20, &text, &n, err));
    stamp->keep_sides = strstr(text, "nomirror") != NULL;
    og_release(text);
    return OG_OK;
}

static og_status attach(og_stamps *out, const char *root, const char *path, og_error *err) {
    char *folder = NULL, *stem = NULL, full[4096];
    const char *extension = NULL, *language = NULL;
    int32_t spoken = 0, named = split_name(&out->strings, path, &folder, &stem, &extension);
    if (named < 0 || snprintf(full, sizeof full, "%s/%s", root, path) >= (int)sizeof full)
        return og_fail(err, OG_ENOMEM, "tuxpaint: %s/%s: no memory, or path too long", root, path);
    if (!named) {
        out->unknown++;
        return OG_OK;
    }
    if (!strcasecmp(extension, "png") || !strcasecmp(extension, "svg")) return OG_OK; /* they made the stamps */
    int32_t captions = !strcasecmp(extension, "txt"), hints = !strcasecmp(extension, "dat");
    if (captions || hints) {
        og_stamp *stamp = find(out, folder, stem);
        if (!stamp) {
            out->orphans += captions;
            return OG_OK;
        }
        return captions ? read_captions(out, stamp, full, err) : read_hints(stamp, full, err);
    }
    if (strcasecmp(extension, "ogg") && strcasecmp(extension, "wav")) {
        out->unknown++;
        return OG_OK;
    }
    og_stamp *stamp = owner(out, folder, stem, &spoken, &language);
    if (!stamp) {
        out->orphans++;
        return OG_OK;
    }
    if (language && !spoken) return OG_OK; /* the same sound for another country */
    OG_TRY(og_grow((void **)&stamp->clips, &stamp->cap_clips, stamp->n_clips + 1, sizeof *stamp->clips, err));
    og_clip *clip = &stamp->clips[stamp->n_clips];
    clip->path = og_strings_add(&out->strings, full, (int64_t)strlen(full));
    clip->language = language;
    if (!clip->path) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    stamp->n_clips++;
    return OG_OK;
}

static og_status scan(og_stamps *out, const char *root, const og_file_list *files, og_error *err) {
    char full[4096];
    for (int64_t i = 0; i < files->n; i++) {
        char *folder = NULL, *stem = NULL;
        const char *extension = NULL;
        int32_t named = split_name(&out->strings, files->paths[i], &folder, &stem, &extension);
        if (named < 0 || snprintf(full, sizeof full, "%s/%s", root, files->paths[i]) >= (int)sizeof full)
            return og_fail(err, OG_ENOMEM, "tuxpaint: %s/%s: no memory, or path too long", root, files->paths[i]);
        if (!named || (strcasecmp(extension, "png") && strcasecmp(extension, "svg"))) continue;
        og_stamp stamp = {.folder = folder, .stem = stem, .svg = !strcasecmp(extension, "svg")};
        if (!stamp.svg) stamp.picture = og_strings_add(&out->strings, full, (int64_t)strlen(full));
        if (!stamp.svg && !stamp.picture) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
        OG_TRY(add_stamp(out, &stamp, err));
    }
    if (out->n == 0)
        return og_fail(err, OG_EINVAL, "%s: no stamp (PNG or SVG) among %lld files", root, (long long)files->n);
    qsort(out->list, (size_t)out->n, sizeof *out->list, by_name);
    int64_t n = 0; /* a stamp with both a PNG and an SVG is one */
    for (int64_t i = 0; i < out->n; i++) {
        if (n && !by_name(&out->list[n - 1], &out->list[i])) {
            out->list[n - 1].svg |= out->list[i].svg;
            if (out->list[i].picture) out->list[n - 1].picture = out->list[i].picture;
        } else {
            out->list[n++] = out->list[i];
        }
    }
    out->n = n;
    for (int64_t i = 0; i < files->n; i++) OG_TRY(attach(out, root, files->paths[i], err));
    return OG_OK;
}

og_status og_stamps_scan(const char *path, og_stamps *out, og_error *err) {
    char root[4096];
    struct stat info;
    int n = snprintf(root, sizeof root, "%s/usr/share/tuxpaint/stamps", path);
    if (n >= (int)sizeof root) return og_fail(err, OG_EINVAL, "tuxpaint: %.200s...: path too long", path);
    if (stat(root, &info)) snprintf(root, sizeof root, "%s", path);
    if (stat(root, &info) || !S_ISDIR(info.st_mode))
        return og_fail(err, OG_EIO, "tuxpaint: %s is not a folder; tools/fetch-data.sh makes it", path);
    og_stamps made = {0};
    og_file_list files = {0};
    og_status status = og_files_list(root, &made.strings, &files, err);
    if (status == OG_OK) status = scan(&made, root, &files, err);
    made.files = files.n + files.hidden + files.irregular;
    og_files_free(&files);
    if (status != OG_OK) {
        og_stamps_free(&made);
        return status;
    }
    *out = made;
    return OG_OK;
}

void og_stamps_free(og_stamps *stamps) {
    for (int64_t i = 0; i < stamps->n; i++) {
        og_release(stamps->list[i].captions.list);
        og_release(stamps->list[i].clips);
    }
    og_release(stamps->list);
    og_strings_free(&stamps->strings);
    *stamps = (og_stamps){0};
}
