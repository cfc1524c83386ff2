/* flush_openmp.c: subnormals are flushed in this thread and in every OpenMP worker. The mode is a register of each
 * thread: set in one thread only, results would depend on which thread computed them. Threads made later inherit it
 * from their maker. */
#include <omnigram/train.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
static void flush_this_thread(void) { _mm_setcsr(_mm_getcsr() | 0x8040u); } /* FTZ | DAZ */
#elif defined(__aarch64__)
static void flush_this_thread(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" ::"r"(mode | (UINT64_C(1) << 24)));
}
#else
static void flush_this_thread(void) {}
#endif

void og_train_flush_denormals(void) {
    flush_this_thread();
#ifdef _OPENMP
#pragma omp parallel
    flush_this_thread();
#endif
}
