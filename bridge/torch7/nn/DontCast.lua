-- A module that keeps its type when the network around it is converted; its input (`castin`) and output (`castout`) are
-- converted instead.
local typecopy = require 'nn.shared.typecopy'

local DontCast, parent = torch.class('nn.DontCast', 'nn.Decorator')

-- The type of the first tensor found in a value, which may be a nested table; else that of the last value looked at.
-- Whether it is a tensor's.
local function typeof(value)
   if type(value) ~= 'table' then
      return torch.type(value), torch.isTensor(value)
   end
   local typename, found
   for _, inner in pairs(value) do
      typename, found = typeof(inner)
      if found then
         break
      end
   end
   return typename, found
end

function DontCast:__init(module, castin, castout, moduleType)
   parent.__init(self, module)
   self.castin = castin
   self.castout = castout
   if castout == nil then
      self.castout = castin
   end
   self.moduleType = moduleType
   if (self.castin or self.castout) and not self.moduleType then
      local typename, found = typeof(module.output)
      if not found then
         typename, found = typeof((module:parameters()))
      end
      if not found then
         error('Cannot extrapolate moduleType. Provide constructor argument 4')
      end
      self.moduleType = typename
   end
end

local function foreign(self, value)
   return (typeof(value)) ~= self.moduleType
end

-- What the module gets for an input and a gradient that updateOutput and updateGradInput have converted.
local function inside(self, input, gradOutput)
   if self.castin and foreign(self, input) then
      input = self._input
   end
   if self.castout and foreign(self, gradOutput) then
      gradOutput = self._gradOutput
   end
   return input, gradOutput
end

function DontCast:updateOutput(input)
   if self.castin and foreign(self, input) then
      self._input = typecopy(self._input, input, self.moduleType)
      input = self._input
   end
   local output = self.modules[1]:updateOutput(input)
   self.output = self.castout and typecopy(self.output, output, (typeof(self.output))) or output
   return self.output
end

function DontCast:updateGradInput(input, gradOutput)
   if self.castout and foreign(self, gradOutput) then
      self._gradOutput = typecopy(self._gradOutput, gradOutput, self.moduleType)
   end
   local gradInput = self.modules[1]:updateGradInput(inside(self, input, gradOutput))
   self.gradInput = self.castin and typecopy(self.gradInput, gradInput, (typeof(self.gradInput))) or gradInput
   return self.gradInput
end

function DontCast:accGradParameters(input, gradOutput, scale)
   input, gradOutput = inside(self, input, gradOutput)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
end

function DontCast:accUpdateGradParameters(input, gradOutput, lr)
   input, gradOutput = inside(self, input, gradOutput)
   self.modules[1]:accUpdateGradParameters(input, gradOutput, lr)
end

function DontCast:sharedAccUpdateGradParameters(input, gradOutput, lr)
   input, gradOutput = inside(self, input, gradOutput)
   self.modules[1]:sharedAccUpdateGradParameters(input, gradOutput, lr)
end

local function converted(value, typename)
   return (typeof(value)) == typename and value or typecopy(nil, value, typename)
end

function DontCast:type(typename)
   if not typename then
      return self._type
   end
   if self.castout then
      self.output = converted(self.output, typename)
   end
   if self.castin then
      self.gradInput = converted(self.gradInput, typename)
   end
   self._type = typename
   return self
end

function DontCast:clearState()
   nn.utils.clear(self, '_input', '_gradOutput')
   return parent.clearState(self)
end
