-- Each row (or a vector) divided by its p-norm.
local shape = require 'nn.shared.shape'
local longs = require 'nn.shared.longs'

local Normalize, parent = torch.class('nn.Normalize', 'nn.Module')

function Normalize:__init(p, eps)
   parent.__init(self)
   if type(p) ~= 'number' or not (p > 0) then
      error('p-norm not provided, or not positive: ' .. tostring(p))
   end
   self.p = p
   self.eps = eps or 1e-10
end

-- A vector as a matrix of one row.
local function rows(t)
   if t:dim() > 2 or t:dim() < 1 then
      error('only 1d layer supported')
   end
   return t:dim() == 1 and shape.single(t) or t
end

function Normalize:updateOutput(input)
   local x = rows(input)
   self.buffer = self.buffer or input.new()
   self.norm = self.norm or input.new()
   self.normp = self.normp or input.new()
   self.buffer:resizeAs(x):abs(x)
   if self.p == math.huge then
      self._indices = longs.beside(self._indices, x)
      torch.max(self.norm, self._indices, self.buffer, 2)
      self.norm:add(self.eps)
   else
      self.normp:sum(self.buffer:pow(self.p), 2):add(self.eps)
      self.norm:resizeAs(self.normp):pow(self.normp, 1 / self.p)
   end
   self.output:resizeAs(x):cdiv(x, self.norm:expandAs(x))
   self.output:resizeAs(input)
   return self.output
end

-- y = x / n with n = (sum |x|^p + eps)^(1/p): what y gives through x, less what it gives through n.
function Normalize:updateGradInput(input, gradOutput)
   local x, dy = rows(input), rows(gradOutput)
   if not x:isSameSizeAs(dy) then
      error(string.format('gradOutput must have the size of the input, got %s elements for %s', dy:nElement(),
         x:nElement()))
   end
   self.gradInput:resizeAs(x):cdiv(dy, self.norm:expandAs(x))
   self.buffer:resizeAs(x):cmul(x, dy)
   local through = self.buffer:sum(2)
   if self.p == math.huge then
      through:cdiv(torch.cmul(self.norm, self.norm))
      local sign = x:gather(2, self._indices):sign()
      local largest = self.gradInput:gather(2, self._indices)
      self.gradInput:scatter(2, self._indices, largest:add(-1, sign:cmul(through)))
   else
      through:cdiv(self.normp):cdiv(self.norm)
      -- |x|^(p-2) x
      self.buffer:abs(x):pow(self.p - 1):cmul(torch.sign(x))
      self.gradInput:add(-1, self.buffer:cmul(through:expandAs(x)))
   end
   self.gradInput:resizeAs(input)
   return self.gradInput
end

function Normalize:__tostring__()
   return string.format(self.p % 1 == 0 and '%s(%d)' or '%s(%f)', torch.type(self), self.p)
end

-- Indices are not converted.
function Normalize:type(type, tensorCache)
   if not type then
      return self._type
   end
   self._indices = nil
   return parent.type(self, type, tensorCache)
end

function Normalize:clearState()
   nn.utils.clear(self, '_indices', 'buffer', 'norm', 'normp')
   return parent.clearState(self)
end
