/* events.h: a TensorBoard event file. */
#ifndef OMNIGRAM_TRAIN_EVENTS_H
#define OMNIGRAM_TRAIN_EVENTS_H

#include <omnigram/train.h>

OG_BEGIN

typedef struct og_events og_events;
/* Makes folder/events.out.tfevents.SECONDS.HOST.PID. first_step > 0: steps from there on of older files are void (a
 * resume). */
og_status og_events_open(const char *folder, int64_t first_step, og_events **out, og_error *err) OG_MUST_USE;
/* One event with n scalars at a step. */
og_status og_events_scalars(og_events *events, int64_t step, const char *const *tags, const double *values, int64_t n,
                            og_error *err) OG_MUST_USE;
void og_events_close(og_events *events); /* NULL is fine */

OG_END
#endif
