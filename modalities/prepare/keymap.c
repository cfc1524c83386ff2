/* keymap.c: an open-addressing map of digests. */
#include "prepare/keymap.h"

#include <stdlib.h>
#include <string.h>

struct og_keymap_slot {
    uint64_t high, low; /* both 0: empty (a digest is that with chance 2^-128) */
    int64_t value;
};

static struct og_keymap_slot *find(struct og_keymap_slot *slots, int64_t capacity, uint64_t high, uint64_t low) {
    uint64_t mask = (uint64_t)capacity - 1, at = low & mask;
    while ((slots[at].high || slots[at].low) && (slots[at].high != high || slots[at].low != low)) at = (at + 1) & mask;
    return &slots[at];
}

static og_status grow(og_keymap *map, og_error *err) {
    int64_t capacity = map->capacity ? 2 * map->capacity : 1024;
    struct og_keymap_slot *slots = og_alloc_zero(capacity, sizeof *slots);
    if (!slots) return og_fail(err, OG_ENOMEM, "no memory for %lld keys", (long long)capacity);
    for (int64_t i = 0; i < map->capacity; i++)
        if (map->slots[i].high || map->slots[i].low)
            *find(slots, capacity, map->slots[i].high, map->slots[i].low) = map->slots[i];
    og_release(map->slots);
    map->slots = slots;
    map->capacity = capacity;
    return OG_OK;
}

og_status og_keymap_put(og_keymap *map, const void *key, int64_t bytes, int64_t fresh, int64_t *value, int32_t *found,
                        og_error *err) {
    char digest[OG_DIGEST_TEXT], part[17] = {0};
    OG_TRY(og_digest_of(key, bytes, digest, err));
    memcpy(part, digest, 16);
    uint64_t high = strtoull(part, NULL, 16);
    memcpy(part, digest + 16, 16);
    uint64_t low = strtoull(part, NULL, 16);
    if (2 * (map->n + 1) > map->capacity) OG_TRY(grow(map, err));
    struct og_keymap_slot *slot = find(map->slots, map->capacity, high, low);
    *found = slot->high || slot->low;
    if (!*found) {
        *slot = (struct og_keymap_slot){high, low, fresh};
        map->n++;
    }
    *value = slot->value;
    return OG_OK;
}

void og_keymap_free(og_keymap *map) {
    og_release(map->slots);
    *map = (og_keymap){0};
}
