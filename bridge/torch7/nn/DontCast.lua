-- A module that keeps its type when the network around it is converted; its input (`castin`) and output (`castout`) are
-- converted instead.
local typecopy = require 'nn.typecopy'

local DontCast, parent = torch.class('nn.DontCast', 'nn.Decorator')

function DontCast:__init(module, castin, castout, moduleType)
   parent.__init(self, module)
   self.castin = castin
   self.castout = castout
   if castout == nil then
      self.castout = castin
   end
   self.moduleType = moduleType
   if (self.castin or self.castout) and not self.moduleType then
      local typename = torch.typename(module.output)
      if not (typename and typename:find('torch%..*Tensor')) then
         error('Cannot extrapolate moduleType. Provide constructor argument 4')
      end
      self.moduleType = typename
   end
end

-- The input as the module wants it.
local function castinput(self, input)
   if not self.castin then
      return input
   end
   self._input = typecopy(self._input, input, self.moduleType)
   return self._input
end

local function castgradient(self, gradOutput)
   if not self.castout then
      return gradOutput
   end
   self._gradOutput = typecopy(self._gradOutput, gradOutput, self.moduleType)
   return self._gradOutput
end

function DontCast:updateOutput(input)
   local output = self.modules[1]:updateOutput(castinput(self, input))
   self.output = self.castout and typecopy(self.output, output, self:type()) or output
   return self.output
end

function DontCast:updateGradInput(input, gradOutput)
   local gradInput = self.modules[1]:updateGradInput(castinput(self, input), castgradient(self, gradOutput))
   self.gradInput = self.castin and typecopy(self.gradInput, gradInput, self:type()) or gradInput
   return self.gradInput
end

function DontCast:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(castinput(self, input), castgradient(self, gradOutput), scale)
end

function DontCast:accUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:accUpdateGradParameters(castinput(self, input), castgradient(self, gradOutput), lr)
end

function DontCast:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:sharedAccUpdateGradParameters(castinput(self, input), castgradient(self, gradOutput), lr)
end

function DontCast:type(typename)
   if not typename then
      return self._type
   end
   if self.castout then
      self.output = nn.utils.recursiveType(self.output, typename)
   end
   if self.castin then
      self.gradInput = nn.utils.recursiveType(self.gradInput, typename)
   end
   self._type = typename
   return self
end

function DontCast:clearState()
   nn.utils.clear(self, '_input', '_gradOutput')
   return parent.clearState(self)
end
