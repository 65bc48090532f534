/* Writing objects, in a loop instead of by recursion. A table is open until all its entries are written. The innermost
 * open one is on Lua's stack, with its current key; those around it are kept in a table, because the stack is
 * limited. */
#include "files/file.h"
#include "files/objects.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* An open table, with `left` entries still to be written. */
typedef struct frame {
   int64_t left;
   int value;  /* 1: the value of the current key is on the stack, to be written next */
} frame;

typedef struct writer {
   lua_State *L;
   br_file *file;
   frame *frames;  /* a userdata's memory */
   int room;
   int depth;
} writer;

#define PATH_ENDS 10  /* keys that a message shows of either end of a long path */

/* Places on the stack. */
enum { FILE_ = 1, OBJECTS, SPECIAL, HANDLE, OBJECT, NAME, HOOK, FRAMES, WAITING, TABLE, KEY };

/* Raise an error unless all n bytes were written. */
static void must(writer *w, int64_t written, int64_t n)
{
   if (written == n || w->file->quiet) return;
   int cause = w->file->error;
   lua.luaL_error(w->L, "write error: wrote 0 blocks instead of 1 (%s)", cause ? strerror(cause) : "the file is full");
}

static void put_int(writer *w, int32_t value)
{
   if (w->file->binary && !w->file->foreign) must(w, br_file_write(w->file, &value, 4), 4);
   else must(w, br_file_put(w->file, BR_INT, &value, 1), 1);
}

static void put_string(writer *w)
{
   size_t length;
   const char *text = lua.lua_tolstring(w->L, -1, &length);
   if (length > INT_MAX)
      lua.luaL_error(w->L, "a string of %f bytes: the longest that a file can hold has 2147483647", (double)length);
   put_int(w, OBJECT_STRING);
   put_int(w, (int32_t)length);
   must(w, br_file_put(w->file, BR_CHAR, text, (int64_t)length), (int64_t)length);
}

/* Push the path of the object that is being written, such as a.b.c; only the beginning and the end of a long one. */
static void push_path(writer *w)
{
   lua_State *L = w->L;
   char path[2048];
   size_t length;
   int used = snprintf(path, sizeof path, "%.200s", lua.lua_tolstring(L, NAME, &length));
   for (int i = 0; i < w->depth; i++) {
      if (i == PATH_ENDS && w->depth > 2 * PATH_ENDS) {
         used += snprintf(path + used, sizeof path - (size_t)used, " ... ");
         i = w->depth - PATH_ENDS;
      }
      if (i == w->depth - 1) lua.lua_pushvalue(L, KEY);
      else lua.lua_rawgeti(L, WAITING, 2 * i + 2);
      int type = lua.lua_type(L, -1);
      const char *name = type == LUA_TSTRING ? lua.lua_tolstring(L, -1, &length) : "<?>";
      if (type == LUA_TNUMBER)
         used += snprintf(path + used, sizeof path - (size_t)used, ".%.14g", lua.lua_tonumber(L, -1));
      else used += snprintf(path + used, sizeof path - (size_t)used, ".%.80s", name);
      lua_pop(L, 1);
   }
   lua.lua_pushstring(L, path);
}

static void unwritable(writer *w)
{
   static const char *const names[] = {"nil", "boolean", "lightuserdata", "number", "string", "table", "function",
                                       "userdata", "thread", "proto", "cdata"};
   int type = lua.lua_type(w->L, -1);
   push_path(w);
   lua.luaL_error(w->L, "Unwritable object <%s> at %s", names[type], lua.lua_tolstring(w->L, -1, NULL));
}

