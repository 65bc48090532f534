/* Objects in files: numbers, strings, booleans and plain tables are read and written here, as deep as there is
 * memory; what has a class, and functions, are handed to Lua. */
#ifndef BRIDGE_OBJECTS_H
#define BRIDGE_OBJECTS_H

#include "lua/lua_api.h"

/* readobject(file, objects, special, finish, handle): the next object of the br_file at address `file`. `objects`
   (number -> object) is false when references are not to be followed. `special(handle, type, number)` reads what has
   a class, or a function, and says whether a value with its fields follows, which `finish(handle, type, object,
   fields)` then gets. */
int br_read_object(lua_State *L);

/* writeobject(file, objects, special, handle, object, name [, hook]): `objects` (object -> number) is false when no
   references are to be written. `special(handle, object)` returns nil for a plain table, true for what it has
   written, a value to go on with (fields, upvalues), or false: cannot be written. `hook(object)` replaces each object
   first. `name` stands for the object in messages. */
int br_write_object(lua_State *L);

/* What stands before an object. */
enum { OBJECT_NIL, OBJECT_NUMBER, OBJECT_STRING, OBJECT_TABLE, OBJECT_TORCH, OBJECT_BOOLEAN, OBJECT_FUNCTION,
       OBJECT_OLD_FUNCTION, OBJECT_SHARED_FUNCTION };

#endif
