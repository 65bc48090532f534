-- What a file is: lfs.attributes and lfs.symlinkattributes.
local ffi = require 'ffi'
local posix = require 'paths.posix'
local arguments = require 'paths.arguments'

ffi.cdef[[
long readlink(const char *path, char *buffer, size_t size);
]]

-- The number of a device, as C's makedev puts it together.
local function device(major, minor)
   local low = bit.band(major, 0xfff) * 2^8 + bit.band(minor, 0xff)
   return low + (minor - bit.band(minor, 0xff)) * 2^12 + (major - bit.band(major, 0xfff)) * 2^32
end

local function permissions(mode)
   local letters = {}
   for i, letter in ipairs{'r', 'w', 'x', 'r', 'w', 'x', 'r', 'w', 'x'} do
      letters[i] = bit.band(mode, bit.lshift(1, 9 - i)) ~= 0 and letter or '-'
   end
   return table.concat(letters)
end

local fields = {
   mode = function(status) return posix.kindof(status.mode) end,
   dev = function(status) return device(status.dev_major, status.dev_minor) end,
   rdev = function(status) return device(status.rdev_major, status.rdev_minor) end,
   permissions = function(status) return permissions(status.mode) end,
   access = function(status) return tonumber(status.access.seconds) end,
   modification = function(status) return tonumber(status.modification.seconds) end,
   change = function(status) return tonumber(status.change.seconds) end,
}
for _, name in ipairs{'ino', 'nlink', 'uid', 'gid', 'size', 'blocks', 'blksize'} do
   fields[name] = function(status) return tonumber(status[name]) end
end

-- Where a link leads; nil for what is no link.
local function target(path)
   local size = 256
   while true do
      local buffer = ffi.new('char[?]', size)
      local length = tonumber(ffi.C.readlink(path, buffer, size))
      if length < 0 then
         return nil
      elseif length < size then
         return ffi.string(buffer, length)
      end
      size = size * 2
   end
end

-- The function called `name`. Its `request` is the name of one attribute, or a table to fill.
local function reader(name, nofollow)
   return function(path, request)
      path = arguments.text(1, name, path, true)
      local status, number = posix.status(path, nofollow)
      if not status then
         local message = posix.message(number)
         return nil, string.format("cannot obtain information from file '%s': %s", path, message), number
      elseif type(request) == 'string' or type(request) == 'number' then
         if request == 'target' and nofollow then
            return target(path)
         end
         local field = fields[request]
         if not field then
            error(string.format("invalid attribute name '%s'", request), 2)
         end
         return field(status)
      end
      local found = type(request) == 'table' and request or {}
      for field, get in pairs(fields) do
         found[field] = get(status)
      end
      if nofollow then
         found.target = target(path)
      end
      return found
   end
end

return function(lfs)
   lfs.attributes = reader('attributes', false)
   lfs.symlinkattributes = reader('symlinkattributes', true) -- of a link itself, and its `target`
end
