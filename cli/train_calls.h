/* train_calls.h: the calls of libomnigram_train that verbs make, found when they are needed. */
#ifndef OMNIGRAM_TRAIN_CALLS_H
#define OMNIGRAM_TRAIN_CALLS_H

#include <omnigram/eval.h>
#include <omnigram/train.h>

/* The type of each pointer is that of the function in the header. */
#define OG_TRAIN_CALLS(call)                                                                                           \
    call(trainer_new) call(trainer_free) call(trainer_run) call(trainer_stop) call(trainer_on_eval)                    \
        call(trainer_summary) call(trainer_load) call(trainer_done) call(trainer_planned) call(trainer_step)           \
            call(train_sections) call(train_check) call(eval_check) call(eval_new) call(eval_free) call(eval_hook)     \
                call(eval_report) call(audit_isolation)

#define OG_TRAIN_POINTER(name) __typeof__(&og_##name) name;
typedef struct og_train_calls {
    OG_TRAIN_CALLS(OG_TRAIN_POINTER)
} og_train_calls;

/* OG_ENOTSUP "built without torch" with what to install where the library is not there. */
og_status og_train_calls_open(og_train_calls *out, og_error *err) OG_MUST_USE;

/* An og_log_fn for verbs: progress moves in one line on a terminal and is plain lines elsewhere; all on stderr. */
void og_train_log(void *context, int32_t kind, const char *line);

#endif
