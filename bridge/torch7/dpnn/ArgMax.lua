-- Where the largest element lies along a dimension, which goes; no gradient.
local ArgMax, parent = torch.class('nn.ArgMax', 'nn.Module')

function ArgMax:__init(dim, nInputDim, asLong)
   parent.__init(self)
   self.dim = dim or 1
   self.nInputDim = nInputDim or 9999
   self.asLong = asLong ~= false
   if self.asLong then
      self.output = torch.LongTensor()
   end
end

function ArgMax:updateOutput(input)
   local dim = input:dim() > self.nInputDim and self.dim + 1 or self.dim
   local _, places = input:max(dim)
   if places:dim() > 1 then
      places = places:select(dim, 1)
   end
   self.output = self.output:resize(places:size()):copy(places)
   return self.output
end

function ArgMax:updateGradInput(input)
   self.gradInput:resizeAs(input):zero()
   return self.gradInput
end

-- Indices stay what they are.
function ArgMax:type(typename, tensorCache)
   if not typename then
      return parent.type(self)
   end
   local output = self.output
   self.output = nil
   parent.type(self, typename, tensorCache)
   self.output = self.asLong and output or output:type(typename)
   return self
end
