/* The contents of files: elements in binary, in foreign byte order or as text, and lines of text. */
#define _GNU_SOURCE
#include "files/file.h"
#include "loops/loops.h"
#include "tensors/element.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN 512  /* characters of the longest number */

static void reverse(char *data, size_t width, int64_t n)
{
   for (; n > 0; n--, data += width)
      for (size_t i = 0; i < width / 2; i++) {
         char kept = data[i];
         data[i] = data[width - 1 - i];
         data[width - 1 - i] = kept;
      }
}

/* ---- binary */

/* Longs that take four bytes in the file. */
static int64_t get_short_longs(br_file *file, int64_t *to, int64_t n)
{
   int64_t done = 0;
   while (done < n) {
      int32_t part[1024];
      int64_t wanted = n - done < 1024 ? n - done : 1024;
      int64_t got = br_file_read(file, part, wanted * 4) / 4;
      if (file->foreign) reverse((char *)part, 4, got);
      for (int64_t i = 0; i < got; i++) to[done + i] = part[i];
      done += got;
      if (got < wanted) break;
   }
   return done;
}

static int64_t put_parts(br_file *file, int dtype, const char *from, int64_t n)
{
   const size_t from_width = br_element_size(dtype);
   const int narrow = dtype == BR_LONG && file->longsize == 4;
   const size_t width = narrow ? 4 : from_width;
   int64_t done = 0;
   while (done < n) {
      char part[8192];
      int64_t some = (int64_t)(sizeof part / from_width);
      if (some > n - done) some = n - done;
      if (narrow)
         for (int64_t i = 0; i < some; i++)
            ((int32_t *)(void *)part)[i] = (int32_t)((const int64_t *)(const void *)from)[done + i];
      else memcpy(part, from + (size_t)done * width, (size_t)some * width);
      if (file->foreign) reverse(part, width, some);
      int64_t put = br_file_write(file, part, some * (int64_t)width) / (int64_t)width;
      done += put;
      if (put < some) break;
   }
   return done;
}

static int64_t get_binary(br_file *file, int dtype, void *to, int64_t n)
{
   if (dtype == BR_LONG && file->longsize == 4) return get_short_longs(file, to, n);
   int64_t width = (int64_t)br_element_size(dtype), bytes;
   if (__builtin_mul_overflow(n, width, &bytes)) return 0;
   int64_t got = br_file_read(file, to, bytes) / width;
   if (file->foreign && width > 1) reverse(to, (size_t)width, got);
   return got;
}

static int64_t put_binary(br_file *file, int dtype, const void *from, int64_t n)
{
   int64_t width = (int64_t)br_element_size(dtype);
   if ((dtype == BR_LONG && file->longsize == 4) || (file->foreign && width > 1))
      return put_parts(file, dtype, from, n);
   return br_file_write(file, from, n * width) / width;
}

/* ---- text */

/* The C locale: numbers in files have a decimal point, whatever locale the program uses. */
static locale_t plain(void)
{
   static locale_t made;
   locale_t locale = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
   if (!locale) {
      locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
      __atomic_store_n(&made, locale, __ATOMIC_RELEASE);
   }
   return locale;
}

static int peek_character(br_file *file) { return br_file_need(file, 1) > 0 ? file->data[file->position] : -1; }

/* Copy the characters of the next number; spaces before it are skipped. Returns how many (0: the end). */
static int token(br_file *file, char text[TOKEN])
{
   int c;
   while ((c = peek_character(file)) >= 0 && (c == ' ' || (c >= '\t' && c <= '\r'))) file->position++;
   int64_t there = br_file_need(file, TOKEN - 1);
   int length = 0;
   while (length < there && length < TOKEN - 1) {
      c = file->data[file->position + length];
      if (c == 0 || c == ' ' || (c >= '\t' && c <= '\r')) break;
      text[length++] = (char)c;
   }
   text[length] = 0;
   return length;
}

