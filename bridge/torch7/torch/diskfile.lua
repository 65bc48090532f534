-- torch.DiskFile: a file by its name.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'

local C = native.C
local fail = arguments.fail

return function(file)
   local template

   -- name, mode ('r', 'w' or 'rw'; a file in 'rw' need not exist), and whether failing to open gives nil.
   local function new(name, mode, quiet)
      if type(name) ~= 'string' then
         fail(1, '?', 'string expected, got ' .. (name == nil and 'no value' or type(name)))
      end
      mode = mode == nil and 'r' or mode
      local number = file.mode(mode)
      if not number then
         fail(2, '?', "file mode should be 'r','w' or 'rw'")
      end
      local c = ffi.new('br_file')
      if name:find('\0', 1, true) or C.br_file_open(c, name, number) ~= 0 then
         if quiet then
            return nil
         end
         error(string.format('cannot open <%s> in mode %s', name, file.modename(number)), 3)
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
   function methods:longSize(size)
      local _, c = file.opened('longSize', self)
      size = arguments.integer(2, 'longSize', size)
      if size ~= 0 and size ~= 4 and size ~= 8 then
         fail(2, 'longSize', 'Invalid long size specified')
      end
      c.longsize = size
      return self
   end

   local swapped = {
      nativeEndianEncoding = false,
      littleEndianEncoding = ffi.abi('be'),
      bigEndianEncoding = ffi.abi('le')
   }
   for name, foreign in pairs(swapped) do
      methods[name] = function(self)
         local _, c = file.opened(name, self)
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
      local state, c = file.opened('noBuffer', self)
      c.unbuffered = 1
      if C.br_file_flush(c) ~= 0 then
         file.trouble(state, 'write error: unable to flush')
      end
      return self
   end

   function methods:__tostring__()
      local state = file.state('__tostring__', self)
      return string.format('torch.DiskFile on <%s> [status: %s -- mode %s]', state.name,
         state.c.opened ~= 0 and 'open' or 'closed', file.modename(state.c.mode))
   end

   return methods
end
