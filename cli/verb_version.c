/* verb_version.c */
#include "verb.h"

#include <omnigram/status.h>

#include <stdio.h>

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    printf("omnigram %s\n", og_version());
    return 0;
}

const og_verb og_verb_version = {"version", "print the version", "usage: omnigram version\n", run};
