-- Memory files of pyps.wholememory: creates them, and opens one by its name, which it looks up among the open
-- descriptors of all processes.
--
-- After the elements the file contains a text that says which tensors it holds; see pyps/wholememory/layout.py.
local ffi = require 'ffi'
local errors = require 'luaps.errors'

-- A mark in Lua's registry: types can be declared only once per state.
local DECLARED = 'luaps.memoryfile'

-- The functions have names of our own, because another package in this state may have declared the usual ones
-- differently.
local declarations = [[
int luaps_open(const char *name, int flags, ...) __asm__("open");
int luaps_close(int descriptor) __asm__("close");
int64_t luaps_lseek(int descriptor, int64_t offset, int whence) __asm__("lseek");
int64_t luaps_pread(int descriptor, void *to, size_t bytes, int64_t offset) __asm__("pread");
int64_t luaps_pwrite(int descriptor, const void *from, size_t bytes, int64_t offset) __asm__("pwrite");
int64_t luaps_readlink(const char *name, char *to, size_t bytes) __asm__("readlink");
void *luaps_opendir(const char *name) __asm__("opendir");
struct luaps_dirent { uint64_t inode; int64_t offset; unsigned short bytes; unsigned char kind; char name[256]; };
struct luaps_dirent *luaps_readdir(void *directory) __asm__("readdir");
int luaps_closedir(void *directory) __asm__("closedir");
int luaps_memfd_create(const char *name, unsigned int flags) __asm__("memfd_create");
int luaps_ftruncate(int descriptor, int64_t bytes) __asm__("ftruncate");
int luaps_fallocate(int descriptor, int64_t offset, int64_t bytes) __asm__("posix_fallocate");
int luaps_fchmod(int descriptor, unsigned int mode) __asm__("fchmod");
int luaps_fcntl(int descriptor, int command, ...) __asm__("fcntl");
int64_t luaps_getrandom(void *to, size_t bytes, unsigned int flags) __asm__("getrandom");
void *luaps_mmap(void *at, size_t bytes, int protection, int flags, int descriptor, int64_t offset) __asm__("mmap");
int luaps_munmap(void *at, size_t bytes) __asm__("munmap");
char *luaps_strerror(int code) __asm__("strerror");
]]
if not debug.getregistry()[DECLARED] then
   ffi.cdef(declarations)
   debug.getregistry()[DECLARED] = true
end

local C = ffi.C
local RDWR_CLOEXEC, END = 0x80002, 2
local CLOEXEC_SEALING, ADD_SEALS, SEALS = 3, 1033, 1 + 2 + 4 -- seal, shrink, grow
local READ_WRITE, SHARED = 3, 1
local PAGE, TAIL = 4096, 32
local PREFIX, HEAD = 'wholememory-', 'wholememory 1\n'

local memoryfile = {}

local function reason()
   return ffi.string(C.luaps_strerror(ffi.errno()))
end

-- Call `visit` with the name of each entry of a directory until it returns something, and return that.
local function search(path, visit)
   local directory = C.luaps_opendir(path)
   if directory == nil then
      return nil -- the process belongs to another user or has ended
   end
   local found
   while not found do
      local entry = C.luaps_readdir(directory)
      if entry == nil then
         break
      end
      found = visit(ffi.string(entry.name))
   end
   C.luaps_closedir(directory)
   return found
end

-- The path under /proc of an open descriptor of the file, in any process.
local function find(name)
   local link, wanted = ffi.new('char[256]'), '/memfd:' .. name .. ' '
   return search('/proc', function(process)
      return process:match('^%d+$') and search('/proc/' .. process .. '/fd', function(descriptor)
         local path = '/proc/' .. process .. '/fd/' .. descriptor
         local length = tonumber(C.luaps_readlink(path, link, 256))
         return length >= #wanted and ffi.string(link, length):sub(1, #wanted) == wanted and path or nil
      end)
   end)
end

local function readtext(descriptor, bytes, offset)
   local text = ffi.new('char[?]', bytes)
   if C.luaps_pread(descriptor, text, bytes, offset) ~= bytes then
      return ''
   end
   return ffi.string(text, bytes)
end

