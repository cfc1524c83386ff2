/* synthetic_scene.c: what is in a scene, and its description in three languages. */
#include "data/synthetic.h"

#include <stdio.h>

static int32_t draw(uint64_t key, uint64_t what, uint64_t n) { return (int32_t)og_random_below(key, what, n); }

og_scene og_scene_draw(uint64_t seed, int64_t number) {
    uint64_t key = og_random_bits(og_splitmix64(seed), (uint64_t)number);
    og_scene s = {.key = key};
    s.shape = draw(key, 0, OG_SCENE_SHAPES);
    s.colour = draw(key, 1, OG_SCENE_COLOURS);
    s.place = draw(key, 2, OG_SCENE_PLACES);
    s.size = draw(key, 3, OG_SCENE_SIZES);
    s.ground = draw(key, 4, OG_SCENE_GROUNDS);
    s.sound = draw(key, 5, 8) ? s.shape % OG_SCENE_SOUNDS : draw(key, 6, OG_SCENE_SOUNDS);
    s.pitch = draw(key, 7, 8) ? s.colour % OG_SCENE_PITCHES : draw(key, 8, OG_SCENE_PITCHES);
    s.count = 1 + draw(key, 9, 4);
    return s;
}

const char *og_scene_language(int32_t language) {
    static const char *const names[OG_SCENE_LANGUAGES] = {"en", "es", "de"};
    return names[language];
}

typedef struct words {
    const char *shape[OG_SCENE_SHAPES], *colour[OG_SCENE_COLOURS], *place[OG_SCENE_PLACES], *size[OG_SCENE_SIZES],
        *ground[OG_SCENE_GROUNDS], *sound[OG_SCENE_SOUNDS], *pitch[OG_SCENE_PITCHES], *count[4];
    const char *pattern[4]; /* order of words by position: 1 size, 2 colour, 3 shape, 4 place, 5 ground, 6 count, 7
                               pitch, 8 sound */
} words;

static const words all[OG_SCENE_LANGUAGES] = {
    {{"circle", "square", "triangle", "cross", "ring", "diamond"},
     {"red", "green", "blue", "yellow", "purple", "orange", "black", "white"},
     {"at the top left", "at the top", "at the top right", "at the left", "in the middle", "at the right",
      "at the bottom left", "at the bottom", "at the bottom right"},
     {"small", "medium", "large"},
     {"striped", "woven", "rippled", "speckled"},
     {"a steady tone", "a rising tone", "a falling tone", "a buzz"},
     {"low", "middle", "high"},
     {"once", "twice", "three times", "four times"},
     {"A %1$s %2$s %3$s %4$s on %5$s ground; %8$s is heard %6$s, %7$s.",
      "On %5$s ground, %4$s, lies a %1$s %2$s %3$s. %8$s, %7$s, %6$s.",
      "%6$s, %7$s: %8$s. The %3$s is %1$s and %2$s, %4$s, on %5$s ground.",
      "%2$s %3$s, %1$s, %4$s, %5$s ground. Sound: %8$s, %7$s, %6$s."}},
    {{"círculo", "cuadrado", "triángulo", "aspa", "anillo", "rombo"},
     {"rojo", "verde", "azul", "amarillo", "morado", "naranja", "negro", "blanco"},
     {"arriba a la izquierda", "arriba", "arriba a la derecha", "a la izquierda", "en el centro", "a la derecha",
      "abajo a la izquierda", "abajo", "abajo a la derecha"},
     {"pequeño", "mediano", "grande"},
     {"rayado", "tejido", "ondulado", "moteado"},
     {"un tono constante", "un tono que sube", "un tono que baja", "un zumbido"},
     {"grave", "medio", "agudo"},
     {"una vez", "dos veces", "tres veces", "cuatro veces"},
     {"Un %3$s %2$s %1$s %4$s sobre fondo %5$s; suena %8$s %7$s %6$s.",
      "Sobre fondo %5$s, %4$s, hay un %3$s %1$s %2$s. %8$s, %7$s, %6$s.",
      "%6$s, %7$s: %8$s. El %3$s es %1$s y %2$s, %4$s, con fondo %5$s.",
      "%3$s %2$s, %1$s, %4$s, fondo %5$s. Sonido: %8$s, %7$s, %6$s."}},
    {{"Kreis", "Quadrat", "Dreieck", "Kreuz", "Ring", "Raute"},
     {"rot", "grün", "blau", "gelb", "lila", "orange", "schwarz", "weiß"},
     {"oben links", "oben", "oben rechts", "links", "in der Mitte", "rechts", "unten links", "unten", "unten rechts"},
     {"klein", "mittelgroß", "groß"},
     {"gestreift", "gewebt", "gewellt", "gesprenkelt"},
     {"ein steter Ton", "ein steigender Ton", "ein fallender Ton", "ein Summen"},
     {"tief", "mittel", "hoch"},
     {"einmal", "zweimal", "dreimal", "viermal"},
     {"%3$s, %1$s und %2$s, %4$s; der Grund ist %5$s. Dazu %6$s %8$s, %7$s.",
      "Der Grund ist %5$s, %4$s steht %3$s: %1$s, %2$s. %8$s, %7$s, %6$s.",
      "%6$s, %7$s: %8$s. %3$s %4$s, %1$s, %2$s, der Grund %5$s.",
      "%2$s, %1$s: %3$s %4$s, Grund %5$s. Klang: %8$s, %7$s, %6$s."}},
};

int64_t og_scene_describe(const og_scene *s, int32_t language, char *text, int64_t room) {
    const words *w = &all[language];
    const char *arguments[8] = {w->size[s->size],     w->colour[s->colour],   w->shape[s->shape], w->place[s->place],
                                w->ground[s->ground], w->count[s->count - 1], w->pitch[s->pitch], w->sound[s->sound]};
    const char *p = w->pattern[draw(s->key, 20 + (uint64_t)language, 4)];
    int64_t n = 0;
    while (*p && n + 1 < room) {
        if (*p != '%') {
            text[n++] = *p++;
            continue;
        }
        for (const char *word = arguments[p[1] - '1']; *word && n + 1 < room; word++) text[n++] = *word;
        p += 4; /* "%1$s" */
    }
    text[n] = 0;
    return n;
}
