-- How the workers of a model meet: the first one sets the values that training begins with, all others take them.
-- pyps/nn/dense/meeting.py is the same in Python, and says how they find out who is first.
local ffi = require 'ffi'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'
local pause = require 'luaps.pause'
local pieces = require 'luaps.pieces'
local waiting = require 'luaps.waiting'

local raise = errors.raise
local FEWEST_KEYS = 1000000
local FIRST, COUNT, SIZES = 0, 1, 2 -- keys: who is first; the number of parameters; from here on their elements

local meeting = {}

-- A number below zero, which no other program draws.
local function mark()
   local file = assert(io.open('/dev/urandom', 'rb'))
   local drawn = -1
   for _, byte in ipairs{file:read(6):byte(1, 6)} do
      drawn = drawn * 256 - byte
   end
   file:close()
   return drawn
end

local function read(shapes, key)
   local number = ffi.new('int64_t[1]')
   shapes:pull(key, number)
   return tonumber(number[0])
end

local function write(shapes, key, number)
   shapes:set(key, ffi.new('int64_t[1]', number))
end

local function first(shapes, model)
   for i, tensor in ipairs(model.parameters) do
      model.worker:set(model.keys[i], tensor)
      write(shapes, SIZES + i - 1, model.sizes[i])
   end
   write(shapes, COUNT, #model.sizes) -- last: it says that all else is there
end

local function take(shapes, model, limit)
   local stop = clock() + limit
   while read(shapes, COUNT) < 0 do
      if clock() > stop then
         raise("the worker that made the tables of model '%s' has not set its values within %g s; if it has ended, " ..
            "drop_table('%s') and drop_table('%s.shapes') let another one begin", model.name, limit, model.name,
            model.name)
      end
      pause(1)
   end
   local count = read(shapes, COUNT)
   for i = 1, math.min(count, #model.sizes) do
      local size = read(shapes, SIZES + i - 1)
      if size ~= model.sizes[i] then
         raise("parameter %d of the model in table '%s' has %d elements, and that of this one %d: give another " ..
            'architecture another name', i, model.name, size, model.sizes[i])
      end
   end
   if count ~= #model.sizes then
      raise("the model in table '%s' has %d parameters, and this one %d: give another architecture another name",
         model.name, count, #model.sizes)
   end
end

-- Open the tables of a model, which is a table with `name`, `parameters`, `sizes`, `keys`, `num_keys` and `dtype`; give
-- it its `worker` of the table that has its values.
function meeting.begin(model, kv, optimizer, timeout)
   local limit = waiting.limit(timeout)
   kv.node:table(model.name, {
      dim = pieces.lengths,
      capacity = math.max(FEWEST_KEYS, model.num_keys),
      dtype = model.dtype,
      optimizer = optimizer,
      timeout = timeout,
   })
   model.worker = kv:table(model.name, timeout)
   local name, own = model.name .. '.shapes', mark()
   -- It fails if the table is there, with the number of another one.
   pcall(kv.node.table, kv.node, name, {dim = 1, dtype = 'int64', initializer = {'constant', value = own}})
   local shapes = kv.node:table(name, {timeout = timeout}):worker()
   local ok, message = pcall(function()
      if read(shapes, FIRST) == own then
         first(shapes, model)
      else
         take(shapes, model, limit)
      end
   end)
   shapes:finalize()
   if not ok then
      error(message, 0)
   end
end

return meeting
