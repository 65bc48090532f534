-- The loops of bridge/core/loops/loops.h that work element by element, for tensors on the device.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'
local bend = require 'cutorch.device.bend'

local C = native.C
local tensor = object.tensor
local op, shaped, fresh, check = aten.op, place.shaped, place.fresh, place.check

local function isinteger(userdata)
   return elements[tensor(userdata).dtype].integer
end

-- r = a + v b, or a + v without b. Torch's operator takes v as a Scalar, which the shim has for floats alone.
local function add(r, a, b, v)
   if not isinteger(r) then
      check(C.br_aten_add(r, a, b, v))
   elseif b then
      native.python('cutorch.add', r, a, b, v)
   else
      native.python('cutorch.add', r, a, place.filled(a, v), 1)
   end
end

-- Operators that take r last, by the letters of their other arguments; S: the number v, of r's type.
local function with(name, kinds)
   return op(name, kinds .. 'T')
end

local function unary(name)
   local f = with(name .. '.out', 'T')
   return function(r, a)
      f(a, r)
   end
end

local function scalar(name)
   local f = with(name, 'TS')
   return function(r, a, v)
      f(a, v, r)
   end
end

local quotient, truncated = with('div.out', 'TS'), with('div.out_mode', 'TS?s')
local power, multiplied = with('pow.Tensor_Tensor_out', 'ST'), scalar('mul.out')
local greater, less = scalar('maximum.out'), scalar('minimum.out')
local absolute, sign, floor = unary('abs'), unary('sign'), unary('floor')
local negative, reciprocal = unary('neg'), unary('reciprocal')

local maps = {
   [C.BR_ADDS] = function(r, a, v) add(r, a, nil, v) end,
   [C.BR_MULS] = multiplied,
   [C.BR_DIVS] = function(r, a, v)
      if isinteger(r) then
         truncated(a, v, 'trunc', r)
      else
         quotient(a, v, r)
      end
   end,
   [C.BR_FMODS] = scalar('fmod.Tensor_out'),
   [C.BR_REMAINDERS] = scalar('remainder.Tensor_out'),
   [C.BR_CMAXS] = scalar('fmax.out'),
   [C.BR_CMINS] = scalar('fmin.out'),
   [C.BR_CLAMP] = function(r, a, low, high) -- these two keep nan
      greater(r, a, low)
      less(r, r, high)
   end,
   [C.BR_POWS] = scalar('pow.Tensor_Tensor_out'),
   [C.BR_TPOW] = function(r, a, v) power(v, a, r) end,
   [C.BR_ANDS] = scalar('bitwise_and.Tensor_out'),
   [C.BR_ORS] = scalar('bitwise_or.Tensor_out'),
   [C.BR_XORS] = scalar('bitwise_xor.Tensor_out'),
   [C.BR_ABS] = absolute,
   [C.BR_SIGN] = sign,
   [C.BR_RSUBS] = function(r, a, v)
      negative(r, a)
      add(r, r, nil, v)
   end,
   [C.BR_RDIVS] = function(r, a, v)
      reciprocal(r, a)
      multiplied(r, r, v)
   end,
   [C.BR_NEG] = negative,
   [C.BR_CINV] = reciprocal,
   [C.BR_ROUND] = function(r, a) -- halves away from zero, as torch does not
      local magnitude, direction = fresh(a), fresh(a)
      absolute(magnitude, a)
      sign(direction, a)
      add(magnitude, magnitude, nil, 0.5)
      floor(magnitude, magnitude)
      place.multiply(r, magnitude, direction)
   end,
}
for _, name in ipairs{'sqrt', 'rsqrt', 'exp', 'log', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh',
   'cosh', 'tanh', 'floor', 'ceil', 'trunc', 'frac', 'sigmoid'} do
   maps[C['BR_' .. name:upper()]] = unary(name)
end
for which, f in pairs(bend.maps) do
   maps[which] = f
end

local function binary(name)
   local f = with(name, 'TT')
   return function(r, a, b)
      f(a, b, r)
   end
end

local divided, whole, between = binary('div.out'), with('div.out_mode', 'TT?s'), with('lerp.Tensor_out', 'TTS')

local function divide(r, a, b)
   if isinteger(r) then
      whole(a, b, 'trunc', r)
   else
      divided(r, a, b)
   end
end

local pairs_ = {
   [C.BR_ADD] = add,
   [C.BR_MUL] = place.multiply,
   [C.BR_DIV] = divide,
   [C.BR_FMOD] = binary('fmod.Tensor_out'),
   [C.BR_REMAINDER] = binary('remainder.Tensor_out'),
   [C.BR_CMAX] = binary('fmax.out'),
   [C.BR_CMIN] = binary('fmin.out'),
   [C.BR_POW] = binary('pow.Tensor_Tensor_out'),
   [C.BR_AND] = binary('bitwise_and.Tensor_out'),
   [C.BR_OR] = binary('bitwise_or.Tensor_out'),
   [C.BR_XOR] = binary('bitwise_xor.Tensor_out'),
   [C.BR_ATAN2] = binary('atan2.out'),
   [C.BR_LERP] = function(r, a, b, v) between(a, b, v, r) end,
}

