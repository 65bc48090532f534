/* How much of the thread's C stack is left. Lua and Python may call each other, and containers may be nested, as deeply
 * as the stack allows; it is small in some threads. */
#ifndef BRIDGE_CSTACK_H
#define BRIDGE_CSTACK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stddef.h>

/* Bytes kept free for the functions that one more level calls, and for raising an error; at most a quarter of the
   stack. */
enum { BR_STACK_RESERVE = 64 << 10 };

typedef struct br_stack {
   char *low, *high; /* of the thread's own stack; NULL before br_find_stack */
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

/* Is there too little left for one more level? Always no on another stack than the thread's own: its end is unknown. */
static inline int br_stack_is_short(void)
{
   char *here = (char *)__builtin_frame_address(0);
   if (!br_this_stack.high) br_find_stack();
   return here > br_this_stack.low && here < br_this_stack.high && here - br_this_stack.low < br_this_stack.reserve;
}

static inline size_t br_stack_size(void) { return (size_t)(br_this_stack.high - br_this_stack.low); }

#endif
