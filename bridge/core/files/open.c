/* Opening files: by name, beside a file that is to be replaced, as a pipe to a command, over a storage. */
#define _GNU_SOURCE
#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void prepare(br_file *file, int mode)
{
   memset(file, 0, sizeof *file);
   file->descriptor = -1;
   file->mode = mode;
   file->opened = 1;
   file->spacing = 1;
   file->ahead = BR_FILE_AHEAD;
}

static int attach(br_file *file, int descriptor, int mode)
{
   prepare(file, mode);
   struct stat info;
   if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
      close(descriptor);
      file->opened = 0;
      return EISDIR;
   }
   file->descriptor = descriptor;
   file->seekable = lseek(descriptor, 0, SEEK_CUR) >= 0;
   return 0;
}

int br_file_open(br_file *file, const char *name, int mode)
{
   int flags = mode == BR_FILE_READ    ? O_RDONLY
               : mode == BR_FILE_WRITE ? O_WRONLY | O_CREAT | O_TRUNC
                                       : O_RDWR | O_CREAT;
   int descriptor = open(name, flags | O_CLOEXEC, 0666);
   if (descriptor < 0) return errno;
   return attach(file, descriptor, mode);
}

int br_file_open_beside(br_file *file, const char *name, char *temporary, size_t size)
{
   static unsigned counter;
   struct stat info;
   char *target = realpath(name, NULL);  /* a link stays; what it points to is replaced */
   int exists = target && stat(target, &info) == 0;
   int fits = !exists || (S_ISREG(info.st_mode) && access(target, W_OK) == 0);
   int descriptor = -1;
   if (fits) {
      unsigned number = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
      int length = snprintf(temporary, size, "%s.%ld.%u.part", target ? target : name, (long)getpid(), number);
      if (length > 0 && (size_t)length < size)
         descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
   }
   free(target);
   if (descriptor < 0) {  /* a device, a directory we cannot write to, a name too long: open the file itself */
      temporary[0] = 0;
      return br_file_open(file, name, BR_FILE_WRITE);
   }
   return attach(file, descriptor, BR_FILE_WRITE);
}

int br_file_replace(br_file *file, const char *temporary, const char *name)
{
   char *target = realpath(name, NULL);
   struct stat info;
   int error = 0;
   if (target && stat(target, &info) == 0 && fchmod(file->descriptor, info.st_mode & 07777)) error = errno;
   if (br_file_close(file) && !error) error = file->error ? file->error : EIO;
   if (!error && rename(temporary, target ? target : name)) error = errno;
   free(target);
   return error;
}

int br_file_open_pipe(br_file *file, const char *command, int mode)
{
   FILE *stream = popen(command, mode == BR_FILE_READ ? "re" : "we");
   if (!stream) return errno;
   prepare(file, mode);
   file->stream = stream;
   file->descriptor = fileno(stream);
   return 0;
}

void br_file_open_memory(br_file *file, br_storage *storage, int mode)
{
   prepare(file, mode);
   br_storage_retain(storage);
   file->storage = storage;
   file->seekable = 1;
   file->filled = storage->size - 1;
   br_file_tell(file);  /* sets `data` and `capacity` from the storage */
}
