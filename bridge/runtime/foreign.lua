-- Support for a real Torch7 installation: which tensor types it has, and its tensors over memory that Python lends.
local ffi = require 'ffi'
local native = require 'bridge.native'

local C = native.C
local names = {[0] = 'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'}

local foreign = {}

local function address(pointer)
   return tonumber(ffi.cast('intptr_t', pointer))
end

-- The struct of a tensor or storage; its userdata holds a pointer to it.
local function struct(ctype, object)
   return ffi.cast(ctype .. '**', object)[0]
end

-- Do the structs of this Torch7 have the layout that we read?
local function known(torch)
   local sample = torch.DoubleTensor(2, 3):narrow(1, 2, 1)
   local t = struct('br_th_tensor', sample)
   local s = t.storage
   return address(t) == address(sample:cdata()) and t.nDimension == 2 and t.size[0] == 1 and t.size[1] == 3
      and t.stride[0] == 3 and t.stride[1] == 1 and t.storageOffset == 3
      and address(s) == address(sample:storage():cdata()) and s.size == 6
      and address(ffi.cast('double*', s.data) + 3) == address(sample:data()) and s.allocator ~= nil
end

-- Register the tensor and storage types of a Torch7 with the boundary.
local function learn_types(torch)
   if not known(torch) then
      error('this Torch7 lays out its tensors in a way that is not known here, so they cannot be shared with Python', 0)
   end
   C.br_th_default(struct('br_th_storage', torch.ByteStorage(1)).allocator)
   for dtype, name in pairs(names) do
      local tensor, storage = torch.getmetatable('torch.' .. name .. 'Tensor'),
         torch.getmetatable('torch.' .. name .. 'Storage')
      if tensor and storage then -- old versions have no half type
         native.register('tensor', dtype, tensor)
         native.register('storage', dtype, storage)
      end
   end
end

-- A tensor over `extent` elements at the address `start`. On success its storage takes over the caller's reference to
-- `block`.
function foreign.tensor(dtype, start, extent, sizes, strides, block)
   local torch = require 'torch'
   local name = names[dtype]
   if not torch[name .. 'Tensor'] then
      error('this Torch7 has no ' .. name .. 'Tensor; pass an array of another dtype', 0)
   elseif extent == 0 then
      return torch[name .. 'Tensor']()
   end
   local storage = torch[name .. 'Storage'](extent, start)
   local tensor = torch[name .. 'Tensor'](storage, 1, torch.LongStorage(sizes), torch.LongStorage(strides))
   if C.br_th_own(struct('br_th_storage', storage), ffi.cast('br_block*', block)) ~= 0 then
      error('no memory for a tensor over an array', 0)
   end
   return tensor
end

-- ---- changes to the behaviour of a real Torch7

-- Make TH use this state on this thread, for its errors and for collecting garbage. Without that, an error on another
-- thread than the one that loaded TH would end the process. Returns whether this was possible.
function foreign.answer_thread()
   local torch = package.loaded.torch
   local update
   if type(torch) == 'table' then
      update = rawget(torch, 'updatethreadlocals') or rawget(torch, 'updateerrorhandlers')
   end
   if update then
      foreign.running = coroutine.running() -- TH keeps its address, so it must not be collected
      update()
   end
   return update ~= nil
end

-- Functions in files may be harmful code, so they are loaded as functions that raise an error when called. (Torch7
-- passes the source or byte code that it reads to loadstring.)
local function refuse_functions(torch)
   local reader = debug.getinfo(torch.getmetatable('torch.File').readObject, 'S').source
   local loadstring = _G.loadstring
   function _G.loadstring(...)
      local caller = debug.getinfo(2, 'S')
      if caller and caller.source == reader then
         return function()
            error('a function from a file was called; bridge.Lua(allow_functions=True) lets them run', 0)
         end
      end
      return loadstring(...)
   end
end

-- Functions to call after a package was loaded. States that `threads` makes find packages only by environment
-- variables.
local function hooks(options)
   return {
      torch = function(torch)
         learn_types(torch)
         if not options.allow_functions then
            refuse_functions(torch)
         end
      end,
      threads = options.export_paths,
   }
end

-- Install the hooks: as the first loader, which lets the others find the package and then calls its hook.
function foreign.watch(options)
   local after = hooks(options)
   local loaders = package.loaders
   table.insert(loaders, 1, function(name)
      for i = 2, after[name] and #loaders or 1 do
         local chunk = loaders[i](name)
         if type(chunk) == 'function' then
            return function(...)
               local result = chunk(...)
               after[name](result == nil and package.loaded[name] or result)
               return result
            end
         end
      end
   end)
end

return foreign
