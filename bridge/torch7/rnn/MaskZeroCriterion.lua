-- A criterion of the rows that are no padding; the others have no loss and no gradient.
local mask = require 'rnn.mask'

local MaskZeroCriterion, parent = torch.class('nn.MaskZeroCriterion', 'nn.Criterion')

function MaskZeroCriterion:__init(criterion, nInputDim)
   parent.__init(self)
   if not torch.isTypeOf(criterion, 'nn.Criterion') then
      error('nn.MaskZeroCriterion: expected a criterion, got ' .. torch.type(criterion))
   elseif type(nInputDim) ~= 'number' then
      error('nn.MaskZeroCriterion: expected the number of dimensions of an input, got ' .. torch.type(nInputDim))
   end
   self.criterion = criterion
   self.nInputDim = nInputDim
end

-- The rows of tensors, in nested tables, that are listed.
local function rows(into, source, list)
   if torch.type(source) == 'table' then
      into = torch.type(into) == 'table' and into or {}
      for key, inner in pairs(source) do
         into[key] = rows(into[key], inner, list)
      end
      return into
   end
   into = torch.type(into) == torch.type(source) and into or source.new()
   into:index(source, 1, list)
   return into
end

function MaskZeroCriterion:updateOutput(input, target)
   local zero, batch = mask.rows(self, input, self.nInputDim)
   if not batch then
      error('nn.MaskZeroCriterion: does not support online (i.e. non-batch) mode')
   end
   local kept = zero:eq(0):nonzero()
   self.zeroMask = kept:nElement() > 0 and kept:view(-1) or kept
   self.output = 0
   if self.zeroMask:nElement() > 0 then
      self.input = rows(self.input, input, self.zeroMask)
      self.target = rows(self.target, target, self.zeroMask)
      self.output = self.criterion:updateOutput(self.input, self.target)
   end
   return self.output
end

-- Zeros like the input, with the gradients of the rows that were kept.
local function spread(into, like, gradient, list)
   if torch.type(like) == 'table' then
      into = torch.type(into) == 'table' and into or {}
      for key, inner in pairs(like) do
         into[key] = spread(into[key], inner, gradient and gradient[key], list)
      end
      return into
   end
   into = torch.isTensor(into) and into or like.new()
   into:resizeAs(like):zero()
   if gradient then
      into:indexCopy(1, list, gradient)
   end
   return into
end

function MaskZeroCriterion:updateGradInput(input)
   local gradient = self.zeroMask:nElement() > 0 and self.criterion:updateGradInput(self.input, self.target) or nil
   self.gradInput = spread(self.gradInput, input, gradient, self.zeroMask)
   return self.gradInput
end

function MaskZeroCriterion:type(typename, tensorCache)
   self.zeroMask, self.input, self.target = nil, nil, nil
   return parent.type(self, typename, tensorCache)
end
