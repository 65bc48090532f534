-- The calls to Linux that paths, sys and lfs make. statx is used for what a file is: its structure, unlike that of
-- stat, is the same on every processor and with every C library.
local ffi = require 'ffi'

ffi.cdef[[
typedef struct { int64_t seconds; uint32_t nanoseconds; int32_t reserved; } paths_time;
typedef struct {
   uint32_t mask, blksize;
   uint64_t attributes;
   uint32_t nlink, uid, gid;
   uint16_t mode, spare;
   uint64_t ino, size, blocks, attributes_mask;
   paths_time access, birth, change, modification;
   uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
   uint64_t reserved[14];
} paths_status;
int paths_statx(int directory, const char *path, int flags, unsigned int mask, paths_status *status) __asm__("statx");

typedef struct { uint64_t ino; int64_t offset; uint16_t length; uint8_t type; char name[256]; } paths_entry;
void *opendir(const char *path);
paths_entry *readdir64(void *directory);
int closedir(void *directory);

char *getcwd(char *buffer, size_t size);
int chdir(const char *path);
int mkdir(const char *path, unsigned int mode);
int rmdir(const char *path);
char *strerror(int number);
typedef struct { char sysname[65], nodename[65], release[65], version[65], machine[65], domain[65]; } paths_system;
int uname(paths_system *system);
]]
local C = ffi.C

local HERE = -100 -- AT_FDCWD: relative names start at the working directory
local NOFOLLOW = 0x100 -- AT_SYMLINK_NOFOLLOW
local BASIC = 0x7ff -- STATX_BASIC_STATS
local ERANGE = 34

local posix = {}

local kinds = {
   [0x8000] = 'file', [0x4000] = 'directory', [0xa000] = 'link', [0xc000] = 'socket', [0x1000] = 'named pipe',
   [0x2000] = 'char device', [0x6000] = 'block device',
}

-- A file's status (of the link itself when `nofollow`); nil and the error's number.
function posix.status(path, nofollow)
   local status = ffi.new('paths_status')
   if C.paths_statx(HERE, path, nofollow and NOFOLLOW or 0, BASIC, status) ~= 0 then
      return nil, ffi.errno()
   end
   return status
end

-- What a mode says that a file is: 'file', 'directory', 'link', ...
function posix.kindof(mode)
   return kinds[bit.band(mode, 0xf000)] or 'other'
end

-- The same of a path; nil and the error's number if it is not there.
function posix.kind(path, nofollow)
   local status, number = posix.status(path, nofollow)
   if not status then
      return nil, number
   end
   return posix.kindof(status.mode)
end

-- The names in a directory, '.' and '..' too, in the order of the file system; nil and the error's number.
function posix.names(path)
   local directory = C.opendir(path)
   if directory == nil then
      return nil, ffi.errno()
   end
   local names = {}
   local entry = C.readdir64(directory)
   while entry ~= nil do
      names[#names + 1] = ffi.string(entry.name)
      entry = C.readdir64(directory)
   end
   C.closedir(directory)
   return names
end

function posix.cwd()
   local size = 256
   repeat
      local buffer = ffi.new('char[?]', size)
      if C.getcwd(buffer, size) ~= nil then
         return ffi.string(buffer)
      end
      size = size * 2
   until ffi.errno() ~= ERANGE
   return nil, ffi.errno()
end

function posix.message(number)
   return ffi.string(C.strerror(number))
end

-- A call's outcome as Lua's own functions give it: true, or nil, 'PREFIX: what went wrong' and the error's number.
function posix.outcome(result, prefix)
   if result == 0 then
      return true
   end
   local number = ffi.errno()
   local message = posix.message(number)
   return nil, prefix and prefix .. ': ' .. message or message, number
end

posix.C = C

return posix
