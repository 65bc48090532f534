-- The paths package: names of files and directories, and the files themselves.
local ffi = require 'ffi'
local concat = require 'paths.concat'

ffi.cdef[[
int access(const char *path, int mode);
char *getcwd(char *buffer, size_t size);
int mkdir(const char *path, unsigned int mode);
int rmdir(const char *path);
void *opendir(const char *path);
int closedir(void *directory);
]]
local clib = ffi.C

local paths = {}
_G.paths = paths
package.loaded.paths = paths

function paths.cwd()
   local buffer = ffi.new('char[?]', 4096)
   local found = clib.getcwd(buffer, 4096)
   return found ~= nil and ffi.string(found) or nil
end

function paths.concat(...)
   return concat(paths.cwd, ...)
end

function paths.dirp(path)
   local directory = clib.opendir(path)
   if directory == nil then
      return false
   end
   clib.closedir(directory)
   return true
end

function paths.filep(path)
   return clib.access(path, 0) == 0 and not paths.dirp(path)
end

local function text(what, value)
   if type(value) ~= 'string' then
      error(string.format("bad argument #1 to '%s' (string expected, got %s)", what, type(value)), 3)
   end
   return value
end

-- The last part of a path, without `suffix` (or '.suffix') if it ends in that.
function paths.basename(path, suffix)
   local name = text('basename', path):gsub('/+$', ''):match('[^/]*$')
   if name == '' then
      name = path:sub(1, 1) == '/' and '/' or '.'
   end
   if suffix and suffix ~= '' then
      for _, ending in ipairs{suffix, '.' .. suffix} do
         if #name > #ending and name:sub(-#ending) == ending then
            local short = name:sub(1, -#ending - 1)
            return ending == suffix and suffix:sub(1, 1) ~= '.' and short:gsub('%.$', '') or short
         end
      end
   end
   return name
end

-- What lies before the last part of a path.
function paths.dirname(path)
   local directory = text('dirname', path):gsub('/+$', ''):match('^(.*)/[^/]*$')
   if not directory then
      return path:find('^/+$') and '/' or '.'
   end
   directory = directory:gsub('/+$', '')
   return directory == '' and '/' or directory
end

function paths.extname(path)
   return paths.basename(text('extname', path)):match('.%.([^.]*)$')
end

-- The absolute name of the file whose code calls this, or of a file beside it. Nil outside of files.
local function beside(level, name)
   local source = debug.getinfo(level, 'S').source
   if source:sub(1, 1) ~= '@' then
      return nil
   end
   local file = paths.concat(source:sub(2))
   return name and paths.concat(paths.dirname(file), name) or file
end

function paths.thisfile(name)
   return (beside(3, name))
end

-- Run a file; a relative name is looked up beside the calling file first. (A caller that returns what this gives, as
-- a tail call, cannot be seen: the name is then taken from the working directory.)
function paths.dofile(name)
   local file = beside(3, name)
   return dofile(file and paths.filep(file) and file or name)
end

function paths.mkdir(path)
   if clib.mkdir(path, 511) == 0 then
      return true
   end
   return paths.dirp(path) or nil
end

function paths.rmdir(path)
   return clib.rmdir(path) == 0 or nil
end

function paths.tmpname()
   return os.tmpname()
end

function paths.is_win()
   return false
end

function paths.is_mac()
   return jit.os == 'OSX'
end

paths.home = os.getenv('HOME') or '.'

return paths
