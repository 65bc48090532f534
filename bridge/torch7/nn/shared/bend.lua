-- Functions of each element that have a bend: the native loops, and where modules put their results.
--
-- A loop of bridge/core/loops/loops.h is here by its name, without BR_ and in small letters, and returns its result r:
-- r = f(a; v, w) or r = f(a, b; v, w), with the numbers v and w.
local native = require 'bridge.native'
local kernels = require 'torch.kernels'
local demand = require 'nn.shared.demand'

local C = native.C

local bend = {}

for _, name in ipairs{'threshold', 'softshrink', 'softsign', 'cut'} do
   local op = C['BR_' .. name:upper()]
   bend[name] = function(r, a, v, w)
      kernels.map(op, r, a, v, w)
      return r
   end
end

for _, name in ipairs{'above', 'inside', 'within', 'outside', 'mirrored', 'softsignback', 'elu', 'eluback', 'softplus',
   'softplusback'} do
   local op = C['BR_' .. name:upper()]
   bend[name] = function(r, a, b, v, w)
      kernels.gate(op, r, a, b, v, w)
      return r
   end
end

-- b where a is positive, slope * b elsewhere; all three are tensors.
function bend.prelu(r, a, b, slope)
   kernels.triple(C.BR_PRELU, r, a, b, slope, 0)
   return r
end

-- The tensor for the output: the input itself where the module works in place.
function bend.output(self, input)
   return self.inplace and self.output:set(input) or self.output:resizeAs(input)
end

function bend.gradInput(self, input, gradOutput)
   demand.elements('input', input, 'gradOutput', gradOutput)
   return self.inplace and self.gradInput:set(gradOutput) or self.gradInput:resizeAs(input)
end

return bend
