-- torch.DiskFile: a file by its name.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'

local C = native.C

return function(file)
   local template

   -- name, mode ('r', 'w' or 'rw'; a file in 'rw' need not exist), and whether failing to open gives nil.
   local function new(...)
      local name, mode, quiet = file.named(...)
      local number = file.mode(mode)
      if not number then
         arguments.bad(2, "file mode should be 'r','w' or 'rw'")
      end
      local c = ffi.new('br_file')
      if name:find('\0', 1, true) or C.br_file_open(c, name, number) ~= 0 then
         if quiet then
            return nil
         end
         arguments.raise('cannot open <%s> in mode %s', name, file.modename(number))
      end
      return file.new(template, c, {name = name})
   end

   local methods
   methods, template = file.class('torch.DiskFile', file.metatable, new)

   -- A file over an opened br_file.
   function file.disk(c, name)
      return file.new(template, c, {name = name})
   end

   -- Bytes of a long in the file: 4, 8, or 0 for this machine's (when read: as the file's objects show).
   local function longsize(look, name)
      return function(self, size)
         local state = look(self, 1, name)
         size = arguments.truncated(arguments.number(size) or 0)
         if size ~= 0 and size ~= 4 and size ~= 8 then
            arguments.bad(1, 'Invalid long size specified')
         end
         state.c.longsize = size
         return self
      end
   end
   methods.longSize = longsize(file.opened, 'torch.DiskFile')
   file.longSize = longsize(file.state, 'torch.MemoryFile')

   local swapped = {
      nativeEndianEncoding = false,
      littleEndianEncoding = ffi.abi('be'),
      bigEndianEncoding = ffi.abi('le')
   }
   for name, foreign in pairs(swapped) do
      methods[name] = function(self)
         local _, c = file.opened(self, 1, 'torch.DiskFile')
         c.foreign = foreign and 1 or 0
         return self
      end
   end

   function methods.isLittleEndianCPU()
      return ffi.abi('le')
   end

   function methods.isBigEndianCPU()
      return ffi.abi('be')
   end

   function methods:noBuffer()
      local state, c = file.opened(self, 1, 'torch.DiskFile')
      c.unbuffered = 1
      if C.br_file_flush(c) ~= 0 then
         file.trouble(state, 'write error: unable to flush')
      end
      return self
   end

   function methods:__tostring__()
      local state = file.state(self, 1, 'torch.DiskFile')
      return string.format('torch.DiskFile on <%s> [status: %s -- mode %s]', state.name,
         state.c.opened ~= 0 and 'open' or 'closed', file.modename(state.c.mode))
   end

   arguments.publish(methods)

   return methods
end
