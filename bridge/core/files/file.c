/* Files as windows of bytes: reading, writing, seeking. Opening is in open.c, numbers and lines are in text.c. */
#define _GNU_SOURCE
#include "files/file.h"
#include "tensors/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define WINDOW 65536
#define DIRECT 16384     /* bytes from which a read does not go through the window */
#define PART (1 << 30)  /* bytes per system call */
#define MIDDLE 16384    /* bytes from which a storage shares a span with its neighbours in the file */
#define SPAN (8LL << 20) /* bytes of such a span */

/* Look again where the bytes of a memory file are: other holders of its storage may have resized it. */
static void refresh(br_file *file)
{
   file->data = *file->storage->live;
   file->capacity = *file->storage->live_nbytes;
   if (file->storage->size < file->capacity) file->capacity = file->storage->size;
   if (file->filled > file->capacity) file->filled = file->capacity;
   if (file->position > file->filled) file->position = file->filled;
}

int br_file_flush(br_file *file)
{
   if (!file->dirty) return 0;
   int64_t done = 0;
   while (done < file->position) {
      int64_t left = file->position - done;
      ssize_t n = write(file->descriptor, file->data + done, (size_t)(left < PART ? left : PART));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
         file->error = errno;
         break;
      }
      done += n;
   }
   file->base += done;
   if (done < file->position) memmove(file->data, file->data + done, (size_t)(file->position - done));
   file->position -= done;
   file->filled = 0;
   file->dirty = file->position > 0;
   return file->dirty ? -1 : 0;
}

int br_file_close(br_file *file)
{
   if (!file->opened) return 0;
   int result = br_file_flush(file);
   if (file->stream) pclose(file->stream);
   else if (file->descriptor >= 0 && close(file->descriptor) && errno != EINTR) {
      file->error = errno;
      result = -1;
   }
   if (file->storage) br_storage_release(file->storage);
   else free(file->data);
   br_span_release(file->span);
   br_span_release(file->map);
   file->span = file->map = NULL;
   file->data = NULL;
   file->storage = NULL;
   file->stream = NULL;
   file->descriptor = -1;
   file->position = file->filled = file->capacity = file->opened = file->dirty = 0;
   return result;
}

/* Room for n bytes from the position on, in a window. 0, or -1: out of memory. */
static int room(br_file *file, int64_t n)
{
   if (file->capacity - file->position >= n) return 0;
   int64_t wanted = file->position + n, capacity = file->capacity * 2;
   if (capacity < WINDOW) capacity = WINDOW;
   if (capacity < wanted) capacity = wanted;
   uint8_t *data = realloc(file->data, (size_t)capacity);
   if (!data) {
      file->error = ENOMEM;
      return -1;
   }
   file->data = data;
   file->capacity = capacity;
   return 0;
}

static ssize_t read_some(br_file *file, void *to, int64_t n)
{
   for (;;) {
      ssize_t got = read(file->descriptor, to, (size_t)(n < PART ? n : PART));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) file->error = errno;
      return got < 0 ? 0 : got;
   }
}

/* From writing to reading: write what is pending, so that the window is empty. */
static int turn_to_reading(br_file *file) { return file->dirty ? br_file_flush(file) : 0; }

int64_t br_file_need(br_file *file, int64_t n)
{
   if (file->storage) refresh(file);
   if (file->dirty && turn_to_reading(file)) return 0;
   int64_t there = file->filled - file->position;
   if (there >= n || file->descriptor < 0) return there;
   if (file->position > 0) {
      memmove(file->data, file->data + file->position, (size_t)there);
      file->base += file->position;
      file->position = 0;
      file->filled = there;
   }
   if (room(file, n)) return there;
   if (room(file, file->ahead)) return there;
   while (file->filled < n) {
      int64_t most = n > file->ahead ? n : file->ahead;
      ssize_t got = read_some(file, file->data + file->filled, most - file->filled);
      if (got <= 0) break;
      file->filled += got;
   }
   if (file->ahead < WINDOW) file->ahead *= 2;
   return file->filled;
}

