-- |pad| times `value` along a dimension: before the element `index` for a negative pad, for a positive one behind the
-- element that is `index`th from the end.
local Padding, parent = torch.class('nn.Padding', 'nn.Module')

function Padding:__init(dim, pad, nInputDim, value, index)
   parent.__init(self)
   self.dim = dim
   self.pad = pad
   self.nInputDim = nInputDim
   self.value = value or 0
   self.index = index or 1
   self.outputSize = torch.LongStorage()
end

-- The dimension, and how many elements stand before the padding.
local function place(self, input)
   local dim = self.dim
   if self.nInputDim and input:dim() ~= self.nInputDim then
      dim = dim + 1
   end
   if dim < 1 or dim > input:dim() then
      error(string.format('dimension %d out of range of a %dD tensor', dim, input:dim()))
   end
   local before = self.pad > 0 and input:size(dim) - self.index + 1 or self.index - 1
   if before < 0 or before > input:size(dim) then
      error(string.format('index %d out of range of %d elements', self.index, input:size(dim)))
   end
   return dim, before
end

-- Call f with each part of t (with padding) and u (without) that correspond.
local function parts(self, t, u, dim, before, f)
   local n = u:size(dim)
   if before > 0 then
      f(t:narrow(dim, 1, before), u:narrow(dim, 1, before))
   end
   if before < n then
      f(t:narrow(dim, before + math.abs(self.pad) + 1, n - before), u:narrow(dim, before + 1, n - before))
   end
end

function Padding:updateOutput(input)
   local dim, before = place(self, input)
   self.outputSize:resize(input:dim()):copy(input:size())
   self.outputSize[dim] = self.outputSize[dim] + math.abs(self.pad)
   self.output:resize(self.outputSize):fill(self.value)
   parts(self, self.output, input, dim, before, function(padded, part) padded:copy(part) end)
   return self.output
end

function Padding:updateGradInput(input, gradOutput)
   local dim, before = place(self, input)
   self.gradInput:resizeAs(input)
   parts(self, gradOutput, self.gradInput, dim, before, function(padded, part) part:copy(padded) end)
   return self.gradInput
end
