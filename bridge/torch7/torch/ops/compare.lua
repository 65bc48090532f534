-- Comparisons, element by element: ByteTensors of 0 and 1, or tensors of the operands' type.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local ffi = require 'ffi'

local C, loops = native.C, kernels.loops
local tensor, resizeas = object.tensor, geometry.resizeas
local flag = ffi.new('int[1]')

local function scalar(op)
   return function(r, t, v)
      resizeas(tensor(r), tensor(t))
      kernels.compare(op, r, t, nil, v)
      return r
   end
end

local function pair(op)
   return function(r, a, b)
      resizeas(tensor(r), tensor(a))
      kernels.compare(op, r, a, b)
      return r
   end
end

local function row(name, op)
   local scalars, pairs_ = scalar(op), pair(op)
   return {name = name, types = types.NUMERIC,
      forms = {'[*Byte] T real', scalars, '*T! T real', scalars, '[*Byte] T T', pairs_, '*T! T T', pairs_}}
end

local function equal(a, b)
   local code = loops.equal(a, b, flag)
   if code ~= 0 then
      kernels.fault(code, a, b)
   end
   return flag[0] ~= 0
end

return {
   row('lt', C.BR_LT),
   row('gt', C.BR_GT),
   row('le', C.BR_LE),
   row('ge', C.BR_GE),
   row('eq', C.BR_EQ),
   row('ne', C.BR_NE),
   {name = 'equal', types = types.NUMERIC, forms = {'T T', equal}},
}
