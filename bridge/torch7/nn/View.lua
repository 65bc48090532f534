-- The input's elements in another shape; what the sizes leave over is the batch.
local View, parent = torch.class('nn.View', 'nn.Module')

function View:__init(...)
   parent.__init(self)
   self:resetSize(...)
   self.numInputDims = nil
end

function View:resetSize(...)
   local first = ...
   self.size = torch.isTypeOf(first, 'torch.LongStorage') and first or torch.LongStorage{...}
   self.numElements = 1
   local inferred = false
   for i = 1, #self.size:totable() do
      local size = self.size[i]
      if size ~= -1 then
         self.numElements = self.numElements * size
      elseif inferred then
         error('only one dimension can be at -1')
      else
         inferred = true
      end
   end
   return self
end

function View:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

-- How many times the view fits into the input: the size of the batch, nil without one.
local function batchsize(self, input)
   local dimensions = input:dim()
   local inner = self.numInputDims or dimensions
   local elements, batch = 1, 1
   for d = 1, dimensions do
      if d > dimensions - inner then
         elements = elements * input:size(d)
      else
         batch = batch * input:size(d)
      end
   end
   local sizes = self.size:totable()
   if elements % self.numElements ~= 0 then
      error(string.format('input view (%s) and desired view (%s) do not match',
         table.concat(input:size():totable(), 'x'), table.concat(sizes, 'x')), 3)
   end
   local infers = false
   for _, size in ipairs(sizes) do
      infers = infers or size == -1
   end
   batch = batch * (infers and 1 or elements / self.numElements)
   if batch == 1 and (not self.numInputDims or dimensions <= self.numInputDims) then
      return nil
   end
   return batch
end

function View:updateOutput(input)
   self.output = self.output or input.new()
   local batch = batchsize(self, input)
   if batch then
      self.output:view(input, batch, unpack(self.size:totable()))
   else
      self.output:view(input, self.size)
   end
   return self.output
end

function View:updateGradInput(input, gradOutput)
   self.gradInput = self.gradInput or gradOutput.new()
   self.gradInput:view(gradOutput:contiguous(), input:size())
   return self.gradInput
end

function View:__tostring__()
   return torch.type(self) .. '(' .. table.concat(self.size:totable(), ', ') .. ')'
end
