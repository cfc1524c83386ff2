/* omnigram core: everything above rests on it. One header a concern; this one includes them all. */
#ifndef OMNIGRAM_CORE_H
#define OMNIGRAM_CORE_H

#include <omnigram/addr.h>
#include <omnigram/bench.h>
#include <omnigram/codebook.h>
#include <omnigram/config.h>
#include <omnigram/digest.h>
#include <omnigram/dtype.h>
#include <omnigram/file.h>
#include <omnigram/lookup.h>
#include <omnigram/memory.h>
#include <omnigram/offload.h>
#include <omnigram/pack.h>
#include <omnigram/pool.h>
#include <omnigram/random.h>
#include <omnigram/safetensors.h>
#include <omnigram/staged_folder.h>
#include <omnigram/status.h>
#include <omnigram/store.h>
#include <omnigram/table_file.h>
#include <omnigram/tensor.h>
#include <omnigram/update.h>
#include <omnigram/window.h>

#endif
