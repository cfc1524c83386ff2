/* dataset_folder.c: files of one basename in one folder are one document: cat.txt, cat.png, cat.ogg. */
#include "data/counters.h"
#include "data/files.h"

#include <omnigram/modalities.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ORDER_HASH, ORDER_NAME };
enum { GROUP_STEM, GROUP_FOLDER };

typedef struct settings {
    const char *name, *path;
    int32_t order, group;
    int64_t documents, seed;
} settings;

struct og_dataset_impl {
    settings settings; /* strings are not kept */
    char *root;
    og_strings strings;
    og_file_list files;
    int64_t at, emitted;
    int64_t unknown_extension, cut; /* cut: files behind the `documents` limit */
    og_item items[64];
};

static const og_key keys[] = {
    {"name", OG_KEY_STRING, offsetof(settings, name), "folder", 0, 0, NULL, "the data set's name"},
    {"path", OG_KEY_STRING, offsetof(settings, path), NULL, 1, 4000, NULL, "the folder, read with its sub-folders"},
    {"order", OG_KEY_CHOICE, offsetof(settings, order), "hash", 0, 0, "hash|name",
     "order of the items: by hash of the document, or by file name"},
    {"group", OG_KEY_CHOICE, offsetof(settings, group), "stem", 0, 0, "stem|folder",
     "what must stay on one side of the split"},
    {"documents", OG_KEY_I64, offsetof(settings, documents), "0", 0, 0, NULL, "most documents; 0: all"},
    {"seed", OG_KEY_I64, offsetof(settings, seed), "0", 0, 0, NULL, "of the order"},
    {0},
};

static void close_folder(og_dataset_impl *self) {
    if (!self) return;
    og_files_free(&self->files);
    og_strings_free(&self->strings);
    og_release(self->root);
    og_release(self);
}

/* By stem, then extension: sorted by whole names, "a.b.txt" would lie between "a.aif" and "a.txt". */
static int by_stem(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int64_t n = 0, m = 0;
    og_file_modality(x, &n);
    og_file_modality(y, &m);
    int order = memcmp(x, y, (size_t)(n < m ? n : m));
    return order ? order : n != m ? (n < m ? -1 : 1) : strcmp(x, y);
}

static og_status open_folder(const og_config *config, const og_split_policy *split, og_dataset_impl **impl,
                             og_error *err) {
    (void)split;
    settings read = {0};
    struct stat info;
    OG_TRY(og_config_read(config, keys, &read, err));
    int absent = stat(read.path, &info);
    if (absent || !S_ISDIR(info.st_mode))
        return og_fail(err, OG_EIO, "%s: '%s' is not a folder%s%s", OG_WHERE(og_config_get(config, "path")), read.path,
                       absent ? ": " : "", absent ? strerror(errno) : "");
    og_dataset_impl *self = og_alloc_zero(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "folder: no memory");
    self->settings = read;
    self->root = og_copy_string(read.path);
    self->settings.name = self->settings.path = NULL;
    og_status status = self->root ? og_files_list(self->root, &self->strings, &self->files, err)
                                  : og_fail(err, OG_ENOMEM, "folder: no memory");
    if (status == OG_OK) {
        int64_t known = 0, stem;
        if (self->files.n) qsort(self->files.paths, (size_t)self->files.n, sizeof *self->files.paths, by_stem);
        for (int64_t i = 0; i < self->files.n; i++) known += og_file_modality(self->files.paths[i], &stem) >= 0;
        if (!known)
            status = og_fail(err, OG_EINVAL,
                             "%s: the folder holds no text, image or audio file (%lld other files, %lld hidden, %lld "
                             "links to folders and special files, which are not followed)",
                             self->root, (long long)self->files.n, (long long)self->files.hidden,
                             (long long)self->files.irregular);
    }
    if (status != OG_OK) {
        close_folder(self);
        return status;
    }
    *impl = self;
    return OG_OK;
}

static og_status next(og_dataset_impl *self, og_record *out, int32_t *done, og_error *err) {
    char **paths = self->files.paths;
    while (self->at < self->files.n) {
        int64_t stem = 0, other = 0, first = self->at, n = 0,
                most = (int64_t)(sizeof self->items / sizeof *self->items);
        if (og_file_modality(paths[first], &stem) < 0) {
            self->unknown_extension++;
            self->at++;
            continue;
        }
        if (self->settings.documents && self->emitted >= self->settings.documents) {
            self->cut++;
            self->at++;
            continue;
        }
        og_item found[64];
        for (; self->at < self->files.n; self->at++) {
            int32_t modality = og_file_modality(paths[self->at], &other);
            if (other != stem || strncmp(paths[self->at], paths[first], (size_t)stem)) break;
            if (modality < 0) {
                self->unknown_extension++;
                continue;
            }
            if (n == most)
                return og_fail(err, OG_EINVAL, "%s/%s: more than %lld files of one basename", self->root, paths[first],
                               (long long)most);
            char *path = og_strings_format(&self->strings, "%s/%s", self->root, paths[self->at]);
            if (!path) return og_fail(err, OG_ENOMEM, "%s/%s: no memory or path too long", self->root, paths[self->at]);
            found[n++] = (og_item){.modality = modality, .path = path};
        }
        char *id = og_strings_add(&self->strings, paths[first], stem);
        if (!id) return og_fail(err, OG_ENOMEM, "folder: no memory");
        char *slash = strrchr(id, '/');
        char *group = self->settings.group == GROUP_STEM ? id
                      : slash                            ? og_strings_add(&self->strings, id, slash - id)
                                                         : "";
        if (!group) return og_fail(err, OG_ENOMEM, "folder: no memory");
        uint64_t key = 0;
        int64_t order[64];
        OG_TRY(og_name_hash(id, &key, err));
        og_shuffle(key ^ (uint64_t)self->settings.seed, n, order);
        for (int64_t i = 0; i < n; i++) self->items[i] = found[self->settings.order == ORDER_HASH ? order[i] : i];
        self->emitted++;
        *out = (og_record){.id = id, .group = group, .items = self->items, .n_items = n};
        *done = 0;
        return OG_OK;
    }
    *done = 1;
    return OG_OK;
}

static og_status counters(const og_dataset_impl *self, og_config **out, og_error *err) {
    const og_counter values[] = {{"files", self->files.n + self->files.irregular + self->files.hidden},
                                 {"documents", self->emitted},
                                 {"passed_over_unknown_extension", self->unknown_extension},
                                 {"passed_over_hidden", self->files.hidden},
                                 {"passed_over_irregular", self->files.irregular},
                                 {"passed_over_documents_limit", self->cut}};
    return og_counters_config(values, sizeof values / sizeof *values, out, err);
}

const og_dataset_type og_dataset_folder = {
    .abi = OG_ABI,
    .name = "folder",
    .summary = "files of the same basename: text, image, audio",
    .source = "",
    .keys = keys,
    .open = open_folder,
    .close = close_folder,
    .next = next,
    .counters = counters,
};
