/* The C module that every Lua state of this package loads: userdata for tensors, storages and Python objects. */
#ifndef BRIDGE_MODULE_H
#define BRIDGE_MODULE_H

#include "lua/lua_api.h"
#include "tensors/tensor.h"

/* The payload of a Python object's userdata. */
typedef struct br_reference {
   br_drop *drop;  /* drop->object is the Python object; __gc queues the node */
} br_reference;

/* Leaves a table of C functions on the stack:
 *   newtensor(metatable, dtype)   an empty tensor
 *   newstorage(metatable)         a storage userdata whose pointer is still NULL
 *   row(metatable, tensor, i)     tensor[i] of a tensor with two or more dimensions
 *   collect_tensor, collect_storage, collect_reference   the __gc functions of the three kinds of userdata
 *   readobject, writeobject       objects in files, see objects.h
 *   code, keepcode, filestamp     compiled Lua, see code.h */
__attribute__((visibility("default"))) int luaopen_bridge_core(lua_State *L);

#endif
