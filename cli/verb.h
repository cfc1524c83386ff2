/* verb.h: what a file cli/verb_<name>.c defines. */
#ifndef OMNIGRAM_VERB_H
#define OMNIGRAM_VERB_H

typedef struct og_verb {
    const char *name;    /* "pack"; a word of two verbs ("audit hash") is one verb that reads its first argument */
    const char *summary; /* one line of `omnigram --help` */
    const char *help;    /* what `omnigram NAME --help` prints */
    int (*run)(int argc, char **argv); /* arguments after the verb; exit status: 0 only on success, 2 on bad usage */
} og_verb;
extern const og_verb *const og_verbs[];

#endif
