/* Sharing a loop among torch's threads.
 *
 * There is no pool of our own: torch's is used once torch is in the process, so that torch.setnumthreads holds here too
 * and no two pools fight for the cores. Before that, loops run on the caller's thread, until those that threads could
 * have shared have taken as long as it takes to load torch's library: then it is loaded, without Python. In the child of
 * a fork, which has the pool's memory but none of its threads, loops always run on the caller's thread. */
#ifndef BRIDGE_PARALLEL_H
#define BRIDGE_PARALLEL_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* `parallel_for`: torch's torch_parallel_for. May be called again with the same. */
void br_parallel_with(void *parallel_for);

/* BRIDGE_CDEF begin */
/* Where torch's library lies, for loops that run before anybody has imported torch. */
void br_parallel_library(const char *path);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* f sees every part of 0 .. n - 1 once, from several threads if there are more than `grain`. Inside another such loop
   everything is seen by the caller. */
void br_parallel(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *context), void *context);

#endif
