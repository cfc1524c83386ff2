/* synthetic_media.c: paints and sounds a scene. */
#include "data/synthetic.h"

#include <math.h>

static const uint8_t colours[OG_SCENE_COLOURS][3] = {{210, 40, 40},  {40, 160, 60},  {50, 80, 210}, {235, 205, 50},
                                                     {140, 60, 170}, {240, 140, 40}, {25, 25, 30},  {250, 250, 250}};
/* Four tones of each ground, dull so that the shape stands out. */
static const uint8_t grounds[OG_SCENE_GROUNDS][4][3] = {
    {{176, 190, 197}, {144, 164, 174}, {120, 144, 156}, {96, 125, 139}},
    {{215, 204, 200}, {188, 170, 164}, {161, 136, 127}, {141, 110, 99}},
    {{178, 223, 219}, {150, 200, 195}, {120, 180, 172}, {96, 150, 144}},
    {{225, 215, 190}, {205, 190, 150}, {190, 170, 120}, {160, 140, 100}}};

enum { FREE = 1 << 20 }; /* counters from here on belong to pixels and samples */

/* A cell given its neighbours. Each rule needs the cell above: a raster model with a short memory misses what a 2-D one
 * sees. */
static int32_t next_cell(const og_scene *s, int32_t above, int32_t left, uint64_t counter) {
    uint64_t u = og_random_below(s->key, FREE + counter, 100);
    if (u < 8) return (int32_t)og_random_below(s->key, 2 * FREE + counter, 4);
    switch (s->ground) {
    case 0: return above;                           /* stripes run down */
    case 1: return (above + left) % 4;              /* woven: both, and neither alone tells */
    case 2: return u < 70 ? (above + 1) % 4 : left; /* ripples step on each row */
    default: return u < 55 ? above : left;          /* speckles */
    }
}

static int32_t inside(int32_t shape, double x, double y) { /* in units of the radius */
    double r = sqrt(x * x + y * y);
    switch (shape) {
    case 0: return r <= 1;
    case 1: return fabs(x) <= 0.85 && fabs(y) <= 0.85;
    case 2: return y <= 0.8 && y >= -0.9 && fabs(x) <= (y + 0.9) * 0.55;
    case 3: return (fabs(x) <= 0.3 && fabs(y) <= 1) || (fabs(y) <= 0.3 && fabs(x) <= 1);
    case 4: return r <= 1 && r >= 0.55;
    default: return fabs(x) + fabs(y) <= 1;
    }
}

void og_scene_paint(const og_scene *s, int64_t size, uint8_t *pixels, int8_t *cells) {
    int64_t n = (size + 7) / 8;
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            uint64_t counter = (uint64_t)(y * n + x);
            int32_t fresh = (int32_t)og_random_below(s->key, 3 * (uint64_t)FREE + counter, 4);
            int32_t above = y ? cells[(y - 1) * n + x] : fresh, left = x ? cells[y * n + x - 1] : fresh;
            cells[y * n + x] = (int8_t)(y == 0 && x == 0 ? fresh : next_cell(s, above, left, counter));
        }
    double radius = (double)size * (0.09 + 0.05 * s->size);
    double jx = og_random_unit(s->key, 30) - 0.5, jy = og_random_unit(s->key, 31) - 0.5;
    double cx = (double)size * (0.25 + 0.25 * (s->place % 3) + 0.06 * jx),
           cy = (double)size * (0.25 + 0.25 * (s->place / 3) + 0.06 * jy);
    for (int64_t y = 0; y < size; y++)
        for (int64_t x = 0; x < size; x++) {
            int32_t cell = cells[y / 8 * n + x / 8];
            const uint8_t *colour = grounds[s->ground][cell];
            int32_t mark = (cell + (x & 1) + (y >> 1)) % 4 == 0 ? -14 : 0; /* a weave inside the cell */
            if (inside(s->shape, ((double)x + 0.5 - cx) / radius, ((double)y + 0.5 - cy) / radius)) {
                colour = colours[s->colour];
                mark = 0;
            }
            int32_t noise = (int32_t)(og_random_bits(s->key, 4 * (uint64_t)FREE + (uint64_t)(y * size + x)) % 5) - 2;
            for (int32_t c = 0; c < 3; c++) {
                int32_t v = colour[c] + mark + noise;
                pixels[3 * (y * size + x) + c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
        }
}

int64_t og_scene_sound(const og_scene *s, int64_t rate_hz, int16_t *pcm) {
    static const double pi = 3.14159265358979323846, base[OG_SCENE_PITCHES] = {220, 520, 1250};
    int64_t beat = rate_hz * 28 / 100, total = beat * s->count + rate_hz / 10;
    if (!pcm) return total;
    double detune = 1 + 0.06 * (og_random_unit(s->key, 40) - 0.5), gain = 0.25 + 0.35 * og_random_unit(s->key, 41),
           phase = 0;
    for (int64_t i = 0; i < total; i++) {
        int64_t at = i % beat;
        double t = (double)at / (double)beat, hz = base[s->pitch] * detune, value = 0;
        if (i < beat * s->count && t < 0.7) {
            double u = t / 0.7;
            if (s->sound == 1) hz *= 1 + u;
            if (s->sound == 2) hz *= 2 - u;
            phase += 2 * pi * hz / (double)rate_hz;
            value = sin(phase);
            if (s->sound == 3)
                value =
                    (value + sin(2 * phase) / 2 + sin(3 * phase) / 3) / 1.8 * (fmod(phase, 12 * pi) < 6 * pi ? 1 : 0.2);
            value *= gain * sin(pi * u); /* a soft start and end */
        }
        value += 0.002 * (og_random_unit(s->key, 5 * (uint64_t)FREE + (uint64_t)i) - 0.5);
        pcm[i] = (int16_t)floor(value * 32767 + 0.5);
    }
    return total;
}
