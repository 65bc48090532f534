-- y = W x + b, for a vector or the rows of a matrix.
local Linear, parent = torch.class('nn.Linear', 'nn.Module')

function Linear:__init(inputSize, outputSize, bias)
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(outputSize)
      self.gradBias = torch.Tensor(outputSize):zero()
   end
   self:reset()
end

function Linear:noBias()
   self.bias = nil
   self.gradBias = nil
   return self
end

function Linear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   if nn.oldSeed then
      for i = 1, self.weight:size(1) do
         self.weight:select(1, i):apply(function() return torch.uniform(-stdv, stdv) end)
         if self.bias then
            self.bias[i] = torch.uniform(-stdv, stdv)
         end
      end
   else
      self.weight:uniform(-stdv, stdv)
      if self.bias then
         self.bias:uniform(-stdv, stdv)
      end
   end
   return self
end

-- Ones, as many as there are rows: what spreads and collects the bias.
function Linear:updateAddBuffer(input)
   local rows = input:size(1)
   self.addBuffer = self.addBuffer or input.new()
   if self.addBuffer:nElement() ~= rows then
      self.addBuffer:resize(rows):fill(1)
   end
end

function Linear:updateOutput(input)
   if input:dim() == 1 then
      self.output:resize(self.weight:size(1))
      if self.bias then
         self.output:copy(self.bias)
      else
         self.output:zero()
      end
      self.output:addmv(1, self.weight, input)
   elseif input:dim() == 2 then
      local rows = input:size(1)
      local before = self.output:nElement()
      self.output:resize(rows, self.weight:size(1))
      if self.output:nElement() ~= before then
         self.output:zero()
      end
      self:updateAddBuffer(input)
      self.output:addmm(0, self.output, 1, input, self.weight:t())
      if self.bias then
         self.output:addr(1, self.addBuffer, self.bias)
      end
   else
      error('input must be vector or matrix')
   end
   return self.output
end

function Linear:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local before = self.gradInput:nElement()
   self.gradInput:resizeAs(input)
   if self.gradInput:nElement() ~= before then
      self.gradInput:zero()
   end
   if input:dim() == 1 then
      self.gradInput:addmv(0, 1, self.weight:t(), gradOutput)
   elseif input:dim() == 2 then
      self.gradInput:addmm(0, 1, gradOutput, self.weight)
   end
   return self.gradInput
end

function Linear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   if input:dim() == 1 then
      self.gradWeight:addr(scale, gradOutput, input)
      if self.bias then
         self.gradBias:add(scale, gradOutput)
      end
   elseif input:dim() == 2 then
      self.gradWeight:addmm(scale, gradOutput:t(), input)
      if self.bias then
         self:updateAddBuffer(input)
         self.gradBias:addmv(scale, gradOutput:t(), self.addBuffer)
      end
   end
end

function Linear:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:defaultAccUpdateGradParameters(input, gradOutput, lr)
end

function Linear:clearState()
   if self.addBuffer then
      self.addBuffer:set()
   end
   return parent.clearState(self)
end

function Linear:__tostring__()
   return string.format('%s(%d -> %d)%s', torch.type(self), self.weight:size(2), self.weight:size(1),
      self.bias and '' or ' without bias')
end
