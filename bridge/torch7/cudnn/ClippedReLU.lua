-- max(0, x), at most `ceiling`.
local ClippedReLU, parent = torch.class('cudnn.ClippedReLU', 'nn.HardTanh')

function ClippedReLU:__init(ceiling, inplace)
   if type(ceiling) ~= 'number' then
      error('cudnn.ClippedReLU: expected a ceiling, got ' .. torch.type(ceiling))
   end
   parent.__init(self, 0, ceiling, inplace)
   self.ceiling = ceiling
end

function ClippedReLU:updateOutput(input)
   self.min_val, self.max_val = 0, self.ceiling -- files of cuDNN have only the ceiling
   return parent.updateOutput(self, input)
end
