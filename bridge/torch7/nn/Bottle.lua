-- Modules that know inputs of nInputDim dimensions (the batch counted) applied to inputs with more: those in front
-- become one, and are put back in front of the output.
local Bottle, parent = torch.class('nn.Bottle', 'nn.Decorator')

function Bottle:__init(module, nInputDim, nOutputDim)
   parent.__init(self, module)
   self.nInputDim = nInputDim or 2
   self.nOutputDim = nOutputDim or self.nInputDim
   self.dimDelta = self.nInputDim - self.nOutputDim
   self.inShape = torch.LongStorage(self.nInputDim):fill(0)
   self.outShape = torch.LongStorage(self.nOutputDim):fill(0)
end

-- The sizes of `tensor` with its first dimensions, all but `kept - 1` of them, as one.
local function squeezed(tensor, kept)
   local sizes, joined = tensor:size():totable(), 1
   for _ = 1, #sizes - kept + 1 do
      joined = joined * table.remove(sizes, 1)
   end
   table.insert(sizes, 1, joined)
   return torch.LongStorage(sizes)
end

function Bottle:updateOutput(input)
   if input:dim() <= self.nInputDim then
      self.output:set(self.modules[1]:updateOutput(input:contiguous()))
      return self.output
   end
   self.inShape = squeezed(input, self.nInputDim)
   local output = self.modules[1]:updateOutput(input:contiguous():view(self.inShape))
   if output:dim() ~= self.nOutputDim then
      error(string.format('Wrong number of output dims on module. Expected: %d but got %d', self.nOutputDim,
         output:dim()))
   end
   self.outShape = output:size()
   local sizes = {}
   for d = 1, input:dim() - self.nInputDim + 1 do
      sizes[d] = input:size(d)
   end
   for d = 2, output:dim() do
      sizes[#sizes + 1] = output:size(d)
   end
   self.output:set(output:contiguous():view(torch.LongStorage(sizes)))
   return self.output
end

-- The input and the gradient as the module inside knows them.
local function inside(self, input, gradOutput)
   input, gradOutput = input:contiguous(), gradOutput:contiguous()
   if input:dim() <= self.nInputDim then
      return input, gradOutput
   end
   return input:view(self.inShape), gradOutput:view(self.outShape)
end

function Bottle:updateGradInput(input, gradOutput)
   if self.modules[1].gradInput then
      local gradInput = self.modules[1]:updateGradInput(inside(self, input, gradOutput))
      if gradInput then
         self.gradInput:set(gradInput:contiguous():viewAs(input))
      else
         self.gradInput = nil
      end
   else
      self.gradInput = nil
   end
   return self.gradInput
end

function Bottle:accGradParameters(input, gradOutput, scale)
   local x, gradient = inside(self, input, gradOutput)
   self.modules[1]:accGradParameters(x, gradient, scale)
end

function Bottle:accUpdateGradParameters(input, gradOutput, lr)
   local x, gradient = inside(self, input, gradOutput)
   self.modules[1]:accUpdateGradParameters(x, gradient, lr)
end

function Bottle:sharedAccUpdateGradParameters(input, gradOutput, lr)
   local x, gradient = inside(self, input, gradOutput)
   self.modules[1]:sharedAccUpdateGradParameters(x, gradient, lr)
end
