/* Memory for large blocks, in large pages where the system has them, and spans of memory that several blocks share.
 *
 * Fresh memory costs a page fault for every 4 KB, which takes twice as long as filling the page from a file. So large
 * blocks begin at a large page's boundary and ask for large pages (the system may refuse), and some of the memory that
 * is given back is kept for the next block of the same size. */
#ifndef BRIDGE_PAGES_H
#define BRIDGE_PAGES_H

#include <stdint.h>

#define BR_LARGE (2LL << 20)  /* bytes from which a block has pages of its own; the size of a large page */

/* `nbytes` (at least 1) of uninitialised memory, aligned to BR_LARGE. NULL: out of memory. Any thread. */
void *br_pages_take(int64_t nbytes);
/* Give back memory of br_pages_take, with the same `nbytes`. Up to BR_PAGES_KEPT bytes stay with the process, marked so
   that the system can take them when it is short of memory. */
void br_pages_give(void *data, int64_t nbytes);
/* Return all kept memory to the system. */
void br_pages_drop(void);

#define BR_PAGES_KEPT (128LL << 20)

/* Memory that several blocks take pieces of, one after the other. It is given back with the last reference. Made for
   blocks that live equally long, such as the tensors of one file. */
typedef struct br_span br_span;

/* A span with one reference. NULL: out of memory. */
br_span *br_span_new(int64_t nbytes);
/* A span that maps the first `nbytes` of a file; writes reach the file only if `shared`. NULL: out of memory, or the
   file cannot be mapped. */
br_span *br_span_map(int descriptor, int64_t nbytes, int shared);
void br_span_release(br_span *span);
/* The next piece, aligned to 64 bytes, with a new reference to the span. NULL: the span is full. One thread at a
   time. */
void *br_span_take(br_span *span, int64_t nbytes);
/* The address of an offset, with a new reference to the span. */
void *br_span_at(br_span *span, int64_t offset);

#endif
