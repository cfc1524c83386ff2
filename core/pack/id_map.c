/* id_map.c: disjoint id ranges, one per modality and one for the markers. */
#include <omnigram/pack.h>

const char *og_modality_name(int32_t modality) {
    static const char *const names[OG_N_MODALITIES] = {"text", "image", "audio", "marker"};
    return modality >= 0 && modality < OG_N_MODALITIES ? names[modality] : "none";
}

og_status og_id_map_make(int64_t text, int64_t image, int64_t image_levels, int64_t audio, int64_t audio_levels,
                         og_id_map *out, og_error *err) {
    const int64_t codes[OG_N_MODALITIES] = {text, image, audio, OG_N_MARKERS};
    const int64_t levels[OG_N_MODALITIES] = {1, image_levels, audio_levels, 1};
    og_id_map map;
    int64_t base = 0;
    for (int32_t m = 0; m < OG_N_MODALITIES; m++) {
        if (codes[m] < 0 || codes[m] > INT32_MAX)
            return og_fail(err, OG_EINVAL, "id map: %lld %s codes; it must be 0 .. %d", (long long)codes[m],
                           og_modality_name(m), INT32_MAX);
        if (levels[m] < 1 || levels[m] > INT32_MAX)
            return og_fail(err, OG_EINVAL, "id map: %lld %s levels; it must be 1 .. %d", (long long)levels[m],
                           og_modality_name(m), INT32_MAX);
        /* codes * levels < 2^62 and base < 2^31, so that this sum cannot overflow */
        if (base + codes[m] * levels[m] > INT32_MAX)
            return og_fail(err, OG_EINVAL,
                           "id map: %lld ids with those of %s (%lld codes x %lld levels); the limit is %d",
                           (long long)(base + codes[m] * levels[m]), og_modality_name(m), (long long)codes[m],
                           (long long)levels[m], INT32_MAX);
        map.base[m] = (int32_t)base;
        map.codes[m] = (int32_t)codes[m];
        map.levels[m] = (int32_t)levels[m];
        base += codes[m] * levels[m];
    }
    map.size = (int32_t)base;
    *out = map;
    return OG_OK;
}

og_status og_id_map_check(const og_id_map *map, og_error *err) {
    if (map->size < 1) return og_fail(err, OG_EINVAL, "id map: size %d; it must be positive", map->size);
    for (int32_t m = 0; m < OG_N_MODALITIES; m++) {
        if (map->base[m] < 0 || map->codes[m] < 0 || map->levels[m] < 1)
            return og_fail(err, OG_EINVAL,
                           "id map: %s has base %d, %d codes, %d levels; none may be negative, "
                           "levels at least 1",
                           og_modality_name(m), map->base[m], map->codes[m], map->levels[m]);
        int64_t end = map->base[m] + (int64_t)map->codes[m] * map->levels[m];
        if (end > map->size)
            return og_fail(err, OG_EINVAL, "id map: %s ends at %lld, behind the size %d", og_modality_name(m),
                           (long long)end, map->size);
        for (int32_t o = 0; o < m; o++) {
            int64_t other = map->base[o] + (int64_t)map->codes[o] * map->levels[o];
            if (map->base[m] < other && map->base[o] < end)
                return og_fail(err, OG_EINVAL, "id map: %s [%d, %lld) and %s [%d, %lld) overlap", og_modality_name(o),
                               map->base[o], (long long)other, og_modality_name(m), map->base[m], (long long)end);
        }
    }
    if (map->codes[OG_MARKER] != OG_N_MARKERS || map->levels[OG_MARKER] != 1)
        return og_fail(err, OG_EINVAL, "id map: %d markers in %d levels; this version has %d in 1",
                       map->codes[OG_MARKER], map->levels[OG_MARKER], OG_N_MARKERS);
    return OG_OK;
}

int32_t og_id_modality(const og_id_map *map, int32_t id) {
    for (int32_t m = 0; m < OG_N_MODALITIES; m++)
        if (id >= map->base[m] && (int64_t)id - map->base[m] < (int64_t)map->codes[m] * map->levels[m]) return m;
    return -1;
}
