-- Tensors and storages as elements of tds. A stored tensor is a box in C memory that shares the tensor's storage;
-- within a Lua state the same box gives the same tensor back as long as that is alive.
local ffi = require 'ffi'
local torch = require 'torch'
local object = require 'torch.object'
local elements = require 'torch.elements'
local C = require 'tds.C'
local elem = require 'tds.elem'

local box = ffi.typeof('tds_tensor *')
local storagepointer = ffi.typeof('br_storage *')

local boxes = setmetatable({}, {__mode = 'k'})   -- tensor -> its box
local tensors = setmetatable({}, {__mode = 'v'}) -- address of a box -> its tensor

local function address(pointer)
   return tonumber(ffi.cast('intptr_t', pointer))
end

local function remember(tensor, pointer)
   boxes[tensor] = ffi.gc(pointer, C.tds_tensor_free)
   tensors[address(pointer)] = tensor
end

local function nomemory()
   error('not enough memory')
end

local function settensor(tensor)
   local pointer = boxes[tensor]
   if not pointer then
      pointer = C.tds_tensor_new()
      if pointer == nil then
         nomemory()
      end
      remember(tensor, pointer)
   end
   if C.tds_tensor_store(pointer, object.tensor(tensor)) ~= 0 then
      nomemory()
   end
   object.keep(tensor)
   C.tds_tensor_retain(pointer)
   return pointer, C.tds_tensor_free
end

local function gettensor(data)
   local pointer = ffi.cast(box, data)
   local tensor = tensors[address(pointer)]
   if not tensor then
      tensor = object.newtensor(C.tds_tensor_dtype(pointer))
      if C.tds_tensor_load(pointer, object.tensor(tensor)) ~= 0 then
         nomemory()
      end
      C.tds_tensor_retain(pointer)
      remember(tensor, pointer)
   end
   return tensor
end

local function setstorage(storage)
   local pointer = object.storage(storage)
   C.br_storage_retain(pointer)
   object.keep(storage)
   return pointer, C.br_storage_release
end

local function getstorage(data)
   local pointer = ffi.cast(storagepointer, data)
   C.br_storage_retain(pointer)
   return object.wrapstorage(pointer)
end

-- Those on a device too, if cutorch has been loaded by now.
for id in pairs(object.metatables) do
   local element = elements[id]
   elem.addctype(element.tensortype, C.tds_tensor_free, settensor, gettensor)
   elem.addctype(element.storagetype, C.br_storage_release, setstorage, getstorage)
end

return torch
