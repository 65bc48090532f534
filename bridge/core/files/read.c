/* Reading objects, in a loop instead of by recursion. An object is open until all its contents are read. The innermost
 * open one is on Lua's stack, with its current key; those around it are kept in a table, because the stack is
 * limited. */
#include "files/file.h"
#include "files/objects.h"

#include <string.h>

/* One open object: a table that gets `left` more entries, or an object of class `type` whose fields come next. */
typedef struct frame {
   int type;
   int haskey;
   int64_t left;
} frame;

typedef struct reader {
   lua_State *L;
   br_file *file;
   frame *frames;  /* a userdata's memory */
   int room;
   int depth;
   int truncated;
} reader;

enum { FILE_ = 1, OBJECTS, SPECIAL, FINISH, HANDLE, FRAMES, WAITING, OPEN, KEY };  /* places on the stack */

#define SHORT 4096    /* bytes of a string up to which the file's size is not checked */
#define PRESIZED 256  /* entries of a table for which room is made before they are read */

static int get(reader *r, int dtype, void *to, int64_t width)
{
   br_file *file = r->file;
   if (file->binary && !file->foreign) {
      if (br_file_need(file, width) >= width) {
         memcpy(to, file->data + file->position, (size_t)width);
         file->position += width;
         return 1;
      }
   }
   else if (br_file_get(file, dtype, to, 1) == 1) return 1;
   r->truncated = 1;
   return 0;
}

static int get_int(reader *r, int32_t *to) { return get(r, BR_INT, to, 4); }

static int corrupt(reader *r, const char *what, int number)
{
   return lua.luaL_error(r->L, "corrupt file: %s (%d, before byte %f)", what, number, (double)br_file_tell(r->file));
}

static int push_string(reader *r)
{
   br_file *file = r->file;
   int32_t length;
   if (!get_int(r, &length)) return 0;
   if (length < 0) return corrupt(r, "the length of a string is negative", length);
   int64_t left = length > SHORT ? br_file_remaining(file) : -1;  /* make no room for more than the file has */
   if ((left >= 0 && left < length) || br_file_need(file, length) < length) {
      r->truncated = 1;
      return 0;
   }
   lua.lua_pushlstring(r->L, (const char *)file->data + file->position, (size_t)length);
   file->position += length;
   if (!file->binary && file->spacing && length > 0) {
      char end[2];
      int64_t there = br_file_peek(file, br_file_tell(file), end, 2);
      if (there > 0 && end[0] == '\n') br_file_read(file, end, 1);
      else if (there > 1 && end[0] == '\r' && end[1] == '\n') br_file_read(file, end, 2);
   }
   return 1;
}

/* Open the object on top of the stack, and put the one around it into the table. */
static void open_frame(reader *r, int type, int64_t left)
{
   lua_State *L = r->L;
   if (r->depth > 0) {
      lua.lua_pushvalue(L, OPEN);
      lua.lua_rawseti(L, WAITING, 2 * r->depth - 1);
      lua.lua_pushvalue(L, KEY);
      lua.lua_rawseti(L, WAITING, 2 * r->depth);
      lua.lua_replace(L, OPEN);
      lua.lua_settop(L, OPEN);
   }
   if (r->depth == r->room) {
      frame *frames = lua.lua_newuserdata(L, 2 * (size_t)r->room * sizeof(frame));
      memcpy(frames, r->frames, (size_t)r->room * sizeof(frame));
      lua.lua_replace(L, FRAMES);
      r->frames = frames;
      r->room *= 2;
   }
   r->frames[r->depth++] = (frame){type, 0, left};
   lua.lua_pushnil(L);  /* the place of a key */
}

/* The innermost object is complete and the only one on the stack: put the one around it back, below it. */
static void close_frame(reader *r)
{
   lua_State *L = r->L;
   if (--r->depth == 0) return;
   lua.lua_rawgeti(L, WAITING, 2 * r->depth - 1);
   lua.lua_rawgeti(L, WAITING, 2 * r->depth);
   lua.lua_pushvalue(L, OPEN);
   lua.lua_remove(L, OPEN);
}

/* An empty table with room for its entries (at most PRESIZED: the file may be corrupt), as an array if its first key is
   a number. */
static void push_table(reader *r, int32_t size)
{
   int32_t type = OBJECT_STRING;
   if (size > PRESIZED) size = PRESIZED;
   if (!r->file->binary || r->file->foreign) size = 0;
   else if (br_file_need(r->file, 4) >= 4) memcpy(&type, r->file->data + r->file->position, 4);
   if (type == OBJECT_NUMBER) lua.lua_createtable(r->L, size, 0);
   else lua.lua_createtable(r->L, 0, size);
}

/* What was read: nothing, because the file ended; a complete value, now on the stack; the beginning of an object. */
enum { STOPPED, WHOLE, OPENED };

