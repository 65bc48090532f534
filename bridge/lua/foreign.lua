-- Sharing memory with a real Torch7, whose tensors are its own userdata.
local ffi = require 'ffi'
local native = require 'bridge.native'

local names = {[0] = 'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'}
local dtypes = {}
for dtype, name in pairs(names) do
   dtypes[name] = dtype
end

local REFCOUNTED_AND_OURS_TO_FREE = 5 -- TH_STORAGE_REFCOUNTED | TH_STORAGE_FREEMEM

local foreign = {}

-- A tensor over `extent` elements at `address`; TH gives `block` back when the last tensor over it is gone.
function foreign.foreign_tensor(dtype, address, extent, sizes, strides, block)
   local torch = require 'torch'
   local name = names[dtype]
   if extent == 0 then
      native.C.br_block_release(ffi.cast('br_block*', block))
      return torch[name .. 'Tensor']()
   end
   local storage = torch[name .. 'Storage'](extent, tonumber(ffi.cast('intptr_t', address)))
   local th = ffi.cast('br_th_storage*', storage:cdata())
   th.allocator = native.C.br_block_allocator()
   th.allocatorContext = block
   th.flag = REFCOUNTED_AND_OURS_TO_FREE
   return torch[name .. 'Tensor'](storage, 1, torch.LongStorage(sizes), torch.LongStorage(strides))
end

-- dtype, address, sizes, strides of a tensor; nil for any other userdata.
function foreign.foreign_view(object)
   local torch = package.loaded.torch
   local name = torch and torch.typename(object)
   local dtype = name and dtypes[name:match('^torch%.(%a+)Tensor$')]
   if not dtype then
      return nil
   end
   local sizes, strides = {}, {}
   for d = 1, object:dim() do
      sizes[d], strides[d] = object:size(d), object:stride(d)
   end
   if #sizes == 0 then
      return dtype, 0, sizes, strides
   end
   return dtype, tonumber(ffi.cast('intptr_t', object:data())), sizes, strides
end

return foreign
