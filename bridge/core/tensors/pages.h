/* Memory for large blocks, in large pages where the system has them, and spans of it that several blocks share.
 *
 * What costs time in fresh memory is one page fault for every 4 KB, twice as much as filling it from a file.
 * So large blocks begin at a large page's boundary and ask for large pages (a refusal changes nothing), and some of
 * what is given back is kept for the next block of that size. */
#ifndef BRIDGE_PAGES_H
#define BRIDGE_PAGES_H

#include <stdint.h>

#define BR_LARGE (2LL << 20)  /* bytes from which a block has pages of its own: those of one large page */

/* `nbytes` (at least 1) of uninitialised memory, aligned to BR_LARGE. NULL: out of memory. Any thread. */
void *br_pages_take(int64_t nbytes);
/* The same number again. Up to BR_PAGES_KEPT bytes stay with the process, marked so that the system takes them back
   when it is short of memory. */
void br_pages_give(void *data, int64_t nbytes);
/* Let go of all that is kept. */
void br_pages_drop(void);

#define BR_PAGES_KEPT (128LL << 20)

/* Memory that blocks take pieces of, one after the other; it goes back when the last of them has gone. Made for
   blocks that come and go together, such as the tensors of one file. */
typedef struct br_span br_span;

/* A span with one reference. NULL: out of memory. */
br_span *br_span_new(int64_t nbytes);
/* A span that is a private map of a file's first bytes: what is written there, the file does not see. */
br_span *br_span_map(int descriptor, int64_t nbytes, int shared);
void br_span_release(br_span *span);
/* A piece, aligned to 64 bytes, and a reference to the span for it. NULL: the span is full. One thread at a time. */
void *br_span_take(br_span *span, int64_t nbytes);
/* The piece from an offset on, and a reference for it. */
void *br_span_at(br_span *span, int64_t offset);

#endif
