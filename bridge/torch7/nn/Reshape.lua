-- The input's elements in another shape, for each of a batch.
local Reshape, parent = torch.class('nn.Reshape', 'nn.Module')

function Reshape:__init(...)
   parent.__init(self)
   local sizes = {...}
   if type(sizes[#sizes]) == 'boolean' then
      self.batchMode = table.remove(sizes)
   end
   if torch.isTypeOf(sizes[1], 'torch.LongStorage') then
      sizes = sizes[1]:totable()
   end
   self.size = torch.LongStorage(#sizes)
   self.batchsize = torch.LongStorage(#sizes + 1)
   self.nelement = 1
   for i, size in ipairs(sizes) do
      self.nelement = self.nelement * size
      self.size[i] = size
      self.batchsize[i + 1] = size
   end
end

function Reshape:updateOutput(input)
   if not input:isContiguous() then
      self._input = self._input or input.new()
      self._input:resizeAs(input):copy(input)
      input = self._input
   end
   local single = self.batchMode == false or
      (self.batchMode == nil and input:nElement() == self.nelement and input:size(1) ~= 1)
   if single then
      self.output:view(input, self.size)
   else
      self.batchsize[1] = input:size(1)
      self.output:view(input, self.batchsize)
   end
   return self.output
end

function Reshape:updateGradInput(input, gradOutput)
   if not gradOutput:isContiguous() then
      self._gradOutput = self._gradOutput or gradOutput.new()
      self._gradOutput:resizeAs(gradOutput):copy(gradOutput)
      gradOutput = self._gradOutput
   end
   self.gradInput:viewAs(gradOutput, input)
   return self.gradInput
end

function Reshape:__tostring__()
   return torch.type(self) .. '(' .. table.concat(self.size:totable(), 'x') .. ')'
end

function Reshape:clearState()
   nn.utils.clear(self, '_input', '_gradOutput')
   return parent.clearState(self)
end
