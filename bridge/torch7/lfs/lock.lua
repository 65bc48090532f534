-- Locks on files, and on directories by means of a link in them.
local ffi = require 'ffi'
local posix = require 'paths.posix'
local arguments = require 'paths.arguments'

ffi.cdef[[
typedef struct { short type, whence; long start, length; int process; } lfs_lock;
int fcntl(int descriptor, int command, ...);
int fileno(void *file);
int unlink(const char *path);
]]
local C = ffi.C

local SET = 6 -- F_SETLK: at once or not at all
local kinds = {r = 0, w = 1, u = 2}

-- An open file, or an error at the caller of the function named `name`.
local function check(name, file)
   local kind = io.type(file)
   if not kind then
      error(string.format("bad argument #1 to '%s' (FILE* expected, got %s)", name,
         file == nil and 'no value' or type(file)), 3)
   elseif kind == 'closed file' then
      error(name .. ': closed file', 3)
   end
   return file
end

-- Where a part begins, or how long it is; 0 if it is not given.
local function part(index, name, value)
   if value == nil then
      return 0
   end
   return tonumber(value)
      or error(string.format("bad argument #%d to '%s' (number expected, got %s)", index, name, type(value)), 3)
end

local function set(file, kind, start, length)
   local lock = ffi.new('lfs_lock', {type = kind, start = start, length = length})
   local ok, message = posix.outcome(C.fcntl(C.fileno(file), SET, lock))
   if ok then
      return true
   end
   return nil, message
end

return function(lfs)
   -- Lock a file for reading ('r') or writing ('w'), all of it or a part.
   function lfs.lock(file, mode, start, length)
      check('lock', file)
      local kind = kinds[arguments.text(2, 'lock', mode, true):sub(1, 1)]
      if not kind then
         error('lock: invalid mode', 2)
      end
      return set(file, kind, part(3, 'lock', start), part(4, 'lock', length))
   end

   function lfs.unlock(file, start, length)
      check('unlock', file)
      return set(file, kinds.u, part(2, 'unlock', start), part(3, 'unlock', length))
   end

   -- There is one mode here, so nothing changes.
   function lfs.setmode(file, mode)
      check('setmode', file)
      mode = arguments.text(2, 'setmode', mode, true)
      if mode ~= 'binary' and mode ~= 'text' then
         error(string.format("bad argument #2 to 'setmode' (invalid option '%s')", mode), 2)
      end
      return true, 'binary'
   end

   -- Lock a directory: an object whose `free` gives it back, or nil and a message when somebody has it.
   function lfs.lock_dir(path)
      local name = arguments.text(1, 'lock_dir', path, true) .. '/lockfile.lfs'
      if C.symlink('lock', name) ~= 0 then
         return nil, posix.message(ffi.errno())
      end
      local held = true
      local lock = newproxy(true)
      local function free()
         if held then
            held = false
            C.unlink(name)
         end
      end
      getmetatable(lock).__index = {free = free}
      getmetatable(lock).__gc = free
      return lock
   end
end
