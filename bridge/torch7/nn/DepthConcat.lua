-- Concat of images of different sizes: smaller ones lie in the middle, among zeros.
local DepthConcat = torch.class('nn.DepthConcat', 'nn.Concat')

-- The part of `output` at `offset` along the concatenated dimension that is as large as one module's output.
function DepthConcat:windowNarrow(output, currentOutput, offset)
   local window = output:narrow(self.dimension, offset, currentOutput:size(self.dimension))
   for d = 1, self.outputSize:size() do
      local size = currentOutput:size(d)
      if d ~= self.dimension and self.outputSize[d] ~= size then
         window = window:narrow(d, math.floor((self.outputSize[d] - size) / 2) + 1, size)
      end
   end
   return window
end

function DepthConcat:updateOutput(input)
   local outputs = {}
   self.outputSize = self.outputSize or torch.LongStorage()
   for i, module in ipairs(self.modules) do
      local output = self:rethrowErrors(module, i, 'updateOutput', input)
      outputs[i] = output
      if i == 1 then
         self.outputSize:resize(output:dim()):copy(output:size())
      else
         for d = 1, output:dim() do
            if d == self.dimension then
               self.outputSize[d] = self.outputSize[d] + output:size(d)
            else
               self.outputSize[d] = math.max(self.outputSize[d], output:size(d))
            end
         end
      end
   end
   self.output:resize(self.outputSize):zero()
   local offset = 1
   for _, output in ipairs(outputs) do
      self:windowNarrow(self.output, output, offset):copy(output)
      offset = offset + output:size(self.dimension)
   end
   return self.output
end

-- Call f with each module and its part of the gradient.
local function each(self, gradOutput, f)
   local offset = 1
   for i, module in ipairs(self.modules) do
      f(i, module, self:windowNarrow(gradOutput, module.output, offset))
      offset = offset + module.output:size(self.dimension)
   end
end

function DepthConcat:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   each(self, gradOutput, function(i, module, part)
      self.gradInput:add(self:rethrowErrors(module, i, 'updateGradInput', input, part))
   end)
   return self.gradInput
end

function DepthConcat:backward(input, gradOutput, scale)
   self.gradInput:resizeAs(input):zero()
   each(self, gradOutput, function(i, module, part)
      self.gradInput:add(self:rethrowErrors(module, i, 'backward', input, part:contiguous(), scale or 1))
   end)
   return self.gradInput
end

function DepthConcat:accGradParameters(input, gradOutput, scale)
   each(self, gradOutput, function(i, module, part)
      self:rethrowErrors(module, i, 'accGradParameters', input, part, scale or 1)
   end)
end

function DepthConcat:accUpdateGradParameters(input, gradOutput, lr)
   each(self, gradOutput, function(i, module, part)
      self:rethrowErrors(module, i, 'accUpdateGradParameters', input, part, lr)
   end)
end
