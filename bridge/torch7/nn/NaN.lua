-- A module that is watched: a NaN in what goes in, in what comes out, or in its parameters is an error.
local moses = require 'moses'

local NaN, parent = torch.class('nn.NaN', 'nn.Decorator')

local last = 0 -- the id given last

function NaN.newId()
   last = last + 1
   return last
end

function NaN:__init(module, id)
   parent.__init(self, module)
   self.id = id or NaN.newId()
end

function NaN:recursiveIsNaN(tensor)
   if torch.type(tensor) == 'table' then
      for _, inner in pairs(tensor) do
         if self:recursiveIsNaN(inner) then
            return true
         end
      end
      return false
   end
   return moses.isNaN(tensor:sum()) -- inf and -inf together are found as well
end

local function found(self, place)
   error(string.format('NaN found in %s of module :\n%s', place, self:__tostring__()), 3)
end

function NaN:updateOutput(input)
   self.output = self.modules[1]:updateOutput(input)
   if self:recursiveIsNaN(self.output) then
      if self:recursiveIsNaN(input) then
         found(self, 'input')
      elseif self:recursiveIsNaN((self:parameters())) then
         found(self, 'parameters')
      end
      found(self, 'output')
   end
   return self.output
end

function NaN:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   if self:recursiveIsNaN(self.gradInput) then
      found(self, self:recursiveIsNaN(gradOutput) and 'gradOutput' or 'gradInput')
   end
   return self.gradInput
end

function NaN:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
   local _, gradParams = self:parameters()
   if self:recursiveIsNaN(gradParams) then
      found(self, 'gradParameters')
   end
end

function NaN:__tostring__()
   return parent.__tostring__(self) .. ' id=' .. self.id
end
