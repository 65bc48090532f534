-- What a file is that is no file of Torch7: told by its first bytes.
local ffi = require 'ffi'
local native = require 'bridge.native'

local C = native.C
local LOOK = 512 -- bytes

local formats = {}

-- prefix, what it is
local known = {
   {'PK\3\4', 'a zip archive (as torch.save of PyTorch writes it)'},
   {'\128\2\138\10l\252\156F', 'a file of an old PyTorch (a pickle)'},
   {'\128[\2-\5]', 'a Python pickle'},
   {'\137HDF\r\n', 'an HDF5 file'},
   {'\147NUMPY', 'a NumPy array'},
   {'\31\139', 'compressed by gzip'},
   {'BZh', 'compressed by bzip2'},
   {'\2537zXZ', 'compressed by xz'},
   {'\40\181/\253', 'compressed by zstd'},
   {'\137PNG', 'a PNG image'},
   {'\255\216\255', 'a JPEG image'},
   {'\27LJ', 'LuaJIT bytecode'},
   {'\127ELF', 'a program or library'},
   {'GGUF', 'a GGUF model'},
   {'version https://git%-lfs', 'a Git LFS pointer: the file itself was not fetched'},
   {'%s*<', 'an HTML or XML page'},
}

-- Does an object begin here in this mode?
local function begins(head, mode)
   if mode == 'ascii' then
      local kind = head:match('^%s*(%d+)%s')
      return kind ~= nil and tonumber(kind) <= 8 or head:find('^%s*0$') ~= nil
   end
   return #head >= 4 and head:byte(1) <= 8 and head:sub(2, 4) == '\0\0\0'
end

local function describe(head, mode)
   if #head == 0 then
      return 'it is empty'
   end
   for _, row in ipairs(known) do
      if head:find('^' .. row[1]) then
         return 'it looks like ' .. row[2]
      end
   end
   if mode ~= 'ascii' and head:find('^[0-8]\r?\n') then
      return "it looks like a Torch7 file in ascii: load it with mode 'ascii'"
   elseif mode == 'ascii' and begins(head, 'binary') then
      return "it looks like a Torch7 file in binary: load it without mode 'ascii'"
   elseif mode ~= 'ascii' and #head >= 4 and head:sub(1, 3) == '\0\0\0' and head:byte(4) <= 8 then
      return 'it looks like a Torch7 file of the other byte order: read it with torch.DiskFile and bigEndianEncoding'
   elseif head:sub(258, 262) == 'ustar' then
      return 'it looks like a tar archive'
   elseif not head:find('[%z\1-\8\14-\31\127]') then
      return 'it looks like text'
   end
   return string.format('it begins with the bytes%s', (head:sub(1, 8):gsub('.', function(byte)
      return string.format(' %02x', byte:byte())
   end)))
end

-- Why a file that was just opened cannot hold an object in this mode; nothing when it can.
function formats.problem(c, name, mode)
   local buffer = ffi.new('char[?]', LOOK)
   local there = C.br_file_need(c, LOOK)
   local head = ffi.string(buffer, C.br_file_peek(c, 0, buffer, there < LOOK and there or LOOK))
   if begins(head, mode) then
      return nil
   end
   return string.format('unknown object: <%s> is no file of Torch7, %s', name, describe(head, mode))
end

return formats
