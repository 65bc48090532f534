-- min(max(0, x), 6): what nn.HardTanh does, with fixed limits.
local ReLU6, parent = torch.class('nn.ReLU6', 'nn.Module')

function ReLU6:__init(inplace)
   parent.__init(self)
   if inplace and type(inplace) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = inplace or false
end

function ReLU6:updateOutput(input)
   return nn.HardTanh.cut(self, input, 0, 6)
end

function ReLU6:updateGradInput(input, gradOutput)
   return nn.HardTanh.pass(self, input, gradOutput, 0, 6)
end
