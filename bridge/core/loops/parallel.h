/* Sharing a loop among torch's threads.
 *
 * We have no thread pool of our own. Once torch is loaded, its pool is used, so that torch.setnumthreads applies here
 * too and two pools do not compete for the cores. Before that, loops run on the caller's thread. When those that
 * threads could have shared have taken about as long as loading torch's library does, that library is loaded (without
 * Python). A forked child has the pool's memory but none of its threads: there, loops always run on the caller's
 * thread. */
#ifndef BRIDGE_PARALLEL_H
#define BRIDGE_PARALLEL_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* Use torch's pool from now on; `parallel_for` is the address of torch_parallel_for. May be called more than once. */
void br_parallel_with(void *parallel_for);

/* BRIDGE_CDEF begin */
/* The path of torch's library, for loops that run before torch is imported. */
void br_parallel_library(const char *path);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* Call f for ranges begin .. end - 1 that together cover 0 .. n - 1 once, from several threads if n is more than
   `grain`. Inside another br_parallel, the calling thread does everything. */
void br_parallel(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *context), void *context);

#endif
