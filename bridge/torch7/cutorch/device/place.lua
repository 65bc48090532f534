-- What the device's loops have in common: operands in the shape of the result, room for what is between, and the CPU's
-- loops for what the device has no operator for.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local aten = require 'torch.aten'
local index = require 'torch.index'

local C = native.C
local tensor, scratch = object.tensor, object.scratch

local place = {}

-- Raise why torch refused.
local function check(code)
   if code ~= 0 then
      aten.raise()
   end
end
place.check = check

local passing -- the tensors that the loop in progress has made on its way; nil outside of loops
local weak = {__mode = 'v'}

local function new(dtype)
   local made = object.newtensor(dtype)
   if passing then
      passing.count = passing.count + 1
      passing[passing.count] = made
   end
   return made
end

-- The loop, with what it makes on its way given back at its end: until the collector comes, a GPU would be asked for
-- more memory at each call, which takes it longer than the work.
function place.transient(loop)
   return function(...)
      local outer = passing
      passing = setmetatable({count = 0}, weak) -- an error leaves the rest to the collector
      local code, value = loop(...)
      for i = 1, passing.count do
         if passing[i] then
            C.br_tensor_set_storage(tensor(passing[i]), nil)
         end
      end
      passing = outer
      return code, value
   end
end

-- An uninitialised tensor with another's sizes, of its type unless one is given.
local function fresh(like, dtype)
   local t = tensor(like)
   local made = new(dtype or t.dtype)
   geometry.resizeas(tensor(made), t)
   return made
end
place.fresh = fresh

-- An uninitialised vector of n elements.
function place.vector(dtype, n)
   local made = new(dtype)
   geometry.resize1(tensor(made), n)
   return made
end

-- A tensor with one element, in as many dimensions as another has.
function place.single(like, dtype)
   local n = tensor(like).nDimension
   local made = new(dtype)
   for d = 0, n - 1 do
      scratch[d] = 1
   end
   geometry.resize(tensor(made), n)
   return made
end

-- The elements of `a` with the sizes of r, which has as many.
function place.shaped(a, r)
   local to, from = tensor(r), tensor(a)
   if from.nDimension == 0 or geometry.samesize(to, from) then
      return a
   elseif not geometry.contiguous(from) then
      local flat = fresh(a)
      check(C.br_aten_copy(flat, a))
      a = flat
   end
   return a:view(r:size())
end

local fill = aten.op('fill_.Tensor', 'TS')

-- A tensor with another's sizes and one value.
function place.filled(like, v)
   local made = fresh(like)
   fill(made, v)
   return made
end

local multiply = aten.op('mul.out', 'TTT')

function place.multiply(r, a, b)
   multiply(a, b, r)
end

-- The element of a tensor that has one.
function place.item(userdata)
   local t = tensor(userdata)
   local number = index.read[t.dtype](t, t.storageOffset)
   object.keep(userdata)
   return number
end

-- The same elements on the CPU; anything but a tensor on the device is itself.
local function host(value)
   local dtype = object.dtype(value)
   if not dtype or dtype < elements.DEVICE then
      return value
   end
   local made = fresh(value, dtype - elements.DEVICE)
   if tensor(value).nDimension > 0 then
      check(C.br_aten_copy(made, value))
   end
   return made
end
place.host = host

-- On the device, as its own tensor; one that is there is itself.
function place.there(value)
   local dtype = object.dtype(value)
   if dtype >= elements.DEVICE then
      return value
   end
   local made = fresh(value, dtype + elements.DEVICE)
   if tensor(value).nDimension > 0 then
      check(C.br_aten_copy(made, value))
   end
   return made
end

-- The answer of the CPU's loop `name`, run on copies; argument number `result` is copied back.
function place.onhost(name, result, ...)
   local given, count = {...}, select('#', ...)
   local copies = {}
   for i = 1, count do -- all that the loop is given has to be here
      copies[i] = host(given[i])
   end
   local code = C[name](unpack(copies, 1, count))
   if code == C.BR_OK and tensor(given[result]).nDimension > 0 then
      check(C.br_aten_copy(given[result], copies[result]))
   end
   return code
end

return place