-- r = c + v f(a, b)
local function added(f)
   return function(r, c, a, b, v)
      local part = fresh(r)
      f(part, a, b)
      add(r, c, part, v)
   end
end

local triples = {[C.BR_ADDCMUL] = added(place.multiply), [C.BR_ADDCDIV] = added(divide)}
for which, f in pairs(bend.triples) do
   triples[which] = f
end

local comparisons = {}
for _, name in ipairs{'lt', 'gt', 'le', 'ge', 'eq', 'ne'} do
   comparisons[C['BR_' .. name:upper()]] = {with(name .. '.Tensor_out', 'TS'), with(name .. '.Tensor_out', 'TT')}
end

local fill = op('fill_.Tensor', 'TS')

local loops = {}

function loops.br_fill(r, v)
   if tensor(r).nDimension > 0 then
      fill(r, v)
   end
   return C.BR_OK
end

-- Copies go between the CPU and devices, too.
function loops.br_copy(r, a)
   local to, from = tensor(r), tensor(a)
   if geometry.elements(to) ~= geometry.elements(from) then
      return C.BR_COUNT
   elseif to.storage ~= nil and to.storage == from.storage and not r:isSetTo(a) then
      local apart = fresh(a) -- they may overlap
      check(C.br_aten_copy(apart, a))
      a = apart
   end
   check(C.br_aten_copy(r, shaped(a, r)))
   return C.BR_OK
end

-- The number of elements of tensors as a fault: none if they are equally many.
local function counts(r, ...)
   local n = geometry.elements(tensor(r))
   for i = 1, select('#', ...) do
      if geometry.elements(tensor((select(i, ...)))) ~= n then
         return C.BR_COUNT
      end
   end
   return C.BR_OK, n == 0
end

-- Integers divided by 0: a GPU would give anything.
local divisions = {[C.BR_DIVS] = true, [C.BR_FMODS] = true, [C.BR_REMAINDERS] = true}
local quotients = {[C.BR_DIV] = true, [C.BR_FMOD] = true, [C.BR_REMAINDER] = true}

-- Is one of b's elements 0?
local function haszero(b)
   local zeros = fresh(b, elements.beside(elements.Byte.id, tensor(b).dtype))
   loops.br_compare(C.BR_EQ, zeros, b, nil, 0)
   return kernels.reduce(C.BR_MAX, zeros) == 1
end

function loops.br_map(which, r, a, v, w)
   local f = maps[which]
   if not f then
      return place.onhost('br_map', 2, which, r, a, v, w)
   end
   local code, empty = counts(r, a)
   if divisions[which] and isinteger(r) and math.floor(math.abs(v)) == 0 then
      return C.BR_ZERO
   elseif code == C.BR_OK and not empty then
      f(r, shaped(a, r), v, w)
   end
   return code
end

function loops.br_pair(which, r, a, b, v)
   local f = pairs_[which]
   if not f then
      return place.onhost('br_pair', 2, which, r, a, b, v)
   end
   local code, empty = counts(r, a, b)
   if code == C.BR_OK and not empty and quotients[which] and isinteger(r) and haszero(b) then
      return C.BR_ZERO
   elseif code == C.BR_OK and not empty then
      f(r, shaped(a, r), shaped(b, r), v)
   end
   return code
end

function loops.br_triple(which, r, c, a, b, v)
   local code, empty = counts(r, c, a, b)
   if code == C.BR_OK and not empty and which == C.BR_ADDCDIV and isinteger(r) and haszero(b) then
      return C.BR_ZERO
   elseif code == C.BR_OK and not empty then
      triples[which](r, shaped(c, r), shaped(a, r), shaped(b, r), v)
   end
   return code
end

function loops.br_gate(which, r, a, b, v, w)
   local code, empty = counts(r, a, b)
   if isinteger(r) then
      return C.BR_TYPE
   elseif code == C.BR_OK and not empty then
      bend.gates[which](r, shaped(a, r), shaped(b, r), v, w)
   end
   return code
end

function loops.br_compare(which, r, a, b, v)
   local code, empty = counts(r, a, b or a)
   if code == C.BR_OK and not empty then
      if b then
         comparisons[which][2](shaped(a, r), shaped(b, r), r)
      else
         comparisons[which][1](shaped(a, r), v, r)
      end
   end
   return code
end

return loops
