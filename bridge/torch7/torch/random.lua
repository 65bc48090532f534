-- The generator of random numbers: seeds and states. What draws numbers is in ops/random.lua.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local forms = require 'torch.forms'
local alias = require 'torch.multinomial'

local C = native.C
local bad = arguments.bad

local function install(torch)
   local generator = require('torch.generator')(torch)

   -- A function of torch that takes no tensor to find its type by; the generator may lead its arguments.
   local function define(name, words, f)
      torch[name] = arguments.public(forms.methods(name, {'[Generator]' .. words, function(given, ...)
         return f(given and generator.state(given) or generator.default, ...)
      end})[elements.Byte.id])
   end

   define('manualSeed', ' long', function(state, seed)
      C.br_random_seed(state, ffi.cast('uint64_t', ffi.cast('int64_t', seed)))
   end)

   define('seed', '', function(state)
      C.br_random_seed(state, C.br_random_entropy())
      return tonumber(state.initial_seed)
   end)

   define('initialSeed', '', function(state)
      return tonumber(state.initial_seed)
   end)

   define('getRNGState', ' [*Byte]', function(state, result)
      result:resize(generator.STATE)
      local bytes = torch.ByteTensor(generator.STATE)
      ffi.copy(bytes:data(), state, generator.STATE)
      return result:copy(bytes)
   end)

   define('setRNGState', ' [*Byte]', function(state, bytes)
      if bytes:nElement() ~= generator.STATE then
         bad(1, 'RNG state is wrong size')
      elseif not bytes:isContiguous() then
         bad(1, 'RNG state needs to be contiguous')
      elseif not generator.restore(state, bytes:data()) then
         bad(1, 'Invalid RNG state')
      end
      return bytes
   end)

   alias.install(torch)
end

return install