/* An object that was read before, found by its number, or the beginning of a new one. */
static int begin_referenced(reader *r, int32_t type)
{
   lua_State *L = r->L;
   int32_t number = 0, size;
   const int referenced = lua.lua_toboolean(L, OBJECTS);
   if (type != OBJECT_FUNCTION && !get_int(r, &number)) return STOPPED;
   if (referenced && type != OBJECT_FUNCTION) {
      lua.lua_rawgeti(L, OBJECTS, number);
      if (lua.lua_type(L, -1) != LUA_TNIL) return WHOLE;
      lua_pop(L, 1);
   }
   if (type == OBJECT_TABLE) {
      if (!get_int(r, &size)) return STOPPED;
      if (size < 0) return corrupt(r, "the size of a table is negative", size);
      push_table(r, size);
      if (referenced) {
         lua.lua_pushvalue(L, -1);
         lua.lua_rawseti(L, OBJECTS, number);
      }
      if (size == 0) return WHOLE;
      open_frame(r, type, size);
      return OPENED;
   }
   lua.lua_pushvalue(L, SPECIAL);
   lua.lua_pushvalue(L, HANDLE);
   lua.lua_pushinteger(L, type);
   lua.lua_pushinteger(L, number);
   lua.lua_call(L, 3, 2);
   const int fields = lua.lua_toboolean(L, -1);
   lua_pop(L, 1);
   if (!fields) return WHOLE;
   open_frame(r, type, 1);
   return OPENED;
}

static int begin(reader *r)
{
   lua_State *L = r->L;
   int32_t type, truth;
   double number;
   if (!get_int(r, &type)) return STOPPED;
   switch (type) {
   case OBJECT_NIL:
      lua.lua_pushnil(L);
      return WHOLE;
   case OBJECT_NUMBER:
      if (!get(r, BR_DOUBLE, &number, 8)) return STOPPED;
      lua.lua_pushnumber(L, number);
      return WHOLE;
   case OBJECT_STRING:
      return push_string(r) ? WHOLE : STOPPED;
   case OBJECT_BOOLEAN:
      if (!get_int(r, &truth)) return STOPPED;
      lua.lua_pushboolean(L, truth != 0);
      return WHOLE;
   case OBJECT_TABLE: case OBJECT_TORCH: case OBJECT_FUNCTION: case OBJECT_OLD_FUNCTION: case OBJECT_SHARED_FUNCTION:
      return begin_referenced(r, type);
   default:
      if (r->depth == 0) lua.luaL_error(L, "unknown object");
      return corrupt(r, "unknown object", type);
   }
}

/* Give the value on top of the stack to the innermost open object; if that is now complete, give it to the one around
   it, and so on. 1: no object is open. */
static int deliver(reader *r)
{
   lua_State *L = r->L;
   while (r->depth > 0) {
      frame *f = &r->frames[r->depth - 1];
      if (f->type != OBJECT_TABLE) {  /* its fields */
         lua.lua_pushvalue(L, FINISH);
         lua.lua_pushvalue(L, HANDLE);
         lua.lua_pushinteger(L, f->type);
         lua.lua_pushvalue(L, OPEN);
         lua.lua_pushvalue(L, KEY + 1);
         lua.lua_call(L, 4, 0);
         lua.lua_settop(L, OPEN);
         close_frame(r);
         continue;
      }
      if (!f->haskey) {
         int type = lua.lua_type(L, -1);
         if (type == LUA_TNIL) corrupt(r, "a key of a table is nil", r->depth);
         if (type == LUA_TNUMBER && lua.lua_tonumber(L, -1) != lua.lua_tonumber(L, -1))
            corrupt(r, "a key of a table is not a number", r->depth);
         lua.lua_replace(L, -2);
         f->haskey = 1;
         return 0;
      }
      lua.lua_rawset(L, -3);
      f->haskey = 0;
      if (--f->left > 0) {
         lua.lua_pushnil(L);
         return 0;
      }
      close_frame(r);
   }
   return 1;
}

int br_read_object(lua_State *L)
{
   reader r = {L, (br_file *)(intptr_t)lua.lua_tonumber(L, FILE_), NULL, 16, 0, 0};
   lua.lua_settop(L, HANDLE);
   r.frames = lua.lua_newuserdata(L, (size_t)r.room * sizeof(frame));
   lua.lua_createtable(L, 0, 0);
   for (;;) {
      int state = begin(&r);
      if (state == STOPPED) {
         int cause = r.file->error;
         if (r.file->quiet) {
            lua.lua_pushnil(L);
            lua.lua_pushboolean(L, 1);
            return 2;
         }
         return lua.luaL_error(L, "read error: read 0 blocks instead of 1 (%s at byte %f)",
                               cause ? strerror(cause) : "the file ends", (double)br_file_tell(r.file));
      }
      if (state == WHOLE && deliver(&r)) return 1;
   }
}
