-- torch.Generator: the state of a random stream, as an object; and the generator that is meant when none is named.
local ffi = require 'ffi'
local class = require 'torch.class'
local native = require 'bridge.native'

local C = native.C
local STATE = ffi.sizeof('br_generator')

local generator = {STATE = STATE}

local template = newproxy(true) -- every generator is a userdata with this one's metatable
local metatable = getmetatable(template)
local states = setmetatable({}, {__mode = 'k'}) -- userdata -> br_generator

function generator.new()
   local object = newproxy(template)
   local state = ffi.new('br_generator')
   C.br_random_seed(state, C.br_random_entropy())
   states[object] = state
   return object
end

-- The struct of a generator object; nil for anything else.
function generator.state(object)
   return states[object]
end

-- Overwrite a state with the bytes at `source`. Returns false, and changes nothing, if they are no state.
function generator.restore(state, source)
   local copy = ffi.new('br_generator')
   ffi.copy(copy, source, STATE)
   if C.br_random_valid(copy) == 0 then
      return false
   end
   ffi.copy(state, copy, STATE)
   return true
end

function metatable.__factory()
   return generator.new()
end

function metatable.__pointer(object)
   return tonumber(ffi.cast('intptr_t', ffi.cast('void *', states[object])))
end

-- A generator that is gone takes its state with it.
function metatable.__gc(object)
   states[object] = nil
end

function metatable.__newindex()
   error('the class torch.Generator cannot be indexed', 2)
end

metatable.new = generator.new

local function install(torch)
   class.adopt('torch.Generator', metatable, generator.new)

   -- To and from a torch.File, as raw bytes.
   function metatable:write(file)
      file:writeByte(torch.getRNGState(self):storage())
   end

   function metatable:read(file)
      local bytes = file:readByte(STATE)
      if not generator.restore(states[self], ffi.cast('const char *', bytes:data())) then
         error('Invalid RNG state', 2)
      end
   end

   torch._gen = generator.new()
   generator.default = states[torch._gen]
end

return setmetatable(generator, {
   __call = function(_, torch)
      install(torch)
      return generator
   end
})
