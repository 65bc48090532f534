-- The results of commands, as in Lua 5.2: os.execute and closing a pipe return true or nil, then 'exit' or 'signal',
-- then the exit code or the signal's number.
local ffi = require 'ffi'

ffi.cdef 'int pclose(void *stream);'

local commands = {}

-- The three results for a wait status; -1: the command could not be run.
local function status(code)
   if code == -1 then
      return nil, 'exit', -1
   end
   local signal = code % 128
   if signal ~= 0 then
      return nil, 'signal', signal
   end
   local exit = (code - code % 256) / 256
   return exit == 0 or nil, 'exit', exit
end

function commands.execute(native)
   return function(command)
      if command == nil then
         return native() ~= 0
      end
      return status(native(command))
   end
end

local PIPE, KIND = 1, 3 -- in LuaJIT's struct of a file: {FILE *stream; uint32_t type;}

-- The address of an open pipe's FILE pointer, which becomes NULL when the pipe is closed; nil for other files.
local function pipe(file)
   if io.type(file) ~= 'file' then
      return nil
   end
   local place = ffi.cast('void **', tonumber(string.format('%p', file)))
   if place[0] ~= ffi.cast('void *', file) or bit.band(ffi.cast('uint32_t *', place + 1)[0], KIND) ~= PIPE then
      return nil
   end
   return place
end

-- `close` of files, with these results for pipes.
function commands.close(native)
   return function(...)
      local place = pipe((...))
      if not place then
         return native(...)
      end
      local stream = place[0]
      place[0] = nil
      return status(ffi.C.pclose(stream))
   end
end

return commands
