/* options.h: what every verb does the same way: options, overrides, errors, JSON results, progress. */
#ifndef OMNIGRAM_OPTIONS_H
#define OMNIGRAM_OPTIONS_H

#include <omnigram/config.h>

#include <jansson.h>

/* One row of a verb's table; a table has at most 63 and ends with a row whose name is NULL. Exactly one of value and
 * flag is set. */
typedef struct og_option {
    const char *name;   /* "--json" */
    const char **value; /* receives the word after it (or after '=') */
    int *flag;          /* is set to 1 */
} og_option;

typedef struct og_arguments {
    const char **files; /* words that are not options, in order */
    int n_files;
    const char **overrides; /* "a.b=value" of each --a.b=value that is not in the table */
    int n_overrides;
} og_arguments;

/* Splits the arguments; overrides are refused unless takes_overrides, and so is a value that is given twice. 0, or 2
 * after a message on stderr that names the word and the nearest known option; 1 where the FILE of --json or --svg could
 * not be written later. og_arguments_free in any case. */
int og_options_read(const char *verb, int argc, char **argv, const og_option *options, int takes_overrides,
                    og_arguments *out);
/* 2 after a message where an output's path (NULL, "-": none) is the file of another option or word; og_options_read
 * asks it of --out, --json and --svg. */
int og_output_apart(const char *verb, const char *name, const char *path, const char *other_name, const char *other);
void og_arguments_free(og_arguments *arguments);

/* Reads a YAML file (NULL: an empty map) and applies the overrides. 0, or 1 after a message. */
int og_options_config(const char *verb, const char *path, const og_arguments *arguments, og_config **out);

/* The same for a verb whose keys may stand in a section of a config of all stages: *section is that section where the
 * file or an override (--SECTION.key=value) has it, else the whole config. Every override goes there, so that none is
 * without effect. */
int og_options_section(const char *verb, const char *path, const char *name, const og_arguments *arguments,
                       og_config **out, const og_config **section);

/* "omnigram VERB: message" on stderr; returns 1. */
int og_verb_fail(const char *verb, const og_error *err);
/* A message about usage on stderr; returns 2. */
int og_verb_usage(const char *verb, const char *format, ...) OG_PRINTF(2, 3);

/* Writes the object to path ("-": standard output; NULL: nowhere) and releases it. Files appear whole or not at all. 0
 * or 1. */
int og_json_result(const char *verb, const char *path, json_t *object);

/* A progress function for long work (context: the verb's name): one line that moves on a terminal, now and then a plain
 * line elsewhere. */
int32_t og_progress_print(void *context, const char *stage, int64_t done, int64_t total);

#endif
