-- The cosine between the input, a vector or the rows of a matrix, and each row of a learned matrix.
local rows = require 'nn.shared.rows'

local Cosine, parent = torch.class('nn.Cosine', 'nn.Module')

local EPSILON = 1e-12 -- added to norms, so that zeros do not divide

function Cosine:__init(inputSize, outputSize)
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self:reset()
end

function Cosine:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

local function norms(buffer, matrix)
   buffer = buffer or matrix.new()
   return buffer:norm(matrix, 2, 2):add(EPSILON)
end

function Cosine:updateOutput(input)
   local x = rows(input)
   local samples, outputs = x:size(1), self.weight:size(1)
   self._weightNorm = norms(self._weightNorm, self.weight)
   self._inputNorm = norms(self._inputNorm, x)
   self.output:resize(samples, outputs):mm(x, self.weight:t())
   self.output:cdiv(self._inputNorm:expand(samples, outputs))
   self.output:cdiv(self._weightNorm:t():expand(samples, outputs))
   if input:dim() == 1 then
      self.output:resize(outputs)
   end
   return self.output
end

-- gradOutput over the product of the norms in each place, and gradOutput times output.
local function factors(self, gradOutput)
   local gradient, output = rows(gradOutput), rows(self.output)
   local both = torch.cdiv(gradient, self._inputNorm:expandAs(gradient))
   return both:cdiv(self._weightNorm:t():expandAs(gradient)), torch.cmul(gradient, output)
end

function Cosine:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local x = rows(input)
   local both, shrink = factors(self, gradOutput)
   shrink = shrink:sum(2):cdiv(torch.cmul(self._inputNorm, self._inputNorm))
   self.gradInput:resizeAs(x):mm(both, self.weight):addcmul(-1, shrink:expandAs(x), x)
   return self.gradInput:resizeAs(input)
end

function Cosine:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local both, shrink = factors(self, gradOutput)
   shrink = shrink:sum(1):t():contiguous():cdiv(torch.cmul(self._weightNorm, self._weightNorm))
   local gradient = torch.mm(both:t(), rows(input))
   gradient:addcmul(-1, shrink:expandAs(self.weight), self.weight)
   self.gradWeight:add(scale, gradient)
end

function Cosine:type(typename, tensorCache)
   if typename then
      self:clearState()
   end
   return parent.type(self, typename, tensorCache)
end

function Cosine:clearState()
   nn.utils.clear(self, '_input', '_weight', '_gradOutput', '_sum', '_inputNorm', '_weightNorm')
   return parent.clearState(self)
end
