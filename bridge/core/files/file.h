/* Buffered files for torch.File: on disk, on a pipe, or in the memory of a storage; bytes, numbers and lines.
 *
 * A file is used by one thread at a time. Nothing here raises: results count what was done, `error` has the errno of
 * what went wrong last (0 at the end of a file). */
#ifndef BRIDGE_FILE_H
#define BRIDGE_FILE_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
enum { BR_FILE_READ = 1, BR_FILE_WRITE = 2 };

typedef struct br_file {
   uint8_t *data;      /* a window of the file on disk that begins at `base`, or all of a memory file */
   int64_t position;   /* of the next byte, in `data` */
   int64_t filled;     /* bytes of `data` that mean something */
   int64_t capacity;
   int64_t base;
   int64_t ahead;      /* bytes to read at once when more are needed */
   br_storage *storage; /* whose memory a memory file reads and writes; a reference */
   void *stream;       /* popen's, of a pipe */
   int descriptor;     /* -1: none */
   int mode;           /* BR_FILE_READ, BR_FILE_WRITE */
   int opened;
   int seekable;
   int dirty;          /* the first `position` bytes of the window are still to be written */
   int unbuffered;
   int binary;
   int spacing;        /* numbers written as text are set apart, and read so */
   int foreign;        /* bytes of numbers are swapped */
   int longsize;       /* bytes of a long in the file: 4, 8, or 0 where nobody said */
   int error;
   int quiet;
   int64_t objects;    /* written so far, for their numbers */
   int mapped;         /* storages that lie aligned in the file may be private maps of it */
   struct br_span *map; /* of all of the file */
   struct br_span *span; /* whose memory the next storages of middle size that are read take */
} br_file;

/* Open or create by name; 0 or an errno. A file to be replaced as a whole is written beside it (`temporary`, room for
   `size` bytes, gets its name) and takes its place, and its permissions, in br_file_replace. */
int br_file_open(br_file *file, const char *name, int mode);
int br_file_open_beside(br_file *file, const char *name, char *temporary, size_t size);
int br_file_replace(br_file *file, const char *temporary, const char *name);
int br_file_open_pipe(br_file *file, const char *command, int mode);
/* Over the bytes of a CharStorage but its last, which is 0. */
void br_file_open_memory(br_file *file, br_storage *storage, int mode);
/* Write what is pending. 0, or -1. */
int br_file_flush(br_file *file);
/* Flush, then let go of everything; of a pipe, wait for the command. 0, or -1: not everything could be written. */
int br_file_close(br_file *file);

/* Make up to n bytes readable at data + position; how many there are (perhaps more). */
int64_t br_file_need(br_file *file, int64_t n);
int64_t br_file_read(br_file *file, void *to, int64_t n);
int64_t br_file_write(br_file *file, const void *from, int64_t n);
/* n bytes from an offset (0-based) on, the position staying where it is; how many there were. */
int64_t br_file_peek(br_file *file, int64_t offset, void *to, int64_t n);

int64_t br_file_tell(br_file *file);
/* 0, or -1: not possible. */
int br_file_seek(br_file *file, int64_t offset);
int br_file_seek_end(br_file *file);
/* Bytes between the position and the end; -1 where nobody knows (a pipe). */
int64_t br_file_remaining(br_file *file);

/* n elements of a type, binary or as text; how many. */
int64_t br_file_get(br_file *file, int dtype, void *to, int64_t n);
int64_t br_file_put(br_file *file, int dtype, const void *from, int64_t n);
/* Make a storage `size` elements long, which come from the file. 0, or -1: out of memory. */
int br_file_make_room(br_file *file, br_storage *storage, int64_t size);
/* Make a storage a map of the next `size` elements, and go past them, where the file is `mapped`. 1; 0: it cannot be. */
int br_file_map(br_file *file, br_storage *storage, int64_t size);
/* Make a storage a map of the first `size` elements of an open file, which has them; `shared`: writes reach the file.
   -1: there is no memory (errno). */
int br_storage_map(br_storage *storage, int descriptor, int shared, int64_t size);
/* A line without its end, or everything up to the file's end; its bytes, to be given to free(). NULL: out of memory. */
char *br_file_text(br_file *file, int line, int64_t *length, int64_t *consumed);
void br_file_free(char *text);
/* The system's words for an errno. */
const char *br_file_message(int error);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#define BR_FILE_AHEAD 4096  /* bytes read ahead after a large read: most of what comes next may be large too */

#endif
