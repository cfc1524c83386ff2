/* faults.h: what memory.c asks faults.c. */
#ifndef OMNIGRAM_BASE_FAULTS_H
#define OMNIGRAM_BASE_FAULTS_H

#include <omnigram/internal/faults.h>

int32_t og_fault_alloc_now(void); /* 1: this allocation is to fail */

int32_t og_fault_digest_now(void); /* 1: a wrong digest is to pass */

#endif
