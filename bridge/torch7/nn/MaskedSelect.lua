-- The elements of the first input where the second, a mask, is 1.
local MaskedSelect, parent = torch.class('nn.MaskedSelect', 'nn.Module')

function MaskedSelect:__init()
   parent.__init(self)
   self._maskIndices = torch.LongTensor()
   self._maskIndexBuffer = torch.LongTensor()
   self._maskIndexBufferCPU = torch.FloatTensor()
   self._gradBuffer = torch.Tensor()
   self._gradMask = torch.ByteTensor()
end

function MaskedSelect:updateOutput(input)
   local tensor, mask = unpack(input)
   self.output:maskedSelect(tensor, mask)
   return self.output
end

function MaskedSelect:updateGradInput(input, gradOutput)
   local tensor, mask = unpack(input)
   self._gradBuffer:resizeAs(tensor):zero()
   if gradOutput:nElement() > 0 then
      self._gradBuffer:maskedCopy(mask, gradOutput)
   end
   self._gradMask:resize(mask:size()):zero()
   self.gradInput = {self._gradBuffer, self._gradMask}
   return self.gradInput
end

-- Indices and mask keep their types.
function MaskedSelect:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   local kept = {}
   for _, name in ipairs{'_maskIndices', '_maskIndexBuffer', '_maskIndexBufferCPU', '_gradMask'} do
      kept[name], self[name] = self[name], nil
   end
   self.gradInput = self._gradBuffer
   parent.type(self, typename, tensorCache)
   for name, tensor in pairs(kept) do
      self[name] = tensor
   end
   return self
end

function MaskedSelect:clearState()
   nn.utils.clear(self, '_maskIndices', '_maskIndexBuffer', '_maskIndexBufferCPU', '_gradBuffer', '_gradMask')
   return parent.clearState(self)
end
