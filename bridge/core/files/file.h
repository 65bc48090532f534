/* Buffered files for torch.File: on disk, on a pipe, or in the memory of a storage; bytes, numbers and lines.
 *
 * A file is used by one thread at a time. Nothing here raises an error: results say how much was done, and `error` has
 * the errno of the last failure (0 at the end of a file). */
#ifndef BRIDGE_FILE_H
#define BRIDGE_FILE_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
enum { BR_FILE_READ = 1, BR_FILE_WRITE = 2 };

typedef struct br_file {
   uint8_t *data;      /* a window of the file on disk that begins at `base`, or all of a memory file */
   int64_t position;   /* index in `data` of the next byte */
   int64_t filled;     /* bytes of `data` that are valid */
   int64_t capacity;
   int64_t base;
   int64_t ahead;      /* bytes to read at once when the window is empty */
   br_storage *storage; /* whose memory a memory file reads and writes; a reference */
   void *stream;       /* popen's, of a pipe */
   int descriptor;     /* -1: none */
   int mode;           /* BR_FILE_READ, BR_FILE_WRITE */
   int opened;
   int seekable;
   int dirty;          /* the first `position` bytes of the window are still to be written */
   int unbuffered;
   int binary;
   int spacing;        /* text: spaces between numbers, a newline after each group */
   int foreign;        /* numbers are in the other byte order than this machine's */
   int longsize;       /* bytes of a long in the file: 4, or 8 (also written as 0) */
   int error;
   int quiet;
   int64_t objects;    /* objects written so far; the last one's number */
   int mapped;         /* storages that are aligned in the file may become private maps of it */
   struct br_span *map; /* of the whole file, NULL before the first such storage */
   struct br_span *span; /* memory for the next storages of medium size that are read */
} br_file;

/* Open or create by name; 0 or an errno. A file that is replaced as a whole is first written beside the old one:
   br_file_open_beside puts that file's name into `temporary` (room for `size` bytes; empty if the old file itself had
   to be opened), and br_file_replace renames it and gives it the old one's permissions. */
int br_file_open(br_file *file, const char *name, int mode);
int br_file_open_beside(br_file *file, const char *name, char *temporary, size_t size);
int br_file_replace(br_file *file, const char *temporary, const char *name);
int br_file_open_pipe(br_file *file, const char *command, int mode);
/* A file over the bytes of a CharStorage without the last one, which is a 0 that ends the text. */
void br_file_open_memory(br_file *file, br_storage *storage, int mode);
/* Write what is pending. 0, or -1. */
int br_file_flush(br_file *file);
/* Flush, close and free everything; wait for the command of a pipe. 0, or -1: not everything could be written. */
int br_file_close(br_file *file);

/* Make n bytes readable at data + position. Returns how many there are: perhaps more, or fewer at the end of the
   file. */
int64_t br_file_need(br_file *file, int64_t n);
int64_t br_file_read(br_file *file, void *to, int64_t n);
int64_t br_file_write(br_file *file, const void *from, int64_t n);
/* Copy n bytes from an offset (0-based) on, without moving the position. Returns how many there were. */
int64_t br_file_peek(br_file *file, int64_t offset, void *to, int64_t n);

int64_t br_file_tell(br_file *file);
/* 0, or -1: not possible. */
int br_file_seek(br_file *file, int64_t offset);
int br_file_seek_end(br_file *file);
/* Bytes between the position and the end; -1: unknown (a pipe). */
int64_t br_file_remaining(br_file *file);

/* Read or write n elements of a type, binary or as text. Returns how many. */
int64_t br_file_get(br_file *file, int dtype, void *to, int64_t n);
int64_t br_file_put(br_file *file, int dtype, const void *from, int64_t n);
/* Resize a storage to `size` elements that will be read from the file. 0, or -1: out of memory. */
int br_file_make_room(br_file *file, br_storage *storage, int64_t size);
/* If the file is `mapped`, make a storage a map of the next `size` elements and skip these. 1; 0: that is not
   possible. */
int br_file_map(br_file *file, br_storage *storage, int64_t size);
/* Make a storage a map of the first `size` elements of an open file, which must have them; `shared`: writes reach the
   file. 0, or -1 with errno set. */
int br_storage_map(br_storage *storage, int descriptor, int shared, int64_t size);
/* A line without its newline (`line`), or everything up to the end of the file, for br_file_free. `length`: its bytes;
   `consumed`: bytes read, with the newline. NULL: out of memory. */
char *br_file_text(br_file *file, int line, int64_t *length, int64_t *consumed);
void br_file_free(char *text);
/* The system's words for an errno. */
const char *br_file_message(int error);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#define BR_FILE_AHEAD 4096  /* bytes read ahead after a large read; few, as what follows is often large too */

#endif