/* A large read: straight to its destination. The last system call also fills the window with what comes next. */
static int64_t read_past(br_file *file, char *to, int64_t n)
{
   file->base += file->position;
   file->position = file->filled = 0;
   file->ahead = BR_FILE_AHEAD;
   if (room(file, BR_FILE_AHEAD)) return 0;
   int64_t done = 0;
   while (done < n) {
      const int64_t left = n - done < PART ? n - done : PART;
      struct iovec parts[2] = {{to + done, (size_t)left}, {file->data, BR_FILE_AHEAD}};
      ssize_t got = readv(file->descriptor, parts, done + left == n ? 2 : 1);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) file->error = errno;
      if (got <= 0) break;
      if (got > left) file->filled = got - left;
      file->base += got - file->filled;
      done += got - file->filled;
   }
   return done;
}

int64_t br_file_read(br_file *file, void *to, int64_t n)
{
   int64_t done = br_file_need(file, n < DIRECT ? n : 0);
   if (done > n) done = n;
   if (done < 0) done = 0;
   if (done > 0) memcpy(to, file->data + file->position, (size_t)done);
   file->position += done;
   if (done == n || file->descriptor < 0 || n < DIRECT) return done;
   return done + read_past(file, (char *)to + done, n - done);
}

static int64_t write_memory(br_file *file, const void *from, int64_t n)
{
   refresh(file);
   int64_t wanted;
   if (__builtin_add_overflow(file->position, n, &wanted) || wanted > PTRDIFF_MAX - 1) return 0;
   if (wanted + 1 > file->capacity) {
      int64_t capacity = file->capacity < (PTRDIFF_MAX >> 1) ? file->capacity * 2 : 0;
      if (capacity < 1024) capacity = 1024;
      if (capacity < wanted + 1) capacity = wanted + 1;
      if (br_storage_resize(file->storage, capacity)) {
         file->error = ENOMEM;
         return 0;
      }
      refresh(file);
   }
   memcpy(file->data + file->position, from, (size_t)n);
   file->position = wanted;
   if (wanted > file->filled) {
      file->filled = wanted;
      file->data[wanted] = 0;
   }
   return n;
}

/* From reading to writing: forget what was read ahead, and move the descriptor back to the position. */
static int turn_to_writing(br_file *file)
{
   if (file->filled > 0 && lseek(file->descriptor, file->base + file->position, SEEK_SET) < 0) {
      file->error = errno;
      return -1;
   }
   file->base += file->position;
   file->position = file->filled = 0;
   return 0;
}

int64_t br_file_write(br_file *file, const void *from, int64_t n)
{
   if (n <= 0) return 0;
   if (!file->opened) {  /* the method that writes an object may have closed it */
      file->error = EBADF;
      return 0;
   }
   if (file->storage) return write_memory(file, from, n);
   if (!file->dirty && turn_to_writing(file)) return 0;
   if (n < WINDOW) {
      if (file->position + n > WINDOW && br_file_flush(file)) return 0;
      if (room(file, n)) return 0;
      memcpy(file->data + file->position, from, (size_t)n);
      file->position += n;
      file->dirty = 1;
      return file->unbuffered && br_file_flush(file) ? 0 : n;
   }
   if (br_file_flush(file)) return 0;
   int64_t done = 0;
   while (done < n) {
      int64_t left = n - done;
      ssize_t some = write(file->descriptor, (const char *)from + done, (size_t)(left < PART ? left : PART));
      if (some < 0 && errno == EINTR) continue;
      if (some < 0) {
         file->error = errno;
         break;
      }
      done += some;
   }
   file->base += done;
   return done;
}

int64_t br_file_peek(br_file *file, int64_t offset, void *to, int64_t n)
{
   if (file->storage) refresh(file);
   if (file->dirty || offset < 0) return 0;
   int64_t start = offset - file->base;
   if (start >= 0 && start <= file->filled && (file->filled - start >= n || file->descriptor < 0)) {
      int64_t there = file->filled - start;
      if (there > n) there = n;
      memcpy(to, file->data + start, (size_t)there);
      return there;
   }
   if (file->descriptor < 0 || !file->seekable) return 0;
   ssize_t got = pread(file->descriptor, to, (size_t)n, offset);
   return got < 0 ? 0 : got;
}

