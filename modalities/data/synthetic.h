/* synthetic.h: documents drawn from a seed: a scene is decided first, then painted, sounded and described. */
#ifndef OMNIGRAM_MODALITIES_SYNTHETIC_H
#define OMNIGRAM_MODALITIES_SYNTHETIC_H

#include <omnigram/modalities.h>

enum {
    OG_SCENE_SHAPES = 6,
    OG_SCENE_COLOURS = 8,
    OG_SCENE_PLACES = 9,
    OG_SCENE_SIZES = 3,
    OG_SCENE_GROUNDS = 4,
    OG_SCENE_SOUNDS = 4,
    OG_SCENE_PITCHES = 3,
    OG_SCENE_LANGUAGES = 3
};

typedef struct og_scene { /* each field below its OG_SCENE_ limit */
    int32_t shape, colour, place, size, ground;
    int32_t sound, pitch, count; /* count 1..4 */
    uint64_t key;                /* of all that is free: texture, jitter, noise */
} og_scene;

/* Shape decides the sound and colour the pitch in 7 of 8 scenes, so that what is seen tells about what is heard. */
og_scene og_scene_draw(uint64_t seed, int64_t number);
/* RGB8 [size][size][3] at pixels: a ground of cells, each drawn from the cell above and the cell to the left (a causal
 * Markov random field; size/8 x size/8 cells), and the shape on it. */
void og_scene_paint(const og_scene *scene, int64_t size, uint8_t *pixels, int8_t *cells);
/* Samples of the sound at rate_hz; pcm NULL asks for the number only. */
int64_t og_scene_sound(const og_scene *scene, int64_t rate_hz, int16_t *pcm);
/* One of four sentence patterns in language 0 (en), 1 (es), 2 (de); returns the bytes written, without the zero. */
int64_t og_scene_describe(const og_scene *scene, int32_t language, char *text, int64_t room);
const char *og_scene_language(int32_t language);

#endif
