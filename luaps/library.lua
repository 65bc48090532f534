-- The parameter server's native library, libps. It is declared by its own header ps.h and loaded once per Lua state.
--
-- Its file is the one that the environment variable LUAPS_LIBPS names, or else pyps/libps.so beside the directory of
-- these files. The header is core/ps.h beside the library. `moontide paths --shell` prints the settings for a plain
-- LuaJIT.
local ffi = require 'ffi'

-- The library is kept in Lua's registry: its types can be declared only once per state, and finalizers need the library
-- until the end.
local ANCHOR, DECLARATIONS = 'luaps.library', 'luaps.declarations'

local function directory(path)
   return path:match('^(.*)/[^/]*$') or '.'
end

local function exists(path)
   local file = io.open(path, 'rb')
   if file then
      file:close()
   end
   return file ~= nil
end

-- The path of libps.
local function find()
   local named = os.getenv('LUAPS_LIBPS')
   if named and named ~= '' then
      if not exists(named) then
         error("luaps: the environment variable LUAPS_LIBPS names '" .. named .. "', which cannot be read", 0)
      end
      return named
   end
   local here = directory(debug.getinfo(1, 'S').source:gsub('^@', ''))
   local beside = directory(here) .. '/pyps/libps.so'
   if not exists(beside) then
      error("luaps: there is no '" .. beside .. "'; set the environment variable LUAPS_LIBPS to what "
         .. '`moontide paths --libps` prints', 0)
   end
   return beside
end

-- The declarations of the header that lies beside the library.
local function declarations(library)
   local path = directory(library) .. '/core/ps.h'
   local file, message = io.open(path, 'r')
   if not file then
      error('luaps: the header of ' .. library .. ' cannot be read: ' .. message, 0)
   end
   local text = file:read('*a')
   file:close()
   local first = text:match('declarations for ffi%.cdef: begin %-%-%-%- %*/(.-)/%* %-%-%-%- declarations')
   if not first then
      error('luaps: ' .. path .. ' has no declarations for ffi.cdef', 0)
   end
   return first
end

local function load()
   local path = find()
   local text = declarations(path)
   ffi.cdef(text)
   debug.getregistry()[DECLARATIONS] = text
   -- "./": otherwise ffi.load would search the system's directories.
   local ok, C = pcall(ffi.load, path:find('/', 1, true) and path or './' .. path)
   if not ok then
      error('luaps: ' .. path .. ' cannot be loaded: ' .. C, 0)
   end
   local version = C.ps_abi_version()
   if version ~= C.PS_ABI_VERSION then
      error(string.format('luaps: %s has version %d, but its header core/ps.h describes version %d: install both again',
         path, version, tonumber(C.PS_ABI_VERSION)), 0)
   end
   return C
end

local registry = debug.getregistry()
local C = registry[ANCHOR]
if not C then
   C = load()
   registry[ANCHOR] = C
end
return C