/* Write the head of the table on top of the stack and open it, or only its number if it was written before. */
static void begin_table(writer *w)
{
   lua_State *L = w->L;
   const int referenced = lua.lua_toboolean(L, OBJECTS);
   put_int(w, OBJECT_TABLE);
   if (referenced) {
      lua.lua_pushvalue(L, -1);
      lua.lua_rawget(L, OBJECTS);
      if (lua.lua_type(L, -1) == LUA_TNUMBER) {
         put_int(w, (int32_t)lua.lua_tonumber(L, -1));
         lua_pop(L, 2);
         return;
      }
      lua_pop(L, 1);
   }
   int64_t number = ++w->file->objects, size = 0;
   if (referenced) {
      lua.lua_pushvalue(L, -1);
      lua.lua_pushnumber(L, (double)number);
      lua.lua_rawset(L, OBJECTS);
   }
   put_int(w, (int32_t)number);
   lua.lua_pushnil(L);
   while (lua.lua_next(L, -2)) {
      lua_pop(L, 1);
      size++;
   }
   put_int(w, (int32_t)size);
   if (w->depth > 0) {  /* keep the table around it */
      lua.lua_pushvalue(L, TABLE);
      lua.lua_rawseti(L, WAITING, 2 * w->depth - 1);
      lua.lua_pushvalue(L, KEY);
      lua.lua_rawseti(L, WAITING, 2 * w->depth);
      lua.lua_replace(L, TABLE);
      lua.lua_settop(L, TABLE);
   }
   if (w->depth == w->room) {
      frame *frames = lua.lua_newuserdata(L, 2 * (size_t)w->room * sizeof(frame));
      memcpy(frames, w->frames, (size_t)w->room * sizeof(frame));
      lua.lua_replace(L, FRAMES);
      w->frames = frames;
      w->room *= 2;
   }
   w->frames[w->depth++] = (frame){size, 0};
   lua.lua_pushnil(L);
}

/* Write the object on top of the stack and pop it; a table that has to be written is opened instead. */
static void begin(writer *w)
{
   lua_State *L = w->L;
   if (lua.lua_type(L, HOOK) != LUA_TNIL) {
      lua.lua_pushvalue(L, HOOK);
      lua.lua_insert(L, -2);
      lua.lua_call(L, 1, 1);
   }
   for (;;) {
      int type = lua.lua_type(L, -1);
      double number;
      if (type == LUA_TNIL) put_int(w, OBJECT_NIL);
      else if (type == LUA_TSTRING) put_string(w);
      else if (type == LUA_TBOOLEAN) {
         put_int(w, OBJECT_BOOLEAN);
         put_int(w, lua.lua_toboolean(L, -1));
      }
      else if (type == LUA_TNUMBER) {
         put_int(w, OBJECT_NUMBER);
         number = lua.lua_tonumber(L, -1);
         if (w->file->binary && !w->file->foreign) must(w, br_file_write(w->file, &number, 8), 8);
         else must(w, br_file_put(w->file, BR_DOUBLE, &number, 1), 1);
      }
      else {
         if (type == LUA_TTABLE) {
            if (!lua.lua_getmetatable(L, -1)) return begin_table(w);
            lua_pop(L, 1);
         }
         lua.lua_pushvalue(L, SPECIAL);
         lua.lua_pushvalue(L, HANDLE);
         lua.lua_pushvalue(L, -3);
         lua.lua_call(L, 2, 1);
         int answer = lua.lua_type(L, -1);
         if (answer == LUA_TNIL) {
            lua_pop(L, 1);
            return begin_table(w);
         }
         if (answer == LUA_TBOOLEAN && !lua.lua_toboolean(L, -1)) {
            lua_pop(L, 1);
            unwritable(w);
         }
         lua.lua_replace(L, -2);
         if (answer != LUA_TBOOLEAN) continue;
      }
      lua_pop(L, 1);
      return;
   }
}

int br_write_object(lua_State *L)
{
   writer w = {L, (br_file *)(intptr_t)lua.lua_tonumber(L, FILE_), NULL, 16, 0};
   lua.lua_settop(L, HOOK);
   w.frames = lua.lua_newuserdata(L, (size_t)w.room * sizeof(frame));
   lua.lua_createtable(L, 0, 0);
   lua.lua_pushvalue(L, OBJECT);
   begin(&w);
   while (w.depth > 0) {
      frame *f = &w.frames[w.depth - 1];
      if (f->value) {  /* table, key, value */
         f->value = 0;
         begin(&w);
      }
      else if (lua.lua_next(L, -2)) {
         if (f->left-- <= 0) lua.luaL_error(L, "a table grew while it was written");
         f->value = 1;
         lua.lua_pushvalue(L, -2);
         begin(&w);
      }
      else {
         if (f->left > 0) lua.luaL_error(L, "a table lost entries while it was written");
         lua_pop(L, 1);
         if (--w.depth > 0) {
            lua.lua_rawgeti(L, WAITING, 2 * w.depth - 1);
            lua.lua_rawgeti(L, WAITING, 2 * w.depth);
            if (w.frames[w.depth - 1].value) {  /* the table was a key: its value comes next */
               lua.lua_pushvalue(L, KEY);
               lua.lua_rawget(L, TABLE);
            }
         }
      }
   }
   return 0;
}
