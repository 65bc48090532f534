-- Prepares a new LuaJIT state: paths, the language of Torch7's LuaJIT, output through Python, and the helper functions
-- that the Python boundary calls. Returns the helpers as a table from name to function.
local native, options = ...
local ffi = require 'ffi'

-- Switch off one of LuaJIT's optimizations: with `fuse`, it may move a read from memory to the instruction that uses
-- the number, past a call of C that changes the memory (docs/design.md).
local optimize = jit.opt.start
rawset(jit.opt, 'start', function(...)
   optimize(...)
   optimize('-fuse')
end)
optimize('-fuse')

local function own(name, ...)
   local made = assert(loadfile(options.root .. '/runtime/' .. name .. '.lua'))(...)
   package.loaded['bridge.runtime.' .. name] = made
   return made
end

-- Our files, this one included, run in an environment of their own (scope.lua).
local scope = own('scope', options.scope)
local compiled = own('compiled', native, scope, options.root, options.python_package)
package.loaders[2] = scope.searcher(compiled) -- until language.lua installs its own
setfenv(1, scope.environment)

package.path = options.path .. ';' .. package.path
package.cpath = options.cpath .. package.cpath

native.library, native.headers = options.library, options.headers
native.load_torch, native.torch_lacks, native.python = options.load_torch, options.torch_lacks, options.python
native.torch_library = options.torch_library
native.allow_functions = options.allow_functions -- stored in files, to be run
native.start_thread, native.join_thread = options.start_thread, options.join_thread
native.heed_signals = options.heed_signals
package.loaded['bridge.native'] = assert(loadfile(options.root .. '/runtime/native.lua'))(native)

local null = options.null
package.loaded['bridge'] = {null = null}

local language = require 'bridge.runtime.language'
require('bridge.runtime.output')(options)

local helpers = {}

-- Metatables of Python objects, which Lua can only print. Exceptions also have the methods of strings, because programs
-- use those on error messages.
local function text(object)
   return options.text(object)
end

helpers.object_metatable = {
   __gc = native.collect_reference,
   __tostring = text,
   __metatable = 'a Python object',
}
helpers.exception_metatable = {
   __gc = native.collect_reference,
   __tostring = text,
   __metatable = 'a Python exception',
   __concat = function(a, b) return tostring(a) .. tostring(b) end,
   __index = function(_, name)
      local method = string[name]
      return method and function(self, ...) return method(text(self), ...) end
   end,
}

-- ---- for proxies and conversions

function helpers.index(object, key) return object[key] end

function helpers.assign(object, key, value) object[key] = value end

function helpers.itself(object) return object end

function helpers.same(a, b) return a == b end

function helpers.require_torch() require 'torch' end

function helpers.require_cutorch() require 'cutorch' end

function helpers.length(object)
   local metatable = type(object) == 'table' and debug.getmetatable(object)
   local length = metatable and rawget(metatable, '__len')
   if length then
      return tonumber(length(object))
   end
   return #object
end

function helpers.text(object) return tostring(object) end

function helpers.identity(object)
   return tonumber(string.format('%p', object)) or 0
end

local function typename(object)
   local metatable = debug.getmetatable(object)
   local name = type(metatable) == 'table' and rawget(metatable, '__typename')
   return name or type(object)
end
helpers.typename = typename

function helpers.describe(object)
   if type(object) == 'function' then
      local info = debug.getinfo(object, 'S')
      return info.what == 'C' and 'builtin' or info.short_src .. ':' .. info.linedefined
   elseif type(object) == 'table' and typename(object) == 'table' then
      return string.format('%p', object)
   end
   return string.format('%s %p', typename(object), object)
end

