/* files.c: folder walks and orders by hash. */
#include "data/files.h"

#include <omnigram/modalities.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static og_status walk(const char *folder, const char *below, int32_t depth, og_strings *strings, og_file_list *out,
                      og_error *err) {
    char path[4096];
    if (depth > 64) return og_fail(err, OG_EINVAL, "%s/%s: folders deeper than 64", folder, below);
    if (snprintf(path, sizeof path, "%s%s%s", folder, *below ? "/" : "", below) >= (int)sizeof path)
        return og_fail(err, OG_EINVAL, "%s/%s: path longer than 4095 bytes", folder, below);
    DIR *dir = opendir(path);
    if (!dir) return og_fail(err, OG_EIO, "%s: cannot read the folder: %s", path, strerror(errno));
    og_status status = OG_OK;
    for (struct dirent *entry; status == OG_OK && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (entry->d_name[0] == '.') {
            out->hidden++;
            continue;
        }
        char *relative = og_strings_format(strings, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        if (!relative || snprintf(path, sizeof path, "%s/%s", folder, relative) >= (int)sizeof path) {
            status = og_fail(err, relative ? OG_EINVAL : OG_ENOMEM, "%s/%s/%s: path too long or no memory", folder,
                             below, entry->d_name);
            break;
        }
        struct stat itself, target;
        if (lstat(path, &itself)) {
            out->irregular++;
        } else if (S_ISDIR(itself.st_mode)) {
            status = walk(folder, relative, depth + 1, strings, out, err);
        } else if (!stat(path, &target) && !S_ISREG(target.st_mode)) { /* a link to nothing is a file that is missing */
            out->irregular++;
        } else {
            status = og_grow((void **)&out->paths, &out->capacity, out->n + 1, sizeof *out->paths, err);
            if (status == OG_OK) out->paths[out->n++] = relative;
        }
    }
    closedir(dir);
    return status;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

og_status og_files_list(const char *folder, og_strings *strings, og_file_list *out, og_error *err) {
    og_file_list list = {0};
    og_status status = walk(folder, "", 0, strings, &list, err);
    if (status != OG_OK) {
        og_files_free(&list);
        return status;
    }
    if (list.n) qsort(list.paths, (size_t)list.n, sizeof *list.paths, by_bytes);
    *out = list;
    return OG_OK;
}

void og_files_free(og_file_list *list) {
    og_release(list->paths);
    *list = (og_file_list){0};
}

int32_t og_file_modality(const char *path, int64_t *stem_bytes) {
    static const struct {
        const char *extension;
        int32_t modality;
    } known[] = {{"png", OG_IMAGE}, {"jpg", OG_IMAGE},  {"jpeg", OG_IMAGE}, {"bmp", OG_IMAGE},  {"webp", OG_IMAGE},
                 {"tif", OG_IMAGE}, {"tiff", OG_IMAGE}, {"ppm", OG_IMAGE},  {"pgm", OG_IMAGE},  {"pbm", OG_IMAGE},
                 {"wav", OG_AUDIO}, {"flac", OG_AUDIO}, {"ogg", OG_AUDIO},  {"oga", OG_AUDIO},  {"opus", OG_AUDIO},
                 {"mp3", OG_AUDIO}, {"aif", OG_AUDIO},  {"aiff", OG_AUDIO}, {"aifc", OG_AUDIO}, {"au", OG_AUDIO},
                 {"gsm", OG_AUDIO}, {"txt", OG_TEXT}};
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path, *dot = strrchr(leaf, '.');
    *stem_bytes = dot && dot != leaf ? dot - path : (int64_t)strlen(path);
    if (!dot || dot == leaf) return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot + 1, known[i].extension)) return known[i].modality;
    return -1;
}

og_status og_name_hash(const char *text, uint64_t *out, og_error *err) {
    char digest[OG_DIGEST_TEXT];
    OG_TRY(og_digest_of(text, (int64_t)strlen(text), digest, err));
    digest[16] = 0;
    *out = strtoull(digest, NULL, 16);
    return OG_OK;
}

void og_shuffle(uint64_t key, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)og_random_below(key, (uint64_t)i, (uint64_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}