-- Parse a line of the text: name, dtype, offset in elements, sizes, strides.
local function parse(line)
   local name, dtype, rest = line:match('^tensor (%S+) (%S+) (.*)$')
   local numbers, sizes, strides = {}, {}, {}
   for word in rest:gmatch('%d+') do
      numbers[#numbers + 1] = tonumber(word)
   end
   for i = 1, numbers[2] do
      sizes[i], strides[i] = numbers[2 + i], numbers[2 + numbers[2] + i]
   end
   return {name = name, dtype = dtype, offset = numbers[1], size = sizes, stride = strides}
end

-- Describe an open file: its name, the number of bytes of all elements, its tensors, and its descriptor. The descriptor
-- is closed when `handle` is garbage-collected.
local function described(name, descriptor)
   local handle = ffi.gc(ffi.new('int[1]', descriptor), function(number)
      C.luaps_close(number[0])
   end)
   local size = tonumber(C.luaps_lseek(descriptor, 0, END))
   local length = tonumber(readtext(descriptor, TAIL, math.max(0, size - TAIL)):match('^wholememory (%d+)') or 0)
   local pages = math.ceil((length + TAIL) / PAGE)
   local text = readtext(descriptor, length, size - pages * PAGE)
   if text:sub(1, #HEAD) ~= HEAD then
      errors.raise('%s does not tell what it holds: it was made by another version, or written over', name)
   end
   local tensors = {}
   for line in text:sub(#HEAD + 1):gmatch('[^\n]+') do
      tensors[#tensors + 1] = parse(line)
   end
   return {name = name, bytes = size - pages * PAGE, tensors = tensors, handle = handle, descriptor = descriptor}
end

-- Open the file with a name that wm.name_of(tensor) in Python returns.
function memoryfile.open(name)
   if type(name) ~= 'string' or name:sub(1, #PREFIX) ~= PREFIX then
      errors.raise("%s is not a name of shared memory, like 'wholememory-1f2e...': wm.name_of(tensor) in Python, or "
         .. 'luaps.share(module), gives it', errors.shown(name))
   end
   local path = find(name)
   local descriptor = path and C.luaps_open(path, RDWR_CLOEXEC) or -1
   if descriptor < 0 then
      errors.raise('no process of this user holds %s: its last holder dropped it or ended', name)
   end
   return described(name, descriptor)
end

-- Create a file for floating-point tensors that follow each other; `counts` are their numbers of elements. The memory
-- is allocated at once.
function memoryfile.create(dtype, elementbytes, counts)
   local offset, lines = 0, {HEAD}
   for i, count in ipairs(counts) do
      lines[#lines + 1] = string.format('tensor %d %s %.0f 1 %.0f 1\n', i, dtype, offset, count)
      offset = offset + count
   end
   local text = table.concat(lines)
   local bytes = math.max(1, math.ceil(offset * elementbytes / PAGE)) * PAGE
   local size = bytes + math.ceil((#text + TAIL) / PAGE) * PAGE
   local random = ffi.new('uint8_t[8]')
   C.luaps_getrandom(random, 8, 0)
   local name = PREFIX .. ffi.string(random, 8):gsub('.', function(c)
      return string.format('%02x', c:byte())
   end)
   local descriptor = C.luaps_memfd_create(name, CLOEXEC_SEALING)
   if descriptor < 0 then
      errors.raise('the system gives no shared memory: %s', reason())
   end
   C.luaps_fchmod(descriptor, 384) -- rw-------
   local tail = string.format('wholememory %d', #text)
   local failed = C.luaps_ftruncate(descriptor, size) ~= 0 or C.luaps_fallocate(descriptor, 0, size) ~= 0
      or C.luaps_pwrite(descriptor, text, #text, bytes) ~= #text
      or C.luaps_pwrite(descriptor, tail .. (' '):rep(TAIL - #tail), TAIL, size - TAIL) ~= TAIL
      or C.luaps_fcntl(descriptor, ADD_SEALS, ffi.cast('int', SEALS)) ~= 0
   if failed then
      C.luaps_close(descriptor)
      errors.raise('the system refuses %d bytes of shared memory', size)
   end
   return described(name, descriptor)
end

-- Map the elements of a file. The memory is unmapped when the returned pointer is garbage-collected.
function memoryfile.map(file)
   local memory = C.luaps_mmap(nil, file.bytes, READ_WRITE, SHARED, file.descriptor, 0)
   if ffi.cast('intptr_t', memory) == -1 then
      errors.raise('%s cannot be mapped: %s (see ulimit -v)', file.name, reason())
   end
   local bytes = file.bytes
   return ffi.gc(memory, function(pointer)
      C.luaps_munmap(pointer, bytes)
   end)
end

return memoryfile
