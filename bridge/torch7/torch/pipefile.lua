-- torch.PipeFile: what a command writes, or is given to read.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'

local C = native.C
local fail = arguments.fail

return function(file, disk)
   local template

   -- command, mode ('r' or 'w'), and whether failing to start gives nil.
   local function new(command, mode, quiet)
      if type(command) ~= 'string' then
         fail(1, '?', 'string expected, got ' .. (command == nil and 'no value' or type(command)))
      end
      mode = mode == nil and 'r' or mode
      if mode ~= 'r' and mode ~= 'w' then
         fail(2, '?', "file mode should be 'r' or 'w'")
      end
      local c = ffi.new('br_file')
      if C.br_file_open_pipe(c, command, file.mode(mode)) ~= 0 then
         if quiet then
            return nil
         end
         error(string.format('cannot open <%s> in mode %s', command, file.modename(file.mode(mode))), 3)
      end
      return file.new(template, c, {name = command})
   end

   local methods
   methods, template = file.class('torch.PipeFile', disk, new)

   function methods:__tostring__()
      local state = file.state('__tostring__', self)
      return string.format('torch.PipeFile on <%s> [status: %s -- mode: %s]', state.name,
         state.c.opened ~= 0 and 'open' or 'closed', file.modename(state.c.mode))
   end
end
