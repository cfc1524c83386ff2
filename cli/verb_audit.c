/* verb_audit.c: `omnigram audit KIND`. */
#include "audit.h"
#include "options.h"
#include "verb.h"

#include <omnigram/config.h>

#include <string.h>

static const char help[] =
    "usage: omnigram audit hash --config YAML (--packs FILE | --ids TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]]) [options]\n"
    "       omnigram audit hash [--scheme A,B] [--vocab V,V] [--rows N] [--orders N,N] [options]\n"
    "       omnigram audit isolation --config YAML --packs FILE [--packs-probed N] [--documents N] [--json FILE]\n"
    "\n"
    "hash       how well n-grams spread over rows: for each cell, the share of random edits that change the row and\n"
    "           the rows reached while the cell sweeps its vocabulary, against a random function; load and\n"
    "           collisions of random n-grams and, with --packs, of a corpus. Of the tables of a config, or of\n"
    "           schemes by vocabularies (--orders and --rows for those that take a list of orders; others keep the\n"
    "           columns of their source).\n"
    "\n"
    "  --config YAML   a config with a section `tables`; --tables.NAME.key=value changes one key (--tables YAML is\n"
    "                  the same)\n"
    "  --strict        exit 1 when any is weak\n"
    "  --svg FILE      the sweep of each cell as a picture\n"
    "  --threads N     (the CPUs); the figures do not depend on it\n"
    "  --json FILE     the figures (-: standard output)\n"
    "\n"
    "isolation  pokes documents of a pack and takes documents out, and looks at all others bit for bit: row ids,\n"
    "           activations after every layer, losses, gradients. Then the guards are taken down one at a time\n"
    "           (attention, positions, targets, window), and the same probe must find leaks. Exits 0 only if both\n"
    "           come out so.\n"
    "\n"
    "  --config YAML   sections model, memory, tables; --a.b=value changes one key\n"
    "  --packs-probed N, --documents N   how many packs, and how many documents of each, are poked\n"
    "  --json FILE     the figures (-: standard output)\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} kinds[] = {{"hash", og_verb_audit_hash}, {"isolation", og_verb_audit_isolation}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static int run(int argc, char **argv) {
    const char *names[N_KINDS];
    for (int i = 0; i < N_KINDS; i++) names[i] = kinds[i].name;
    if (argc < 1) return og_verb_usage("audit", "say what: %s or %s", names[0], names[1]);
    for (int i = 0; i < N_KINDS; i++)
        if (!strcmp(argv[0], kinds[i].name)) return kinds[i].run(argc - 1, argv + 1);
    const char *nearest = og_config_nearest(argv[0], names, N_KINDS);
    return og_verb_usage("audit", "unknown kind '%s'%s%s%s", argv[0], nearest ? ", did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
}

const og_verb og_verb_audit = {"audit", "prove isolation of documents; measure hashing", help, run};
