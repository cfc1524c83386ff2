/* python_module.c: finds the Python, the package and the library that belong together, and becomes that Python. */
#include "python_module.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In a source tree the package is taken from python/ and the library from the build that this program belongs to. An
 * installed program finds both by itself. */
static int prepare_environment(void) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return 0;
    self[n] = 0;
    size_t root = strlen(OG_SOURCE_DIR);
    if (strncmp(self, OG_SOURCE_DIR, root) || self[root] != '/') return 0;
    char *slash = strrchr(self, '/');
    *slash = 0;
    char library[PATH_MAX + 32];
    snprintf(library, sizeof library, "%s/lib/libomnigram.so", self);
    if (access(library, R_OK) == 0 && setenv("OMNIGRAM_LIBRARY", library, 0)) return -1;
    const char *old = getenv("PYTHONPATH");
    size_t bytes = sizeof OG_SOURCE_DIR + sizeof "/python:" + (old ? strlen(old) : 0);
    char *path = malloc(bytes);
    if (!path) return -1;
    snprintf(path, bytes, "%s/python%s%s", OG_SOURCE_DIR, old && *old ? ":" : "", old ? old : "");
    int failed = setenv("PYTHONPATH", path, 1);
    free(path);
    return failed;
}

int og_run_python_module(const char *verb, const char *module, int argc, char **argv) {
    const char *python = getenv("OMNIGRAM_PYTHON");
    if (!python || !*python) python = *OG_DEFAULT_PYTHON ? OG_DEFAULT_PYTHON : "python3";
    char **words = calloc((size_t)argc + 4, sizeof *words);
    if (!words || prepare_environment()) {
        fprintf(stderr, "omnigram %s: no memory\n", verb);
        free(words);
        return 1;
    }
    words[0] = (char *)(uintptr_t)python; /* execvp changes nothing */
    words[1] = "-m";
    words[2] = (char *)(uintptr_t)module;
    for (int i = 0; i < argc; i++) words[3 + i] = argv[i];
    execvp(python, words);
    fprintf(
        stderr,
        "omnigram %s: cannot run %s: %s; set OMNIGRAM_PYTHON to a Python with the packages of tools/requirements.txt\n",
        verb, python, strerror(errno));
    free(words);
    return 1;
}
