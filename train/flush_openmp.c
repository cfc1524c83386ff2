/* flush_openmp.c: subnormals are flushed in this thread and in every OpenMP worker. The mode is a register of each
 * thread: set in one thread only, results would depend on which thread computed them. Threads made later inherit it
 * from their maker. */
#include <omnigram/internal/flush.h>
#include <omnigram/train.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
static uint64_t read_mode(void) { return _mm_getcsr(); }
static void write_mode(uint64_t mode) { _mm_setcsr((uint32_t)mode); }
enum { FLUSH = 0x8040 }; /* FTZ | DAZ */
#elif defined(__aarch64__)
static uint64_t read_mode(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static void write_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode)); }
enum { FLUSH = 1 << 24 };
#else
static uint64_t read_mode(void) { return 0; }
static void write_mode(uint64_t mode) { (void)mode; }
enum { FLUSH = 0 };
#endif

uint64_t og_flush_enter(void) {
    uint64_t before = read_mode();
    write_mode(before | FLUSH);
    return before;
}

void og_flush_leave(uint64_t before) { write_mode(before); }

void og_train_flush_denormals(void) {
    (void)og_flush_enter();
#ifdef _OPENMP
#pragma omp parallel
    (void)og_flush_enter();
#endif
}
