-- A loss: a number from an output and a target, and its gradient.
local Criterion = torch.class('nn.Criterion')

function Criterion:__init()
   self.gradInput = torch.Tensor()
   self.output = 0
   self._type = torch.getdefaulttensortype()
end

function Criterion:updateOutput()
end

function Criterion:forward(input, target)
   return self:updateOutput(input, target)
end

function Criterion:backward(input, target)
   return self:updateGradInput(input, target)
end

function Criterion:updateGradInput()
end

function Criterion:clone()
   return require('nn.shared.cloning')(self)
end

function Criterion:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   for key, param in pairs(self) do
      self[key] = nn.utils.recursiveType(param, typename, tensorCache)
   end
   self._type = typename
   return self
end

function Criterion:float()
   return self:type('torch.FloatTensor')
end

function Criterion:double()
   return self:type('torch.DoubleTensor')
end

function Criterion:cuda()
   return self:type('torch.CudaTensor')
end

function Criterion:cudaHalf()
   return self:type('torch.CudaHalfTensor')
end

function Criterion:cudaDouble()
   return self:type('torch.CudaDoubleTensor')
end

function Criterion:__call__(input, target)
   self.output = self:forward(input, target)
   self.gradInput = self:backward(input, target)
   return self.output, self.gradInput
end
