/* Objects in files. Numbers, strings, booleans and plain tables are read and written here, nested as deeply as memory
 * allows. Objects with a class, and functions, are left to functions in Lua. */
#ifndef BRIDGE_OBJECTS_H
#define BRIDGE_OBJECTS_H

#include "lua/lua_api.h"

/* readobject(file, objects, special, finish, handle): the next object of the br_file at address `file`. `objects`
   (number -> object) is false when references are not to be followed. `special(handle, type, number)` reads an object
   with a class, or a function. It returns the object and whether a value with its fields follows in the file;
   `finish(handle, type, object, fields)` is then called with that value. */
int br_read_object(lua_State *L);

/* writeobject(file, objects, special, handle, object, name [, hook]): `objects` (object -> number) is false when no
   references are to be written. `special(handle, object)` returns nil if the object is to be written as a plain table,
   true if it has written it, false if it cannot be written, or a value that is to be written next (its fields or
   upvalues). `hook(object)` returns what is written in place of an object. `name` is the object's name in messages. */
int br_write_object(lua_State *L);

/* The kinds of objects; each object in a file begins with this number. */
enum { OBJECT_NIL, OBJECT_NUMBER, OBJECT_STRING, OBJECT_TABLE, OBJECT_TORCH, OBJECT_BOOLEAN, OBJECT_FUNCTION,
       OBJECT_OLD_FUNCTION, OBJECT_SHARED_FUNCTION };

#endif
