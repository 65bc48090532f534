-- A bias added to each element (or, `scalar`, one number to all).
local Add, parent = torch.class('nn.Add', 'nn.Module')

function Add:__init(inputSize, scalar)
   parent.__init(self)
   local size = scalar and 1 or inputSize
   self.scalar = scalar
   self.bias = torch.Tensor(size)
   self.gradBias = torch.Tensor(size):zero()
   self._ones = torch.Tensor{1}
   self:reset()
end

function Add:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.bias:size(1))
   self.bias:uniform(-stdv, stdv)
end

local function ones(self, rows)
   if self._ones:nElement() ~= rows then
      self._ones:resize(rows):fill(1)
   end
   return self._ones
end

function Add:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   if self.scalar then
      self.output:add(self.bias[1])
   elseif input:isSameSizeAs(self.bias) then
      self.output:add(self.bias)
   else
      local rows = input:size(1)
      self.output:view(rows, -1):addr(1, ones(self, rows), self.bias:view(-1))
   end
   return self.output
end

function Add:updateGradInput(_, gradOutput)
   if self.gradInput then
      return self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   end
end

function Add:accGradParameters(_, gradOutput, scale)
   scale = scale or 1
   if self.scalar then
      self.gradBias[1] = self.gradBias[1] + scale * gradOutput:sum()
   elseif gradOutput:isSameSizeAs(self.bias) then
      self.gradBias:add(scale, gradOutput)
   else
      local rows = gradOutput:size(1)
      self.gradBias:view(-1):addmv(scale, gradOutput:contiguous():view(rows, -1):t(), ones(self, rows))
   end
end
