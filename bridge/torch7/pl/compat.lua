-- What differs between versions of Lua, as this one has it.
local ffi = require 'ffi'

local compat = {lua51 = true, jit = true, jit52 = true, dir_separator = '/', is_windows = ffi.os == 'Windows'}

compat.load, compat.setfenv, compat.getfenv = load, setfenv, getfenv

-- Run a command: true if it ended well, and its exit code.
function compat.execute(command)
   local ok, _, code = os.execute(command)
   return ok == true, code
end

return compat
