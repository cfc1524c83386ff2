/* jsonl_line.c: reads one line of an interleaved-document file. */
#include "data/jsonl_line.h"

#include "utf8.h"

#include <jansson.h>
#include <string.h>

enum { PATH_BYTES = 4095 }; /* the system takes no longer one */

typedef struct reader {
    const char *place, *root;
    og_strings *strings;
    og_error *err;
} reader;

static og_status read_string(const reader *r, const char *key, const json_t *value, const char **out) {
    if (!json_is_string(value)) return og_fail(r->err, OG_EFORMAT, "%s: '%s' must be a string", r->place, key);
    *out = og_strings_add(r->strings, json_string_value(value), (int64_t)json_string_length(value));
    if (!*out) return og_fail(r->err, OG_ENOMEM, "%s: no memory", r->place);
    /* A zero inside would cut the string for every reader after this one. */
    if (strlen(*out) != json_string_length(value))
        return og_fail(r->err, OG_EFORMAT, "%s: '%s' holds the character U+0000", r->place, key);
    return OG_OK;
}

static og_status read_path(const reader *r, const char *key, const json_t *value, const char **out) {
    const char *path = NULL;
    OG_TRY(read_string(r, key, value, &path));
    if (!*path) return og_fail(r->err, OG_EFORMAT, "%s: '%s' is an empty path", r->place, key);
    size_t bytes = strlen(path) + (*path == '/' ? 0 : strlen(r->root) + 1);
    if (bytes > PATH_BYTES)
        return og_fail(r->err, OG_EFORMAT, "%s: '%s' is a path of %zu bytes; at most %d are taken", r->place, key,
                       bytes, PATH_BYTES);
    *out = *path == '/' ? path : og_strings_format(r->strings, "%s/%s", r->root, path);
    return *out ? OG_OK : og_fail(r->err, OG_ENOMEM, "%s: no memory", r->place);
}

static og_status read_item(const reader *r, int64_t index, const json_t *json, og_item *out) {
    static const char *const known[] = {"text", "image", "audio", "language", "crop", "flip"};
    og_item item = {.modality = -1};
    const char *key;
    json_t *value;
    if (!json_is_object(json))
        return og_fail(r->err, OG_EFORMAT, "%s: item %lld must be an object", r->place, (long long)index);
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        int32_t k = 0;
        while (k < 6 && strcmp(key, known[k])) k++;
        if (k < 3) {
            if (item.modality >= 0)
                return og_fail(r->err, OG_EFORMAT,
                               "%s: item %lld has both '%s' and '%s'; an item is one of text, image, audio", r->place,
                               (long long)index, known[item.modality], key);
            item.modality = k == 0 ? OG_TEXT : k == 1 ? OG_IMAGE : OG_AUDIO;
            OG_TRY(k == 0 ? read_string(r, key, value, &item.text) : read_path(r, key, value, &item.path));
        } else if (k == 3) {
            OG_TRY(read_string(r, key, value, &item.language));
        } else if (k == 4) {
            if (!json_is_array(value) || json_array_size(value) != 4)
                return og_fail(r->err, OG_EFORMAT, "%s: item %lld: crop must be [x, y, width, height]", r->place,
                               (long long)index);
            for (size_t i = 0; i < 4; i++) {
                item.crop[i] = json_number_value(json_array_get(value, i));
                if (!json_is_number(json_array_get(value, i)) || item.crop[i] < 0 || item.crop[i] > 1)
                    return og_fail(r->err, OG_EFORMAT, "%s: item %lld: crop[%d] must be a number in 0..1", r->place,
                                   (long long)index, (int)i);
            }
            if (item.crop[2] <= 0 || item.crop[3] <= 0 || item.crop[0] + item.crop[2] > 1 + 1e-9 ||
                item.crop[1] + item.crop[3] > 1 + 1e-9)
                return og_fail(r->err, OG_EFORMAT, "%s: item %lld: crop %g, %g, %g x %g leaves the picture", r->place,
                               (long long)index, item.crop[0], item.crop[1], item.crop[2], item.crop[3]);
        } else if (k == 5) {
            if (!json_is_boolean(value))
                return og_fail(r->err, OG_EFORMAT, "%s: item %lld: flip must be true or false", r->place,
                               (long long)index);
            item.flip = json_is_true(value);
        } else {
            const char *nearest = og_config_nearest(key, known, 6);
            return og_fail(r->err, OG_EFORMAT, "%s: item %lld: unknown key '%.60s'%s%s", r->place, (long long)index,
                           key, nearest ? "; nearest: " : "", nearest ? nearest : "");
        }
    }
    if (item.modality < 0)
        return og_fail(r->err, OG_EFORMAT, "%s: item %lld has none of text, image, audio", r->place, (long long)index);
    if ((item.flip || item.crop[2] > 0) && item.modality != OG_IMAGE)
        return og_fail(r->err, OG_EFORMAT, "%s: item %lld: crop and flip are for images", r->place, (long long)index);
    *out = item;
    return OG_OK;
}

static og_status read_document(const reader *r, const json_t *json, og_jsonl_document *out) {
    og_jsonl_document document = {0};
    const json_t *items = json;
    if (json_is_object(json)) {
        const char *key;
        json_t *value;
        items = NULL;
        json_object_foreach((json_t *)(uintptr_t)json, key, value) {
            if (!strcmp(key, "items"))
                items = value;
            else if (!strcmp(key, "id"))
                OG_TRY(read_string(r, key, value, &document.id));
            else if (!strcmp(key, "group"))
                OG_TRY(read_string(r, key, value, &document.group));
            else
                return og_fail(r->err, OG_EFORMAT, "%s: unknown key '%.60s'; known: items, id, group", r->place, key);
        }
        if (document.id && !*document.id) return og_fail(r->err, OG_EFORMAT, "%s: 'id' is empty", r->place);
    }
    if (!json_is_array(items))
        return og_fail(r->err, OG_EFORMAT, "%s: a document is a list of items, or an object with a list 'items'",
                       r->place);
    document.n_items = (int64_t)json_array_size(items);
    if (document.n_items == 0) return og_fail(r->err, OG_EFORMAT, "%s: a document of 0 items", r->place);
    document.items = og_alloc_zero(document.n_items, sizeof *document.items);
    if (!document.items)
        return og_fail(r->err, OG_ENOMEM, "%s: no memory for %lld items", r->place, (long long)document.n_items);
    for (int64_t i = 0; i < document.n_items; i++) {
        og_status status = read_item(r, i, json_array_get(items, (size_t)i), &document.items[i]);
        if (status != OG_OK) {
            og_release(document.items);
            return status;
        }
    }
    *out = document;
    return OG_OK;
}

og_status og_jsonl_line(const char *place, const char *root, const char *line, int64_t bytes, og_strings *strings,
                        og_jsonl_document *out, og_error *err) {
    const reader r = {place, root, strings, err};
    OG_TRY(og_utf8_check(place, line, bytes, err));
    json_error_t fault;
    json_t *json = json_loadb(line, (size_t)bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!json) return og_fail(err, OG_EFORMAT, "%s: not JSON: %s at column %d", place, fault.text, fault.column);
    og_status status = read_document(&r, json, out);
    json_decref(json);
    return status;
}
