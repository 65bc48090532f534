-- torch.PipeFile: what a command writes, or is given to read.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'

local C = native.C

return function(file, disk)
   local template

   -- command, mode ('r' or 'w'), and whether failing to start gives nil.
   local function new(...)
      local command, mode, quiet = file.named(...)
      if mode ~= 'r' and mode ~= 'w' then
         arguments.bad(2, "file mode should be 'r','w'")
      end
      local c = ffi.new('br_file')
      if C.br_file_open_pipe(c, command, file.mode(mode)) ~= 0 then
         if quiet then
            return nil
         end
         arguments.raise('cannot open <%s> in mode %s.  This might be because eg the executable doesn\'t exist, '
            .. 'but it could also be because you are out of memory.', command, file.modename(file.mode(mode)))
      end
      return file.new(template, c, {name = command})
   end

   local methods
   methods, template = file.class('torch.PipeFile', disk, new)

   function methods:__tostring__()
      local state = file.state(self, 1, 'torch.PipeFile')
      return string.format('torch.PipeFile on <%s> [status: %s -- mode: %s]', state.name,
         state.c.opened ~= 0 and 'open' or 'closed', file.modename(state.c.mode))
   end

   arguments.publish(methods)
end
