-- The lfs package (LuaFileSystem 1.8): what files are, directories, links, times and locks.
local ffi = require 'ffi'
local posix = require 'paths.posix'
local arguments = require 'paths.arguments'

ffi.cdef[[
int link(const char *old, const char *new);
int symlink(const char *target, const char *new);
typedef struct { long access, modification; } lfs_times;
int lfs_utime(const char *path, const lfs_times *times) __asm__("utime");
]]
local C = ffi.C

local lfs = {_VERSION = 'LuaFileSystem 1.8.0'}
rawset(_G, 'lfs', lfs)
package.loaded.lfs = lfs

local function text(index, name, value)
   return arguments.text(index, name, value, true)
end

require('lfs.attributes')(lfs)
require('lfs.directory')(lfs)
require('lfs.lock')(lfs)

function lfs.mkdir(path)
   return posix.outcome(posix.C.mkdir(text(1, 'mkdir', path), 509))
end

function lfs.rmdir(path)
   return posix.outcome(posix.C.rmdir(text(1, 'rmdir', path)))
end

function lfs.currentdir()
   local path, number = posix.cwd()
   if path then
      return path
   end
   return nil, posix.message(number), number
end

function lfs.chdir(path)
   if posix.C.chdir(text(1, 'chdir', path)) == 0 then
      return true
   end
   local message = posix.message(ffi.errno())
   return nil, string.format("Unable to change working directory to '%s'\n%s\n", path, message)
end

-- A hard link, or a symbolic one, named `new`.
function lfs.link(old, new, symbolic)
   old, new = text(1, 'link', old), text(2, 'link', new)
   local create = symbolic and C.symlink or C.link
   return posix.outcome(create(old, new))
end

local function seconds(index, value)
   local number = tonumber(value)
   if not number then
      error(string.format("bad argument #%d to 'touch' (number expected, got %s)", index, type(value)), 3)
   end
   return number
end

-- Set the times of access and of modification (the first one); now, if there are none.
function lfs.touch(path, access, modification)
   text(1, 'touch', path)
   if access == nil then
      return posix.outcome(C.lfs_utime(path, nil))
   end
   access = seconds(2, access)
   modification = modification == nil and access or seconds(3, modification)
   return posix.outcome(C.lfs_utime(path, ffi.new('lfs_times', access, modification)))
end

return lfs