function helpers.keys(object)
   local keys = {}
   for key in next, object do
      keys[#keys + 1] = key
   end
   return keys
end

-- The keys that `pairs` gives for an object.
function helpers.contents(object)
   local goes, step, state, first = pcall(pairs, object)
   if not goes then
      error(string.format('%s has no contents to go through', typename(object)), 0)
   end
   local keys = {}
   for key in step, state, first do
      keys[#keys + 1] = key
   end
   return keys
end

-- All names that can follow `object.`: its fields, and the methods of its class and its parents.
function helpers.names(object)
   local names = {}
   local seen = {}
   local function collect(from)
      for key in next, from do
         if type(key) == 'string' and not key:find('^__') and not seen[key] then
            seen[key] = true
            names[#names + 1] = key
         end
      end
   end
   if type(object) == 'table' then
      collect(object)
   end
   local metatable = debug.getmetatable(object)
   while type(metatable) == 'table' do
      collect(metatable)
      local index = rawget(metatable, '__index')
      if type(index) == 'table' and index ~= metatable then
         collect(index)
      end
      metatable = debug.getmetatable(metatable)
   end
   return names
end

function helpers.fields(object)
   local fields = {}
   if type(object) == 'table' then
      for key, value in next, object do
         fields[key] = value
      end
   end
   return fields
end

-- Is `object` an instance of the class (or of a child of it) whose constructor table is `constructor`?
function helpers.made_by(object, constructor)
   local torch = package.loaded.torch
   local metatable = debug.getmetatable(object)
   while torch and type(metatable) == 'table' do
      local name = rawget(metatable, '__typename')
      if name and torch.getconstructortable(name) == constructor then
         return true
      end
      metatable = debug.getmetatable(metatable)
   end
   return false
end

-- Are the keys of a table exactly 1..#t?
function helpers.is_sequence(object)
   local n = 0
   for _ in next, object do
      n = n + 1
   end
   for i = 1, n do
      if rawget(object, i) == nil then
         return false
      end
   end
   return true
end

-- Store a 64-bit integer cdata at an address. Returns 1 if it is signed, 2 if unsigned, 0 (nothing stored) for other
-- cdata.
function helpers.read_integer(value, address)
   if ffi.istype('int64_t', value) then
      ffi.cast('int64_t*', address)[0] = value
      return 1
   elseif ffi.istype('uint64_t', value) then
      ffi.cast('uint64_t*', address)[0] = value
      return 2
   end
   return 0
end

-- ---- code and functions

function helpers.load(source, name)
   return (assert(language.load(source, name)))
end

function helpers.execute(source, name, ...)
   local chunk, message = language.load(source, name)
   if not chunk then
      error(message, 0)
   end
   return chunk(...)
end

-- Run a file. Returns the names of the globals that it defined or changed, and its first result.
function helpers.run_file(path, ...)
   local chunk, message = loadfile(path)
   if not chunk then
      error(message, 0)
   end
   local before = {}
   for key, value in next, _G do
      before[key] = value
   end
   local returned = chunk(...)
   local names = {}
   for key, value in next, _G do
      if type(key) == 'string' and before[key] ~= value then
         names[#names + 1] = key
      end
   end
   table.sort(names)
   return names, returned
end

function helpers.globals() return _G end

function helpers.global_functions()
   local names = {}
   for key, value in next, _G do
      if type(key) == 'string' and type(value) == 'function' then
         names[#names + 1] = key
      end
   end
   return names
end

function helpers.global(name) return rawget(_G, name) end

function helpers.set_global(name, value) rawset(_G, name, value) end

function helpers.require(name) return require(name) end

function helpers.collect() collectgarbage() end

function helpers.function_name(f)
   local info = debug.getinfo(f, 'S')
   for key, value in next, _G do
      if value == f then
         return key
      end
   end
   return info.what == 'C' and 'builtin' or 'function'
end

-- The names of a function's parameters, with '...' for further ones; for a C function only '...' is known.
function helpers.parameters(f)
   local info = debug.getinfo(f, 'Su')
   local names = {}
   for i = 1, info.what == 'C' and 0 or info.nparams do
      names[i] = debug.getlocal(f, i) or 'arg' .. i
   end
   if info.what == 'C' or info.isvararg then
      names[#names + 1] = '...'
   end
   return names
end

-- Should repr() show an object's text? Yes if its class defines one, such as a network that lists its layers.
function helpers.prints_itself(object)
   local metatable = debug.getmetatable(object)
   return type(metatable) == 'table' and rawget(metatable, '__typename') ~= nil and metatable.__tostring__ ~= nil
end

-- The comment above a function in its file, then file and line.
function helpers.documentation(f)
   local info = debug.getinfo(f, 'S')
   if info.what == 'C' or info.source:sub(1, 1) ~= '@' then
      return 'A Lua function (' .. info.short_src .. ').'
   end
   local file = io.open(info.source:sub(2))
   local comment = {}
   if file then
      local line = 0
      for source in file:lines() do
         line = line + 1
         if line >= info.linedefined then
            break
         end
         local said = source:match('^%s*%-%-+%s?(.*)')
         if said then
            comment[#comment + 1] = said
         else
            comment = {}
         end
      end
      file:close()
   end
   comment[#comment + 1] = string.format('%s:%d', info.short_src, info.linedefined)
   return table.concat(comment, '\n')
end

if options.foreign then
   local foreign = require 'bridge.runtime.foreign'
   helpers.foreign_tensor = foreign.tensor
   helpers.answer_thread = foreign.answer_thread
   foreign.watch(options)
end

return helpers
