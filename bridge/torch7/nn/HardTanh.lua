-- Each element, cut off below min_value and above max_value.
local bend = require 'nn.bend'

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

function HardTanh:updateOutput(input)
   return torch.clamp(bend.output(self, input), input, self.min_val, self.max_val)
end

function HardTanh:updateGradInput(input, gradOutput)
   return bend.inside(bend.gradInput(self, input, gradOutput), input, gradOutput, self.min_val, self.max_val)
end
