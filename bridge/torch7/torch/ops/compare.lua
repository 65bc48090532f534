-- Comparisons, element by element: ByteTensors of 0 and 1, or tensors of the operands' type.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local each = require 'torch.ops.each'
local kernels = require 'torch.kernels'
local ffi = require 'ffi'

local C, loops = native.C, kernels.loops
local flag = ffi.new('int[1]')

local function compared(op, r, t, v)
   kernels.compare(op, r, t, nil, v)
end

local function row(name, op)
   local scalars, pairs_ = each(compared, op), each(kernels.compare, op)
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
