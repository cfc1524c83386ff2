/* train_calls.c: finds the calls of libomnigram_train, and prints what it has to say. */
#include "train_calls.h"

#include "train_library.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static og_status find(const char *name, void *pointer, og_error *err) {
    void (*function)(void) = NULL;
    OG_TRY(og_train_symbol(name, &function, err));
    memcpy(pointer, &function, sizeof function);
    return OG_OK;
}

og_status og_train_calls_open(og_train_calls *out, og_error *err) {
#define OG_TRAIN_FIND(name) OG_TRY(find("og_" #name, &out->name, err));
    OG_TRAIN_CALLS(OG_TRAIN_FIND)
    return OG_OK;
}

void og_train_log(void *context, int32_t kind, const char *line) {
    static int open_line; /* one verb runs in a process */
    int terminal = isatty(STDERR_FILENO);
    (void)context;
    if (open_line) fputs(kind == OG_LOG_PROGRESS ? "\r\033[K" : "\n", stderr);
    fprintf(stderr, "%s%s", kind == OG_LOG_WARNING ? "warning: " : "", line);
    open_line = terminal && kind == OG_LOG_PROGRESS;
    if (!open_line) fputc('\n', stderr);
    fflush(stderr);
}
