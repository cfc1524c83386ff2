/* main.c: the `omnigram` program finds the verb and calls it. */
#include "verb.h"

#include <omnigram/config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_help(FILE *to) {
    fprintf(to,
            "omnigram %s: multimodal Over-Encoding research\n\n"
            "usage: omnigram VERB [options]   (VERB --help explains one)\n\n",
            og_version());
    for (int i = 0; og_verbs[i]; i++) fprintf(to, "  %-10s %s\n", og_verbs[i]->name, og_verbs[i]->summary);
}

static int run(int argc, char **argv) {
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("omnigram %s\n", og_version());
        return 0;
    }
    const char *names[64];
    int n = 0;
    for (; og_verbs[n] && n < 64; n++) {
        names[n] = og_verbs[n]->name;
        if (strcmp(argv[1], names[n])) continue;
        for (int i = 2; i < argc; i++)
            if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
                fputs(og_verbs[n]->help, stdout);
                return 0;
            }
        og_error err;
        if (og_cpu_check(&err) != OG_OK) {
            fprintf(stderr, "omnigram %s: %s\n", names[n], err.message);
            return 2;
        }
        return og_verbs[n]->run(argc - 2, argv + 2);
    }
    const char *nearest = og_config_nearest(argv[1], names, n);
    fprintf(stderr, "omnigram: unknown verb '%s'%s%s%s; `omnigram --help` lists them\n", argv[1],
            nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "");
    return 2;
}

int main(int argc, char **argv) {
    int code = run(argc, argv);
    /* What was printed last meets a full disk or a closed pipe only here. */
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "omnigram: standard output: %s\n", strerror(errno));
    return code ? code : 1;
}
