-- The loops of bridge/core/loops/blas.h and convolve.h for tensors on the device: products of floats by torch,
-- what torch has no operator for by the CPU.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'

local C = native.C

-- A loop r = beta r + alpha a b, whose operands `matrices` turns into matrices (views of them).
local function product(name, matrices)
   return function(r, a, b, beta, alpha)
      if elements[object.tensor(r).dtype].integer then
         return place.onhost(name, 1, r, a, b, beta, alpha)
      end
      local to, first, second = matrices(r, a, b)
      aten.matmul(to, to, first, second, beta, alpha)
      return C.BR_OK
   end
end

return {
   br_addmm = product('br_addmm', function(r, a, b) return r, a, b end),
   br_addmv = product('br_addmv', function(r, a, x) return r:unsqueeze(2), a, x:unsqueeze(2) end),
   br_convolve = function(...)
      return place.onhost('br_convolve', 1, ...)
   end,
   br_addr = product('br_addr', function(r, x, y) return r, x:unsqueeze(2), y:unsqueeze(1) end),
}
