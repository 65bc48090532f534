-- torch.MemoryFile: a file in the memory of a CharStorage, which ends with a zero that is not part of it.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'

local C = native.C
local CHAR = elements.Char.id

return function(file)
   local template

   -- [storage], [mode]
   local function new(storage, mode)
      local given = object.storagetype(storage) == CHAR
      if given then
         mode = file.text(2, mode, 'rw')
         local pointer = object.storage(storage)
         local size = object.valid(pointer)
         if size == 0 or ffi.cast('char*', pointer.live[0])[size - 1] ~= 0 then
            arguments.bad(1, 'provided CharStorage must be terminated by 0')
         end
      else
         mode = file.text(1, storage, 'rw')
      end
      local number = file.mode(mode)
      if not number then
         arguments.bad(2, "file mode should be 'r','w' or 'rw'")
      end
      if not given then
         storage = object.wrapstorage(object.allocate(CHAR, 1))
         ffi.cast('char*', object.storage(storage).live[0])[0] = 0
      end
      local pointer = object.storage(storage)
      local c = ffi.new('br_file')
      C.br_file_open_memory(c, pointer, number)
      object.keep(storage)
      return file.new(template, c, {})
   end

   local methods
   methods, template = file.class('torch.MemoryFile', file.metatable, new)

   function file.memory(c)
      return file.new(template, c, {})
   end

   -- The storage itself, cut to the file's contents and the zero behind them.
   function methods:storage()
      local _, c = file.opened(self, 1, 'torch.MemoryFile')
      C.br_file_tell(c)
      object.resizestorage(c.storage, c.filled + 1)
      ffi.cast('char*', c.storage.live[0])[c.filled] = 0
      C.br_storage_retain(c.storage)
      return object.wrapstorage(c.storage)
   end

   methods.longSize = file.longSize

   function methods:__tostring__()
      local state = file.state(self, 1, 'torch.MemoryFile')
      return string.format('torch.MemoryFile [status: %s -- mode: %s]', state.c.opened ~= 0 and 'open' or 'closed',
         file.modename(state.c.mode))
   end

   arguments.publish(methods)
end
