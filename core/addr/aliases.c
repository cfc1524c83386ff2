/* aliases.c: other names of the schemes, with the released systems' numbers. */
#include "addr/scheme.h"

#include <string.h>

typedef struct alias {
    const char *name, *scheme, *preset;
} alias;

static const alias aliases[] = {
    {"welm_oe", "welm_knuth32", ""}, /* the public port: orders 2,2,3,3 */
    {"welm_note", "welm_knuth32", "orders: [2, 3, 4, 5]\nrows: 16000000\n"},
    {"over_tokenized", "ott_mod", ""},
    {"mojo_oe", "mojo_mod", ""},
    {"longcat", "longcat_mod", ""},
    {"longcat_lite", "longcat_mod", "variant: lite\n"},
    {"longcat_serving", "longcat_mod", "variant: serving\n"},
    {"deepseek_engram", "engram_xor", "variant: v1\n"},
    {"deepseek_v41", "engram_xor", "variant: v41\ncompressed_vocab: 99092\n"},
    {"qwen_ple", "qwen_xor", ""},
    {"modded_nanogpt", "bigram_xor32", ""},
    {"blt", "blt_poly", ""},
    {"lngram", "lngram_direct", ""},
    {"gemma3n_ple", "identity", "variant: gemma3n\n"},
    {"gemma4_ple", "identity", "variant: gemma4\n"},
    /* One table of 300M rows, four rows a token. Its hash constants are unpublished: the layout is
       nanochat's, the hash is ours. */
    {"nanochat", "mix64", "orders: [2, 3]\nheads: 2\nrows: 300000000\n"},
    {0},
};

const char *og_addr_alias(const char *name, const char **preset) {
    for (const alias *a = aliases; a->name; a++)
        if (!strcmp(a->name, name)) {
            *preset = a->preset;
            return a->scheme;
        }
    return NULL;
}

const char *og_addr_alias_at(int32_t i) { return aliases[i].name; }
