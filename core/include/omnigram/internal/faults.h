/* Faults for tests: the outside world fails at a chosen call. Not installed, not exported: only programs that link the
 * static layers reach it, and a library that is in use never sees one. */
#ifndef OMNIGRAM_INTERNAL_FAULTS_H
#define OMNIGRAM_INTERNAL_FAULTS_H

#include <omnigram/status.h>

OG_BEGIN

/* The k-th og_alloc from now on (1, 2 ...) gives NULL, the others do not; 0: none fails. */
void og_fault_alloc(int64_t k);
/* Whether that allocation has come. */
int32_t og_fault_alloc_hit(void);

enum { OG_FAULT_NO_BYTES = -1 };

/* Called before each system call that changes a file ("open", "write", "fsync", "rename" ...) and before each "read".
 * It may kill the process; an errno it returns is what the call fails with; OG_FAULT_NO_BYTES makes a read give 0; 0
 * lets the call pass. NULL: no hook. Set while no writer works. */
typedef int32_t og_io_hook(const char *call, const char *path);
void og_fault_io(og_io_hook *hook);
int32_t og_fault_io_now(const char *call, const char *path); /* for the code that makes the call */

/* 1: files whose digest is wrong are read all the same, so that a fuzzer gets past it; 0: they are refused. */
void og_fault_digest(int32_t ignore);

OG_END
#endif
