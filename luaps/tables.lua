-- The named tables of a server: each is a node with keys and values of its own.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local contents = require 'luaps.contents'
local errors = require 'luaps.errors'
local waiting = require 'luaps.waiting'

local check = errors.check
local ESIZE = tonumber(C.PS_ESIZE)
local NAMES_BYTES, OPTIONS_BYTES = 4096, 2304
local EXAMPLE = "server:table('users', {dim = 64})"
local OPTIONS = {
   dim = false,
   num_keys = false,
   capacity = false,
   dtype = false,
   optimizer = false,
   initializer = false,
   memory_limit = false,
   hash = false,
   eviction = false,
   max_age = false,
   admission = false,
   timeout = false,
}

local tables = {}

-- The fields of ps_node_options; nil if only the name is given.
local function read(name, options)
   if options.dim then
      options.dtype = options.dtype or 'float32'
      local fields = contents.read(options, 'dim')
      fields.hash = options.hash and arguments.text('hash', options.hash) or nil
      return fields
   end
   local given = {}
   for option, value in pairs(options) do
      if value and option ~= 'timeout' then
         given[#given + 1] = option
      end
   end
   if #given > 0 then
      table.sort(given)
      errors.raise("%s of table '%s' need dim, the number of elements of its values; a table that another process " ..
         'makes needs its name only', table.concat(given, ', '), name)
   end
   return nil
end

local function release(opened)
   C.ps_node_free(opened[0])
end

-- Open the table `name` of a node, which is made if there is none and `options` has dim. Returns its ps_node.
function tables.open(node, name, options)
   arguments.text('name', name)
   options = arguments.named('server:table', options or {}, OPTIONS, EXAMPLE)
   local limit = waiting.limit(options.timeout or nil)
   local fields = read(name, options)
   local wanted = fields and ffi.new('ps_node_options', fields)
   local opened = ffi.gc(ffi.new('ps_node *[1]'), release) -- after an error the table may have been opened, too
   local code = waiting.stay(node, limit, function(handle, seconds)
      return C.ps_node_table(handle, name, wanted, seconds, opened)
   end)
   check(code, nil, fields) -- keeps the memory that `wanted` points at alive until here
   ffi.gc(opened, nil)
   return ffi.gc(opened[0], C.ps_node_free)
end

-- What the table `name` was made with, like 'capacity=1000000 lengths=64 dtype=float32'.
function tables.options(node, name)
   local text = ffi.new('char[?]', OPTIONS_BYTES)
   check(C.ps_node_table_options(node, arguments.text('name', name), text, OPTIONS_BYTES))
   return ffi.string(text)
end

function tables.drop(node, name, timeout)
   arguments.text('name', name)
   check(waiting.stay(node, waiting.limit(timeout), function(handle, seconds)
      return C.ps_node_drop_table(handle, name, seconds)
   end))
end

-- The names of the tables that work on a node.
function tables.names(node)
   local room = NAMES_BYTES
   local text, code
   repeat
      text = ffi.new('char[?]', room)
      code = waiting.stay(node, waiting.limit(), function(handle)
         return C.ps_node_table_names(handle, text, room)
      end)
      room = 2 * room
   until code ~= ESIZE
   check(code)
   local names = {}
   for name in ffi.string(text):gmatch('[^\n]+') do
      names[#names + 1] = name
   end
   return names
end

return tables
