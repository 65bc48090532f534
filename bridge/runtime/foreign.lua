-- A real Torch7, whose tensors are its own userdata: which types it has, and tensors over foreign memory.
local ffi = require 'ffi'
local native = require 'bridge.native'

local C = native.C
local names = {[0] = 'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'}

local foreign = {}

local function address(pointer)
   return tonumber(ffi.cast('intptr_t', pointer))
end

-- The struct behind a tensor's or storage's userdata, which holds a pointer to it.
local function struct(ctype, object)
   return ffi.cast(ctype .. '**', object)[0]
end

-- Does this Torch7 lay out its tensors and storages as we read them?
local function known(torch)
   local sample = torch.DoubleTensor(2, 3):narrow(1, 2, 1)
   local t = struct('br_th_tensor', sample)
   local s = t.storage
   return address(t) == address(sample:cdata()) and t.nDimension == 2 and t.size[0] == 1 and t.size[1] == 3
      and t.stride[0] == 3 and t.stride[1] == 1 and t.storageOffset == 3
      and address(s) == address(sample:storage():cdata()) and s.size == 6
      and address(ffi.cast('double*', s.data) + 3) == address(sample:data()) and s.allocator ~= nil
end

-- Tell the boundary the types of a Torch7.
local function learn_types(torch)
   if not known(torch) then
      error('this Torch7 lays out its tensors in a way that is not known here, so they cannot be shared with Python', 0)
   end
   C.br_th_default(struct('br_th_storage', torch.ByteStorage(1)).allocator)
   for dtype, name in pairs(names) do
      local tensor, storage = torch.getmetatable('torch.' .. name .. 'Tensor'),
         torch.getmetatable('torch.' .. name .. 'Storage')
      if tensor and storage then -- old ones have no halves
         native.register('tensor', dtype, tensor)
         native.register('storage', dtype, storage)
      end
   end
end

-- A tensor over `extent` elements at `address`, whose storage takes over the caller's reference to `block` in the end.
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

-- ---- what a real Torch7 would do otherwise

-- Have TH raise its errors in this state, and collect its memory, when it runs on this thread: on any other than the
-- one that loaded it, TH would end the process. Whether it has been told.
function foreign.answer_thread()
   local torch = package.loaded.torch
   local update
   if type(torch) == 'table' then
      update = rawget(torch, 'updatethreadlocals') or rawget(torch, 'updateerrorhandlers')
   end
   if update then
      foreign.running = coroutine.running() -- TH has its address then, so it must not be collected
      update()
   end
   return update ~= nil
end

-- Functions in files are code of whoever wrote the file: they load as functions that raise when they are called.
-- (Torch7 gives the string that it reads, bytecode or not, to loadstring.)
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

-- What is done when a package has been loaded. The states that `threads` makes find packages by the environment alone.
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

-- Have the hooks called: a loader that comes first lets the others find the package.
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
