-- Each element, cut off below min_value and above max_value.
local bend = require 'nn.shared.bend'

local HardTanh, parent = torch.class('nn.HardTanh', 'nn.Module')

function HardTanh:__init(min_value, max_value, inplace)
   parent.__init(self)
   self.min_val = min_value or -1
   self.max_val = max_value or 1
   if inplace and type(inplace) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = inplace or false
   if self.max_val <= self.min_val then
      error('max_value must be larger than min_value')
   end
end

-- What updateOutput and updateGradInput of ReLU6 do, too.
function HardTanh.cut(self, input, low, high)
   return bend.cut(bend.output(self, input), input, low, high)
end

-- An element at a limit has no gradient; but it has where the original takes its way for vectors and for tensors with
-- gaps, unless it works in place.
function HardTanh.pass(self, input, gradOutput, low, high)
   local gradInput = bend.gradInput(self, input, gradOutput)
   local plain = input:dim() ~= 1 and input:isContiguous() and gradOutput:isContiguous() and gradInput:isContiguous()
   local gate = (plain or self.inplace) and bend.inside or bend.within
   return gate(gradInput, input, gradOutput, low, high)
end

function HardTanh:updateOutput(input)
   return HardTanh.cut(self, input, self.min_val or -1, self.max_val or 1)
end

function HardTanh:updateGradInput(input, gradOutput)
   return HardTanh.pass(self, input, gradOutput, self.min_val, self.max_val)
end
