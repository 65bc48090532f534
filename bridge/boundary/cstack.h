/* How much of the C stack is left: Lua and Python that call each other, and nested containers, go as deep as there is
 * room, and threads may have little. */
#ifndef BRIDGE_CSTACK_H
#define BRIDGE_CSTACK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stddef.h>

/* Bytes that stay free for what one more level calls, and for raising the error: a quarter of a small stack. */
enum { BR_STACK_RESERVE = 64 << 10 };

typedef struct br_stack {
   char *low, *high; /* of the thread's own stack; both NULL until it was asked for */
   ptrdiff_t reserve;
} br_stack;

static __thread br_stack br_this_stack;

static void br_find_stack(void)
{
   pthread_attr_t attributes;
   void *low;
   size_t size;
   if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
   if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
      br_this_stack.low = (char *)low;
      br_this_stack.high = (char *)low + size;
      br_this_stack.reserve = size / 4 < BR_STACK_RESERVE ? (ptrdiff_t)size / 4 : BR_STACK_RESERVE;
   }
   pthread_attr_destroy(&attributes);
}

/* Is there too little left for one more level? Never on a stack that is not the thread's own, whose end nobody knows. */
static inline int br_stack_is_short(void)
{
   char *here = (char *)__builtin_frame_address(0);
   if (!br_this_stack.high) br_find_stack();
   return here > br_this_stack.low && here < br_this_stack.high && here - br_this_stack.low < br_this_stack.reserve;
}

static inline size_t br_stack_size(void) { return (size_t)(br_this_stack.high - br_this_stack.low); }

#endif
