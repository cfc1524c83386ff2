/* dataset_jsonl.c: one interleaved document a line: a list of {text | image | audio} items. */
#include "data/counters.h"
#include "data/files.h"
#include "data/jsonl_line.h"

#include <stdio.h>
#include <string.h>

enum { BAD_ERROR, BAD_SKIP };

typedef struct settings {
    const char *name, *path;
    int64_t documents;
    int32_t bad_line;
} settings;

struct og_dataset_impl {
    char *path, *root;
    int64_t limit;
    int32_t bad_line;
    og_map *map;
    const char *bytes;
    int64_t n, at, line;
    int64_t emitted, blank, bad, cut;
    og_strings strings; /* of the current document */
    og_item *items;
};

static const og_key keys[] = {
    {"name", OG_KEY_STRING, offsetof(settings, name), "jsonl", 0, 0, NULL, "the data set's name"},
    {"path", OG_KEY_STRING, offsetof(settings, path), NULL, 1, 4000, NULL,
     "the file; paths in it are relative to its folder"},
    {"documents", OG_KEY_I64, offsetof(settings, documents), "0", 0, 0, NULL, "most documents; 0: all"},
    {"bad_line", OG_KEY_CHOICE, offsetof(settings, bad_line), "error", 0, 0, "error|skip",
     "a line that is no document"},
    {0},
};

static void close_jsonl(og_dataset_impl *self) {
    if (!self) return;
    og_map_close(self->map);
    og_strings_free(&self->strings);
    og_release(self->items);
    og_release(self->path);
    og_release(self->root);
    og_release(self);
}

static og_status open_jsonl(const og_config *config, const og_split_policy *split, og_dataset_impl **impl,
                            og_error *err) {
    (void)split;
    settings read = {0};
    OG_TRY(og_config_read(config, keys, &read, err));
    og_dataset_impl *self = og_alloc_zero(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "jsonl: no memory");
    self->limit = read.documents;
    self->bad_line = read.bad_line;
    self->path = og_copy_string(read.path);
    self->root = og_copy_string(strchr(read.path, '/') ? read.path : ".");
    og_status status = self->path && self->root ? og_map_open(read.path, 0, &self->map, err)
                                                : og_fail(err, OG_ENOMEM, "jsonl: no memory");
    if (status == OG_OK) {
        char *slash = strrchr(self->root, '/');
        if (slash) slash[slash == self->root ? 1 : 0] = 0;
        self->bytes = og_map_data(self->map);
        self->n = og_map_bytes(self->map);
        if (self->n >= 3 && !memcmp(self->bytes, "\xEF\xBB\xBF", 3)) self->at = 3; /* a byte order mark is no text */
        if (self->n == 0) status = og_fail(err, OG_EFORMAT, "%s: empty file (0 bytes)", read.path);
    }
    if (status != OG_OK) {
        close_jsonl(self);
        return status;
    }
    *impl = self;
    return OG_OK;
}

static og_status next(og_dataset_impl *self, og_record *out, int32_t *done, og_error *err) {
    while (self->at < self->n) {
        const char *line = self->bytes + self->at, *end = memchr(line, '\n', (size_t)(self->n - self->at));
        int64_t bytes = end ? end - line : self->n - self->at, blank = 0;
        self->at += bytes + (end != NULL);
        self->line++;
        while (blank < bytes && (line[blank] == ' ' || line[blank] == '\t' || line[blank] == '\r')) blank++;
        if (blank == bytes) {
            self->blank++;
            continue;
        }
        if (self->limit && self->emitted >= self->limit) {
            self->cut++;
            continue;
        }
        og_strings_free(&self->strings);
        og_release(self->items);
        self->items = NULL;
        char place[4200];
        snprintf(place, sizeof place, "%.4096s:%lld", self->path, (long long)self->line);
        og_jsonl_document document = {0};
        og_status status = og_jsonl_line(place, self->root, line, bytes, &self->strings, &document, err);
        if (status == OG_EFORMAT && self->bad_line == BAD_SKIP) {
            self->bad++;
            continue;
        }
        if (status != OG_OK) return status;
        self->items = document.items;
        const char *id =
            document.id ? document.id : og_strings_format(&self->strings, "line-%lld", (long long)self->line);
        if (!id) return og_fail(err, OG_ENOMEM, "%s: no memory", place);
        self->emitted++;
        *out = (og_record){
            .id = id, .group = document.group ? document.group : id, .items = self->items, .n_items = document.n_items};
        *done = 0;
        return OG_OK;
    }
    *done = 1;
    return OG_OK;
}

static og_status counters(const og_dataset_impl *self, og_config **out, og_error *err) {
    const og_counter values[] = {{"lines", self->line},
                                 {"documents", self->emitted},
                                 {"passed_over_blank_line", self->blank},
                                 {"passed_over_bad_line", self->bad},
                                 {"passed_over_documents_limit", self->cut}};
    return og_counters_config(values, sizeof values / sizeof *values, out, err);
}

const og_dataset_type og_dataset_jsonl = {
    .abi = OG_ABI,
    .name = "jsonl",
    .summary = "interleaved documents, one a line",
    .source = "",
    .keys = keys,
    .open = open_jsonl,
    .close = close_jsonl,
    .next = next,
    .counters = counters,
};
