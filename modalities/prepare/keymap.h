/* keymap.h: text keys to numbers, by 128 bits of SHA-256. */
#ifndef OMNIGRAM_MODALITIES_KEYMAP_H
#define OMNIGRAM_MODALITIES_KEYMAP_H

#include <omnigram/core.h>

typedef struct og_keymap {
    struct og_keymap_slot *slots;
    int64_t n, capacity;
} og_keymap;
/* *value gets the number stored under the key; the key gets `fresh` when it is new (*found = 0). */
og_status og_keymap_put(og_keymap *map, const void *key, int64_t bytes, int64_t fresh, int64_t *value, int32_t *found,
                        og_error *err);
void og_keymap_free(og_keymap *map);

#endif
