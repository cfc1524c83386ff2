/* options.c: what every verb does the same way. */
#include "options.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static const char *value_of(const og_option *options, const char *name) {
    const og_option *option = find_option(options, name, strlen(name));
    return option && option->value ? *option->value : NULL;
}

/* Whether path lies in a folder that the verb itself makes. */
static int is_within(const char *path, const char *folder) {
    size_t n = folder ? strlen(folder) : 0;
    return n && !strncmp(path, folder, n) && (path[n] == '/' || path[n - 1] == '/');
}

/* The result is written last: hours of work should not be needed to learn that it has no place. */
static int check_place(const char *verb, const char *name, const og_option *options) {
    og_error err = {{0}};
    struct stat is;
    char folder[4096];
    const char *path = value_of(options, name);
    if (!path || !strcmp(path, "-")) return 0;
    const char *slash = strrchr(path, '/');
    int n = !slash ? snprintf(folder, sizeof folder, ".")
                   : snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (n < 0 || n >= (int)sizeof folder)
        og_fail(&err, OG_EINVAL, "%s: a path of %zu bytes; at most %zu", name, strlen(path), sizeof folder);
    else if (!stat(path, &is) && S_ISDIR(is.st_mode))
        og_fail(&err, OG_EINVAL, "%s %s: is a folder, not a file", name, path);
    else if (!stat(folder, &is) && !S_ISDIR(is.st_mode))
        og_fail(&err, OG_EINVAL, "%s %s: %s is a file, not a folder", name, path, folder);
    else if (access(folder, W_OK) && !(errno == ENOENT && (is_within(path, value_of(options, "--out")) ||
                                                           is_within(path, value_of(options, "--run")))))
        og_fail(&err, OG_EIO, "%s %s: cannot be written: %s: %s", name, path, folder, strerror(errno));
    else
        return 0;
    return og_verb_fail(verb, &err);
}

/* An output replaces its file, so it must be none of the others. Folders are the verbs' own concern. */
int og_output_apart(const char *verb, const char *name, const char *path, const char *other_name, const char *other) {
    struct stat a, b;
    if (!path || !other || !strcmp(path, "-")) return 0;
    int same = !stat(path, &a) && !stat(other, &b) ? a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode)
                                                   : !strcmp(path, other);
    if (!same) return 0;
    return og_verb_usage(verb, "%s %s and %s%s%s are one file", name, path, other_name, *other_name ? " " : "", other);
}

static int check_outputs(const char *verb, const og_option *options, const og_arguments *arguments) {
    static const char *const outputs[] = {"--out", "--json", "--svg"};
    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
        const char *path = value_of(options, outputs[o]);
        for (const og_option *other = options; path && other->name; other++)
            if (other->value && *other->value != path &&
                og_output_apart(verb, outputs[o], path, other->name, *other->value))
                return 2;
        for (int i = 0; path && i < arguments->n_files; i++)
            if (og_output_apart(verb, outputs[o], path, "", arguments->files[i])) return 2;
    }
    return 0;
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
    uint64_t given = 0; /* bit by row of the table */
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
            const char *value = equals ? equals + 1 : argv[++i];
            uint64_t bit = UINT64_C(1) << (option - options);
            if (given & bit)
                return og_verb_usage(verb, "%s is given twice: %s and %s", option->name, *option->value, value);
            given |= bit;
            *option->value = value;
            if (!**option->value) return og_verb_usage(verb, "%s needs a value, not an empty one", option->name);
        } else if (takes_overrides && equals && !strncmp(word, "--", 2)) {
            out->overrides[out->n_overrides++] = word + 2;
        } else {
            return unknown_option(verb, word, options);
        }
    }
    if (check_outputs(verb, options, out)) return 2;
    int bad = check_place(verb, "--json", options);
    return bad ? bad : check_place(verb, "--svg", options);
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

static int begins_with_section(const char *assignment, const char *name) {
    size_t n = strlen(name);
    return !strncmp(assignment, name, n) && (assignment[n] == '.' || assignment[n] == '=');
}

static og_status override_section(og_config *config, const char *name, const char *assignment, og_error *err) {
    if (begins_with_section(assignment, name)) return og_config_override(config, assignment, err);
    int64_t bytes = (int64_t)(strlen(name) + strlen(assignment)) + 2;
    char *whole = og_alloc(bytes, 1);
    if (!whole) return og_fail(err, OG_ENOMEM, "no memory for '--%.40s'", assignment);
    snprintf(whole, (size_t)bytes, "%s.%s", name, assignment);
    og_status status = og_config_override(config, whole, err);
    og_release(whole);
    return status;
}

int og_options_section(const char *verb, const char *path, const char *name, const og_arguments *arguments,
                       og_config **out, const og_config **section) {
    const og_arguments none = {0};
    og_config *config = NULL;
    if (og_options_config(verb, path, &none, &config)) return 1;
    int sectioned = og_config_get(config, name) != NULL;
    for (int i = 0; i < arguments->n_overrides; i++) sectioned |= begins_with_section(arguments->overrides[i], name);
    og_error err = {{0}};
    og_status status = OG_OK;
    for (int i = 0; status == OG_OK && i < arguments->n_overrides; i++)
        status = sectioned ? override_section(config, name, arguments->overrides[i], &err)
                           : og_config_override(config, arguments->overrides[i], &err);
    if (status != OG_OK) {
        og_config_free(config);
        return og_verb_fail(verb, &err);
    }
    *out = config;
    *section = sectioned ? og_config_get(config, name) : config;
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
