-- Batches of images or volumes scale_factor times as large: 'nearest' or 'linear'.
local enlarge = require 'nn.shared.enlarge'

local UpSampling, parent = torch.class('nn.UpSampling', 'nn.Module')

function UpSampling:__init(scale_factor, mode)
   parent.__init(self)
   self.scale_factor = enlarge.factor(scale_factor)
   self.mode = mode or 'nearest'
   if self.mode ~= 'nearest' and self.mode ~= 'linear' then
      error(string.format("mode must be 'nearest' or 'linear', got %q", tostring(mode)))
   end
end

local function sizes(self, input)
   if input:dim() ~= 4 and input:dim() ~= 5 then
      error('UpSampling only supports 4D or 5D tensors, got a ' .. input:dim() .. 'D tensor')
   end
   return enlarge.scaled(input, input:dim() - 2, self.scale_factor)
end

function UpSampling:updateOutput(input)
   return enlarge.forward(self.mode, self.output, input, sizes(self, input))
end

function UpSampling:updateGradInput(input, gradOutput)
   return enlarge.backward(self.mode, self.gradInput, input, gradOutput, sizes(self, input))
end

function UpSampling:__tostring__()
   return string.format('%s(%dx, %s)', torch.type(self), self.scale_factor, self.mode)
end
