-- Functions of one number (exp, tanh, ...) for Float and Double tensors, and for numbers.
local ffi = require 'ffi'
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'

local C = native.C
local tensor, resizeas = object.tensor, geometry.resizeas
local SMALL = 64 -- elements up to which a plain loop beats a call of torch
local MANY = 256 -- and one that needs a tensor to be made

ffi.cdef[[
double log1p(double); double trunc(double); double round(double); double tgamma(double);
]]
local clib = ffi.C

-- r = f(t): a loop for few elements, torch's vectorised threads for many of the same shape.
local function unary(op, name)
   local large = name and aten.op(name .. '.out', 'TT')
   return function(r, t)
      resizeas(tensor(r), tensor(t))
      local from = tensor(t)
      if not large or geometry.elements(from) <= SMALL or not geometry.samesize(tensor(r), from) then
         kernels.map(op, r, t)
      else
         large(t, r)
      end
      return r
   end
end

local function row(name, op, onnumber, atenname)
   local f = unary(op, atenname)
   return {name = name, types = types.FLOAT, forms = {'*T T+', f, 'real', onnumber}}
end

-- r = f(a, b), the same way.
local function binary(op, name)
   local large = aten.op(name, 'TTT')
   return function(r, a, b)
      resizeas(tensor(r), tensor(a))
      local from = tensor(a)
      if geometry.elements(from) <= SMALL or not geometry.samesize(from, tensor(b))
         or not geometry.samesize(tensor(r), from) then
         kernels.pair(op, r, a, b)
      else
         large(a, b, r)
      end
      return r
   end
end

local powers = aten.op('pow.Tensor_Tensor_out', 'TTT')
local plain = {[1] = true, [2] = true, [3] = true, [0.5] = true, [-0.5] = true, [-1] = true, [-2] = true} -- no powers

local function pow(r, t, v)
   resizeas(tensor(r), tensor(t))
   local from = tensor(t)
   if plain[v] or geometry.elements(from) <= MANY or not geometry.samesize(tensor(r), from) then
      kernels.map(C.BR_POWS, r, t, v)
   else
      local exponent = object.newtensor(from.dtype) -- torch's C shim takes no numbers here
      geometry.resize1(tensor(exponent), 1)
      kernels.fill(exponent, v)
      powers(t, exponent, r)
   end
   return r
end

local function tpow(r, v, t)
   resizeas(tensor(r), tensor(t))
   kernels.map(C.BR_TPOW, r, t, v)
   return r
end

local atan2 = binary(C.BR_ATAN2, 'atan2.out')

local function rounded(x)
   return clib.round(x)
end

return {
   row('sqrt', C.BR_SQRT, math.sqrt),
   row('rsqrt', C.BR_RSQRT, function(x) return 1 / math.sqrt(x) end),
   row('exp', C.BR_EXP, math.exp, 'exp'),
   row('log', C.BR_LOG, math.log, 'log'),
   row('log1p', C.BR_LOG1P, function(x) return clib.log1p(x) end, 'log1p'),
   row('sin', C.BR_SIN, math.sin, 'sin'),
   row('cos', C.BR_COS, math.cos, 'cos'),
   row('tan', C.BR_TAN, math.tan, 'tan'),
   row('asin', C.BR_ASIN, math.asin, 'asin'),
   row('acos', C.BR_ACOS, math.acos, 'acos'),
   row('atan', C.BR_ATAN, math.atan, 'atan'),
   row('sinh', C.BR_SINH, math.sinh, 'sinh'),
   row('cosh', C.BR_COSH, math.cosh, 'cosh'),
   row('tanh', C.BR_TANH, math.tanh, 'tanh'),
   row('floor', C.BR_FLOOR, math.floor, 'floor'),
   row('ceil', C.BR_CEIL, math.ceil, 'ceil'),
   row('round', C.BR_ROUND, rounded), -- torch rounds halves to even
   row('trunc', C.BR_TRUNC, function(x) return clib.trunc(x) end, 'trunc'),
   row('frac', C.BR_FRAC, function(x) return x - clib.trunc(x) end, 'frac'),
   row('sigmoid', C.BR_SIGMOID, function(x) return 1 / (1 + math.exp(-x)) end, 'sigmoid'),
   {name = 'pow', types = types.FLOAT, forms = {'*T T+ real', pow, '*T real T+', tpow, 'real real', math.pow}},
   {name = 'atan2', types = types.FLOAT, forms = {'*T T+ T', atan2, 'real real', math.atan2}},
}