int64_t br_file_tell(br_file *file)
{
   if (file->storage) refresh(file);
   return file->base + file->position;
}

int br_file_seek(br_file *file, int64_t offset)
{
   if (file->storage) refresh(file);
   if (offset < 0 || !file->seekable) return -1;
   if (!file->dirty && offset >= file->base && offset - file->base <= file->filled) {
      file->position = offset - file->base;
      return 0;
   }
   if (file->descriptor < 0) return -1;
   if (br_file_flush(file) || lseek(file->descriptor, offset, SEEK_SET) < 0) {
      file->error = errno;
      return -1;
   }
   file->base = offset;
   file->position = file->filled = 0;
   return 0;
}

int br_file_seek_end(br_file *file)
{
   if (file->storage) {
      refresh(file);
      file->position = file->filled;
      return 0;
   }
   if (!file->seekable || br_file_flush(file)) return -1;
   off_t end = lseek(file->descriptor, 0, SEEK_END);
   if (end < 0) {
      file->error = errno;
      return -1;
   }
   file->base = end;
   file->position = file->filled = 0;
   return 0;
}

int64_t br_file_remaining(br_file *file)
{
   if (file->storage) {
      refresh(file);
      return file->filled - file->position;
   }
   struct stat info;
   if (!file->seekable || fstat(file->descriptor, &info) || !S_ISREG(info.st_mode)) return -1;
   int64_t left = info.st_size - file->base - file->position;
   return left > 0 ? left : 0;
}

int br_file_make_room(br_file *file, br_storage *storage, int64_t size)
{
   int64_t bytes, left;
   if (size < 0 || __builtin_mul_overflow(size, (int64_t)br_element_size(storage->dtype), &bytes)) return -1;
   if (bytes >= MIDDLE && bytes < BR_LARGE) {
      if (file->span && br_storage_resize_in(storage, size, file->span) == 0) return 0;
      left = br_file_remaining(file);
      if (left >= 2 * BR_LARGE) {  /* less is not worth large pages */
         br_span_release(file->span);
         file->span = br_span_new(left < SPAN ? left : SPAN);
         if (file->span && br_storage_resize_in(storage, size, file->span) == 0) return 0;
      }
   }
   return br_storage_resize(storage, size);
}

int br_file_map(br_file *file, br_storage *storage, int64_t size)
{
   int64_t width = (int64_t)br_element_size(storage->dtype), start = br_file_tell(file), left, bytes;
   const int plain = file->binary && !file->foreign && !(storage->dtype == BR_LONG && file->longsize == 4);
   if (!file->mapped || !plain || file->descriptor < 0 || file->dirty || size <= 0 || start % width) return 0;
   left = br_file_remaining(file);
   if (left < 0 || __builtin_mul_overflow(size, width, &bytes) || bytes > left) return 0;
   if (!file->map) file->map = br_span_map(file->descriptor, start + left, 0);
   if (!file->map) return 0;
   if (br_storage_adopt(storage, size, br_span_at(file->map, start), file->map)) {
      br_span_release(file->map);
      return 0;
   }
   br_file_seek(file, start + bytes);
   return 1;
}

int br_storage_map(br_storage *storage, int descriptor, int shared, int64_t size)
{
   int64_t bytes;
   if (__builtin_mul_overflow(size, (int64_t)br_element_size(storage->dtype), &bytes)) return -1;
   br_span *map = br_span_map(descriptor, bytes, shared);
   if (!map) return -1;
   int failed = br_storage_adopt(storage, size, br_span_at(map, 0), map);
   if (failed) br_span_release(map);
   br_span_release(map);
   return failed ? -1 : 0;
}

const char *br_file_message(int error) { return strerror(error); }