/* Read a number written as text into `to`; 0: there is none. */
static int get_number(br_file *file, int dtype, void *to)
{
   char text[TOKEN], *end = text;
   if (!token(file, text)) return 0;
   double real = 0;
   int64_t whole = 0;
   if (dtype == BR_DOUBLE) real = strtod(text, &end);
   else if (dtype == BR_FLOAT || dtype == BR_HALF) real = strtof(text, &end);
   else whole = strtoll(text, &end, 10);
   if (end == text) return 0;
   file->position += end - text;
   switch (dtype) {
   case BR_SHORT: *(int16_t *)to = (int16_t)whole; break;
   case BR_INT: *(int32_t *)to = (int32_t)whole; break;
   case BR_LONG: *(int64_t *)to = whole; break;
   case BR_HALF: *(uint16_t *)to = br_half_from_double(real); break;
   case BR_FLOAT: *(float *)to = (float)real; break;
   default: *(double *)to = real;
   }
   return 1;
}

static int put_number(char *text, size_t room, int dtype, const void *from)
{
   switch (dtype) {
   case BR_SHORT: return snprintf(text, room, "%d", *(const int16_t *)from);
   case BR_INT: return snprintf(text, room, "%d", *(const int32_t *)from);
   case BR_LONG: return snprintf(text, room, "%lld", (long long)*(const int64_t *)from);
   case BR_HALF: return snprintf(text, room, "%.9g", br_half_to_double(*(const uint16_t *)from));
   case BR_FLOAT: return snprintf(text, room, "%.9g", (double)*(const float *)from);
   default: return snprintf(text, room, "%.17g", *(const double *)from);
   }
}

static int64_t get_text(br_file *file, int dtype, void *to, int64_t n)
{
   int64_t done = 0;
   if (dtype == BR_BYTE || dtype == BR_CHAR) done = br_file_read(file, to, n);
   else {
      locale_t before = uselocale(plain());
      size_t width = br_element_size(dtype);
      while (done < n && get_number(file, dtype, (char *)to + (size_t)done * width)) done++;
      uselocale(before);
   }
   if (file->spacing && n > 0) {  /* the newline after the numbers, \n or Windows' \r\n */
      int64_t there = br_file_need(file, 2);
      const uint8_t *next = file->data + file->position;
      if (there > 0 && next[0] == '\n') file->position++;
      else if (there > 1 && next[0] == '\r' && next[1] == '\n') file->position += 2;
   }
   return done;
}

static int64_t put_text(br_file *file, int dtype, const void *from, int64_t n)
{
   int64_t done = 0;
   if (dtype == BR_BYTE || dtype == BR_CHAR) done = br_file_write(file, from, n);
   else {
      locale_t before = uselocale(plain());
      size_t width = br_element_size(dtype);
      for (; done < n; done++) {
         char text[TOKEN];
         int length = put_number(text, sizeof text - 1, dtype, (const char *)from + (size_t)done * width);
         if (file->spacing && done < n - 1) text[length++] = ' ';
         if (br_file_write(file, text, length) < length) break;
      }
      uselocale(before);
   }
   if (file->spacing && n > 0 && done == n && br_file_write(file, "\n", 1) < 1) done--;
   return done;
}

int64_t br_file_get(br_file *file, int dtype, void *to, int64_t n)
{
   if (n <= 0) return 0;
   return file->binary ? get_binary(file, dtype, to, n) : get_text(file, dtype, to, n);
}

int64_t br_file_put(br_file *file, int dtype, const void *from, int64_t n)
{
   if (n <= 0) return 0;
   return file->binary ? put_binary(file, dtype, from, n) : put_text(file, dtype, from, n);
}

/* ---- lines */

char *br_file_text(br_file *file, int line, int64_t *length, int64_t *consumed)
{
   char *text = NULL;
   int64_t size = 0, room = 0;
   *consumed = 0;
   for (;;) {
      int64_t there = br_file_need(file, 1), take = there;
      const uint8_t *next = file->data + file->position;
      const uint8_t *end = line && there > 0 ? memchr(next, '\n', (size_t)there) : NULL;
      if (end) take = end - next;
      if (take < 0) take = 0;
      if (size + take + 1 > room) {
         room = 2 * (size + take + 1);
         char *more = realloc(text, (size_t)room);
         if (!more) {
            free(text);
            return NULL;
         }
         text = more;
      }
      if (take > 0) memcpy(text + size, next, (size_t)take);
      size += take;
      file->position += take + (end != NULL);
      *consumed += take + (end != NULL);
      if (end || there <= 0) break;
   }
   *length = size;
   return text;
}

void br_file_free(char *text) { free(text); }
