/* inspect_words.c: the words of a pack's text: which tokenizer made them, and what they read. */
#include "inspect.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDERS = 256 }; /* looked into, so that a folder of thousands is no wait */

/* The fingerprint that the packs carry, or NULL. */
static const char *wanted(const og_inspect *in) {
    const char *text = NULL;
    const og_config *node = og_config_get(og_packs_counters(in->packs), "tokenizer");
    return node && og_config_string(node, &text, NULL) == OG_OK ? text : NULL;
}

static og_status check(const og_inspect *in, const char *path, const og_tokenizer *tokenizer, og_error *err) {
    const char *fingerprint = wanted(in);
    const og_id_map *ids = og_packs_ids(in->packs);
    if (fingerprint && strcmp(fingerprint, og_tokenizer_fingerprint(tokenizer)))
        return og_fail(err, OG_EINVAL, "%s: has fingerprint %.16s, the packs were made with that of %.16s", path,
                       og_tokenizer_fingerprint(tokenizer), fingerprint);
    if (og_tokenizer_vocab(tokenizer) != ids->codes[OG_TEXT])
        return og_fail(err, OG_EINVAL, "%s: has %lld pieces, the packs have %d ids of text", path,
                       (long long)og_tokenizer_vocab(tokenizer), ids->codes[OG_TEXT]);
    return OG_OK;
}

static og_status open_checked(const og_inspect *in, const char *path, og_tokenizer **out, og_error *err) {
    og_tokenizer *tokenizer = NULL;
    OG_TRY(og_tokenizer_open(path, &tokenizer, err));
    og_status status = check(in, path, tokenizer, err);
    if (status == OG_OK)
        *out = tokenizer;
    else
        og_tokenizer_free(tokenizer);
    return status;
}

/* 1 when FOLDER/tokenizer.model, or SUB/tokenizer.model of a folder in it, is the one. */
static int look_in(const og_inspect *in, const char *folder, const char *sub, og_tokenizer **out) {
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s%stokenizer.model", folder, sub, *sub ? "/" : "");
    return n > 0 && n < (int)sizeof path && og_file_exists(path) && open_checked(in, path, out, NULL) == OG_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void look_around(const og_inspect *in, const char *folder, og_tokenizer **out) {
    char *names[MOST_FOLDERS];
    int n = 0;
    if (look_in(in, folder, "", out)) return;
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (struct dirent *entry; n < MOST_FOLDERS && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' &&
            (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) &&
            (names[n] = og_copy_string(entry->d_name)))
            n++;
    closedir(dir);
    if (n) qsort(names, (size_t)n, sizeof *names, by_name); /* the same choice on every file system */
    for (int i = 0; i < n; i++) {
        if (!*out) look_in(in, folder, names[i], out);
        og_release(names[i]);
    }
}

og_status og_inspect_tokenizer(const og_inspect *in, const char *path, og_tokenizer **out, og_error *err) {
    if (path) return open_checked(in, path, out, err);
    if (!wanted(in)) return OG_OK; /* nothing says which is the right one */
    char folder[4096], above[4100];
    const char *slash = strrchr(in->path, '/');
    int n = slash ? snprintf(folder, sizeof folder, "%.*s", slash == in->path ? 1 : (int)(slash - in->path), in->path)
                  : snprintf(folder, sizeof folder, ".");
    if (n < 0 || n >= (int)sizeof folder) return OG_OK;
    look_around(in, folder, out);
    snprintf(above, sizeof above, "%s/..", folder);
    if (!*out) look_around(in, above, out);
    return OG_OK;
}

/* As JSON writes it, with bytes that are no UTF-8 (half a character: a byte piece) as <e2>. */
static char *quoted(const char *text) {
    size_t bytes = strlen(text), n = 0;
    char *out = og_alloc((int64_t)bytes * 6 + 3, 1);
    if (!out) return NULL;
    out[n++] = '"';
    for (size_t i = 0; i < bytes;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = c < 0x80                ? 1
                        : c >= 0xC2 && c < 0xE0 ? 2
                        : c >= 0xE0 && c < 0xF0 ? 3
                        : c >= 0xF0 && c < 0xF5 ? 4
                                                : 0;
        size_t k = 1;
        while (k < length && (text[i + k] & 0xC0) == 0x80) k++;
        if (!length || k < length) {
            n += (size_t)sprintf(out + n, "<%02x>", c);
            i++;
        } else if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = text[i++];
        } else if (c < 0x20 || c == 0x7F) {
            n += (size_t)(c == '\n'   ? sprintf(out + n, "\\n")
                          : c == '\t' ? sprintf(out + n, "\\t")
                                      : sprintf(out + n, "\\u%04x", c));
            i++;
        } else {
            memcpy(out + n, text + i, length);
            n += length;
            i += length;
        }
    }
    out[n++] = '"';
    out[n] = 0;
    return out;
}

char *og_inspect_words(const og_inspect *in, int64_t begin, int64_t end) {
    char *text = NULL;
    if (!in->tokenizer || begin >= end) return NULL;
    if (og_tokenizer_decode(in->tokenizer, in->pack.tokens + begin, end - begin, &text, NULL) != OG_OK) return NULL;
    char *out = quoted(text);
    og_release(text);
    return out;
}

/* The text in lines as wide as the page, cut between characters. */
void og_inspect_print_words(const og_inspect *in, const og_segment *s, FILE *to) {
    char *words = og_inspect_words(in, s->start, s->start + s->length);
    if (!words) return;
    for (const char *at = words; *at;) {
        int n = 0, shown = 0;
        for (; at[n] && (shown < OG_INSPECT_WIDTH - 6 || (at[n] & 0xC0) == 0x80); n++) shown += (at[n] & 0xC0) != 0x80;
        fprintf(to, "      %.*s\n", n, at);
        at += n;
    }
    og_release(words);
}
