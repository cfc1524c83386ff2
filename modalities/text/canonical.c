/* canonical.c: Engram's canonical form (utf8proc) and the id map of a compressed vocabulary. */
#include <omnigram/canonical.h>

#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/safetensors.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OG_HAVE_UTF8PROC
#include <utf8proc.h>

#define SENTINEL 0xE000 /* stands for a token that is one space while blanks are trimmed */

static int is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Unicode White_Space. */
static int is_space(int32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

static int is_mark(int32_t c) {
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

static og_status bad_text(int64_t code, og_error *err) {
    if (code == UTF8PROC_ERROR_NOMEM || code == UTF8PROC_ERROR_OVERFLOW)
        return og_fail(err, OG_ENOMEM, "no memory to normalise a text");
    return og_fail(err, OG_EFORMAT, "a text that is not UTF-8 (%s)", utf8proc_errmsg(code));
}

/* Marks out, lower case, blanks joined: points [n] in place. */
static int64_t simplify(int32_t *points, int64_t n) {
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if (is_mark(points[i])) continue;
        int32_t c = utf8proc_tolower(points[i]);
        if (is_blank(c)) {
            if (m && points[m - 1] == ' ') continue;
            c = ' ';
        }
        points[m++] = c;
    }
    return m;
}

static og_status encode(const int32_t *points, int64_t n, char **key, int64_t *key_bytes, og_error *err) {
    char *out = og_alloc(4 * n + 1, 1);
    if (!out) return og_fail(err, OG_ENOMEM, "no memory for a key of %lld characters", (long long)n);
    int64_t bytes = 0;
    for (int64_t i = 0; i < n; i++)
        bytes += utf8proc_encode_char(points[i] == SENTINEL ? ' ' : points[i], (utf8proc_uint8_t *)out + bytes);
    out[bytes] = 0;
    *key = out;
    *key_bytes = bytes;
    return OG_OK;
}

static og_status itself(const char *text, int64_t bytes, char **key, int64_t *key_bytes, og_error *err) {
    char *out = og_alloc(bytes + 1, 1);
    if (!out) return og_fail(err, OG_ENOMEM, "no memory for a key of %lld bytes", (long long)bytes);
    if (bytes) memcpy(out, text, (size_t)bytes);
    out[bytes] = 0;
    *key = out;
    *key_bytes = bytes;
    return OG_OK;
}

static int has_replacement(const char *text, int64_t bytes) {
    for (int64_t i = 0; i + 2 < bytes; i++)
        if (!memcmp(text + i, "\xEF\xBF\xBD", 3)) return 1;
    return 0;
}

og_status og_canonical_key(const char *text, int64_t bytes, char **key, int64_t *key_bytes, og_error *err) {
    if (bytes < 0 || bytes > INT32_MAX / 8)
        return og_fail(err, OG_EINVAL, "a text of %lld bytes; a token has at most %d", (long long)bytes, INT32_MAX / 8);
    if (bytes == 0 || has_replacement(text, bytes)) return itself(text, bytes, key, key_bytes, err);
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t length = utf8proc_map((const utf8proc_uint8_t *)text, bytes, &composed,
                                           UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    if (length < 0) return bad_text(length, err);
    /* NFD at least doubles nothing: a code point decomposes to at most four, of at least one byte
     * each in `composed`. */
    int64_t room = 4 * (int64_t)length + 4;
    int32_t *points = og_alloc(room, sizeof *points);
    utf8proc_ssize_t n =
        points ? utf8proc_decompose(composed, length, points, room, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE) : 0;
    free(composed);
    if (!points) return og_fail(err, OG_ENOMEM, "no memory for a text of %lld bytes", (long long)bytes);
    if (n < 0 || n > room) {
        og_release(points);
        return bad_text(n < 0 ? n : UTF8PROC_ERROR_OVERFLOW, err);
    }
    int64_t m = simplify(points, n), first = 0;
    if (m == 1 && points[0] == ' ') points[0] = SENTINEL;
    while (first < m && is_space(points[first])) first++;
    while (m > first && is_space(points[m - 1])) m--;
    og_status status =
        m == first ? itself(text, bytes, key, key_bytes, err) : encode(points + first, m - first, key, key_bytes, err);
    og_release(points);
    return status;
}

#else

og_status og_canonical_key(const char *text, int64_t bytes, char **key, int64_t *key_bytes, og_error *err) {
    (void)text, (void)bytes, (void)key, (void)key_bytes;
    return og_fail(err, OG_ENOTSUP, "built without utf8proc; install libutf8proc-dev and build again");
}

#endif

/* ---- the map ---- */

typedef struct key_set { /* open addressing over the distinct keys */
    char **keys;
    int64_t *bytes, *slots;
    int64_t n, mask;
} key_set;

static uint64_t hash_of(const char *key, int64_t bytes) {
    uint64_t hash = (uint64_t)bytes;
    for (int64_t i = 0; i < bytes; i++) hash = (hash ^ (uint8_t)key[i]) * UINT64_C(0x100000001b3);
    return og_splitmix64(hash);
}

/* The key's number; takes the key (a known one is released). */
static int64_t number_of(key_set *set, char *key, int64_t bytes) {
    for (int64_t slot = (int64_t)(hash_of(key, bytes) & (uint64_t)set->mask);; slot = (slot + 1) & set->mask) {
        int64_t i = set->slots[slot];
        if (i < 0) {
            set->slots[slot] = set->n;
            set->keys[set->n] = key;
            set->bytes[set->n] = bytes;
            return set->n++;
        }
        if (set->bytes[i] == bytes && !memcmp(set->keys[i], key, (size_t)bytes)) {
            og_release(key);
            return i;
        }
    }
}

og_status og_canonical_map(const char *const *texts, const int64_t *bytes, int64_t n, int32_t *map, int64_t *compressed,
                           og_error *err) {
    if (n < 0 || n > INT32_MAX)
        return og_fail(err, OG_EINVAL, "a vocabulary of %lld tokens; ids have 31 bits", (long long)n);
    int64_t slots = 16;
    while (slots < 2 * n) slots *= 2;
    key_set set = {og_alloc(n, sizeof *set.keys), og_alloc(n, sizeof *set.bytes), og_alloc(slots, sizeof *set.slots), 0,
                   slots - 1};
    og_status status =
        set.keys && set.bytes && set.slots ? OG_OK : og_fail(err, OG_ENOMEM, "no memory for %lld keys", (long long)n);
    if (status == OG_OK) memset(set.slots, -1, (size_t)slots * sizeof *set.slots);
    for (int64_t i = 0; i < n && status == OG_OK; i++) {
        char *key;
        int64_t length;
        status = og_canonical_key(texts[i], bytes[i], &key, &length, err);
        if (status == OG_OK)
            map[i] = (int32_t)number_of(&set, key, length);
        else
            status = og_fail_at(err, status, "token %lld", (long long)i);
    }
    if (status == OG_OK) *compressed = set.n;
    for (int64_t i = 0; i < set.n; i++) og_release(set.keys[i]);
    og_release(set.keys);
    og_release(set.bytes);
    og_release(set.slots);
    return status;
}

static og_status write_map(og_arrays_writer *writer, const int32_t *map, int64_t n, int64_t compressed,
                           const char *source, og_error *err) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)compressed);
    OG_TRY(og_arrays_writer_metadata(writer, "kind", "omnigram id map", err));
    OG_TRY(og_arrays_writer_metadata(writer, "compressed_vocab", text, err));
    if (source) OG_TRY(og_arrays_writer_metadata(writer, "source", source, err));
    OG_TRY(og_arrays_writer_declare(writer, "id_map", OG_I32, 1, &n, err));
    return og_arrays_writer_append(writer, map, n * (int64_t)sizeof *map, err);
}

og_status og_canonical_write(const char *path, const int32_t *map, int64_t n, int64_t compressed, const char *source,
                             og_error *err) {
    og_arrays_writer *writer;
    OG_TRY(og_arrays_writer_new(path, &writer, err));
    og_status status = write_map(writer, map, n, compressed, source, err);
    if (status == OG_OK) return og_arrays_writer_commit(writer, err);
    og_arrays_writer_abort(writer);
    return status;
}
