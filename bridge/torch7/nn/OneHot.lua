-- Each index, counted from 1, as a row of zeros with a 1 in its place.
local longs = require 'nn.shared.longs'

local OneHot, parent = torch.class('nn.OneHot', 'nn.Module')

function OneHot:__init(outputSize)
   parent.__init(self)
   self.outputSize = outputSize
end

function OneHot:updateOutput(input)
   local single = type(input) == 'number'
   self._input = longs.beside(self._input, self.output)
   if single then
      self._input:resize(1):fill(input)
   else
      self._input:resize(input:size()):copy(input)
   end
   if self._input:min() < 1 or self._input:max() > self.outputSize then
      error(string.format('indices from 1 to %d expected, got %d to %d', self.outputSize, self._input:min(),
         self._input:max()))
   end
   local size = self._input:size():totable()
   size[#size + 1] = self.outputSize
   self.output:resize(torch.LongStorage(size)):zero()
   self.output:view(-1, self.outputSize):scatter(2, self._input:view(-1, 1), 1)
   if single then
      self.output = self.output:select(1, 1)
   end
   return self.output
end

function OneHot:updateGradInput(input)
   if type(input) == 'number' then
      return 0
   end
   self.gradInput:resize(input:size()):zero()
   return self.gradInput
end

function OneHot:type(typename, tensorCache)
   self._input = nil -- stays a LongTensor, made again by the next updateOutput
   return parent.type(self, typename, tensorCache)
end

function OneHot:clearState()
   nn.utils.clear(self, '_input')
   return parent.clearState(self)
end
