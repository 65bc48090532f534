-- What a server or a named table holds: its keys, values, memory, optimizer and initializer.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local namedsettings = require 'luaps.namedsettings'

local raise, whole = errors.raise, arguments.whole

local DEFAULT_CAPACITY = 1000000
local EVICTIONS = {lru = C.PS_EVICT_LRU, lfu = C.PS_EVICT_LFU, age = C.PS_EVICT_AGE}

local contents = {}

-- The fields of ps_node_options for these options of a program; the result owns what they point at. `length` is the
-- name of the option for the number of elements of each value.
function contents.read(options, length)
   local element = elements.byname[options.dtype]
   if not element then
      raise('dtype %s is not possible; choose one of %s', errors.shown(options.dtype),
         table.concat(elements.names, ', '))
   end
   local num_keys = options.num_keys and whole('num_keys', options.num_keys, 1)
   local capacity = options.capacity and whole('capacity', options.capacity, 1)
   if num_keys and capacity then
      raise('capacity is for keys that may be any numbers, and num_keys is %d: give one of them', num_keys)
   end
   local eviction = options.eviction and EVICTIONS[options.eviction] or C.PS_EVICT_NONE
   if options.eviction and eviction == C.PS_EVICT_NONE then
      raise("eviction is %s; it must be 'lru', 'lfu' or 'age', or left out", errors.shown(options.eviction))
   end
   local lengths, count = keys.read(keys.scratch(), options[length], 0, length)
   return {
      size = ffi.sizeof('ps_node_options'),
      num_keys = num_keys or 0,
      capacity = capacity or num_keys and 0 or DEFAULT_CAPACITY,
      value_lengths = lengths,
      num_lengths = count,
      dtype = element.number,
      memory_limit = whole('memory_limit', options.memory_limit or 0, 0),
      optimizer = namedsettings.text(options.optimizer, 'optimizer',
         "a text like 'adagrad:lr=0.1' or a table like {'adagrad', lr = 0.1}"),
      initializer = namedsettings.text(options.initializer, 'initializer',
         "a text like 'normal:std=0.1' or a table like {'normal', std = 0.1}"),
      eviction = eviction,
      max_age = options.max_age and arguments.seconds('max_age', options.max_age) or 0,
      admission = whole('admission', options.admission or 1, 1, 255),
   }
end

return contents
