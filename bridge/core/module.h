/* The Lua C module that every state of ours loads: userdata for tensors, storages and Python objects. */
#ifndef BRIDGE_MODULE_H
#define BRIDGE_MODULE_H

#include "lua/lua_api.h"
#include "tensors/tensor.h"

/* The payload of a Python object's userdata. */
typedef struct br_reference {
   br_drop *drop;  /* drop->object is the object; the collector queues the node */
} br_reference;

/* Leaves a table of C functions on the stack:
 *   newtensor(metatable, dtype)   an empty tensor
 *   newstorage(metatable)         a storage userdata whose pointer is still NULL
 *   collect_tensor, collect_storage, collect_reference   their __gc
 *   readobject, writeobject       objects in files, see objects.h
 *   code, keepcode, filestamp     compiled Lua, see code.h */
__attribute__((visibility("default"))) int luaopen_bridge_core(lua_State *L);

#endif
