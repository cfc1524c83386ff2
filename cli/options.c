/* options.c: what every verb does the same way. */
#include "options.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int og_verb_usage(const char *verb, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "omnigram %s: ", verb);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; `omnigram %s --help` explains\n", verb);
    va_end(args);
    return 2;
}

int og_verb_fail(const char *verb, const og_error *err) {
    fprintf(stderr, "omnigram %s: %s\n", verb, err->message);
    return 1;
}

static int unknown_option(const char *verb, const char *word, const og_option *options) {
    const char *names[64];
    int n = 0;
    for (; options[n].name && n < 64; n++) names[n] = options[n].name;
    const char *nearest = og_config_nearest(word, names, n);
    if (nearest) return og_verb_usage(verb, "unknown option '%s', did you mean '%s'?", word, nearest);
    return og_verb_usage(verb, "unknown option '%s'", word);
}

static const og_option *find_option(const og_option *options, const char *word, size_t length) {
    for (; options->name; options++)
        if (strlen(options->name) == length && !strncmp(options->name, word, length)) return options;
    return NULL;
}

int og_options_read(const char *verb, int argc, char **argv, const og_option *options, int takes_overrides,
                    og_arguments *out) {
    *out = (og_arguments){0};
    out->files = og_alloc(argc + 1, sizeof *out->files);
    out->overrides = og_alloc(argc + 1, sizeof *out->overrides);
    if (!out->files || !out->overrides) {
        fprintf(stderr, "omnigram %s: no memory for %d arguments\n", verb, argc);
        return 2;
    }
    int only_files = 0;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (only_files || word[0] != '-' || !strcmp(word, "-")) {
            out->files[out->n_files++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_files = 1;
            continue;
        }
        const char *equals = strchr(word, '=');
        size_t length = equals ? (size_t)(equals - word) : strlen(word);
        const og_option *option = find_option(options, word, length);
        if (option && option->flag) {
            if (equals) return og_verb_usage(verb, "%s takes no value, got '%s'", option->name, word);
            *option->flag = 1;
        } else if (option) {
            if (!equals && i + 1 >= argc) return og_verb_usage(verb, "%s needs a value", option->name);
            *option->value = equals ? equals + 1 : argv[++i];
        } else if (takes_overrides && equals && !strncmp(word, "--", 2)) {
            out->overrides[out->n_overrides++] = word + 2;
        } else {
            return unknown_option(verb, word, options);
        }
    }
    return 0;
}

void og_arguments_free(og_arguments *arguments) {
    og_release((void *)arguments->files);
    og_release((void *)arguments->overrides);
    *arguments = (og_arguments){0};
}

int og_options_config(const char *verb, const char *path, const og_arguments *arguments, og_config **out) {
    og_error err = {{0}};
    og_config *config = NULL;
    og_status status = path ? og_config_from_yaml_file(path, &config, &err)
                            : og_config_from_yaml("", 0, "command line", &config, &err);
    for (int i = 0; status == OG_OK && i < arguments->n_overrides; i++)
        status = og_config_override(config, arguments->overrides[i], &err);
    if (status != OG_OK) {
        og_config_free(config);
        return og_verb_fail(verb, &err);
    }
    *out = config;
    return 0;
}

int og_json_result(const char *verb, const char *path, json_t *object) {
    if (!path) {
        json_decref(object);
        return 0;
    }
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    if (!text) {
        fprintf(stderr, "omnigram %s: the result cannot be written as JSON\n", verb);
        return 1;
    }
    int failed = 0;
    if (!strcmp(path, "-")) {
        if (puts(text) < 0 || fflush(stdout) != 0) {
            fprintf(stderr, "omnigram %s: standard output: %s\n", verb, strerror(errno));
            failed = 1;
        }
    } else {
        size_t bytes = strlen(text);
        text[bytes] = '\n'; /* the zero's place; og_file_write takes a length */
        og_error err = {{0}};
        if (og_file_write(path, text, (int64_t)bytes + 1, &err) != OG_OK) failed = og_verb_fail(verb, &err);
    }
    free(text);
    return failed;
}

int32_t og_progress_print(void *context, const char *stage, int64_t done, int64_t total) {
    static struct timespec last; /* one program, one terminal */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int terminal = isatty(STDERR_FILENO);
    double since = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
    if (done < total && since < (terminal ? 0.1 : 5.0)) return 0;
    last = now;
    const char *verb = context ? context : "omnigram";
    fprintf(stderr, "%s%s: %s %lld/%lld%s", terminal ? "\r\033[K" : "", verb, stage, (long long)done, (long long)total,
            terminal && done < total ? "" : "\n");
    fflush(stderr);
    return 0;
}
