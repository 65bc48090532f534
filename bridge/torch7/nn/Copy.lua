-- A copy of the input, of another type; the input itself where the types agree, unless `forceCopy`.
local Copy, parent = torch.class('nn.Copy', 'nn.Module')

function Copy:__init(intype, outtype, forceCopy, dontCast)
   intype = intype or torch.Tensor.__typename
   outtype = outtype or torch.Tensor.__typename
   self.dontCast = dontCast
   parent.__init(self)
   self.gradInput = torch.getmetatable(intype).new()
   self.output = torch.getmetatable(outtype).new()
   if intype == outtype and not forceCopy then
      self.updateOutput = function(module, input)
         module.output:set(input)
         return input
      end
      self.updateGradInput = function(module, _, gradOutput)
         module.gradInput:set(gradOutput)
         return gradOutput
      end
   end
end

function Copy:updateOutput(input)
   self.output:resize(input:size()):copy(input)
   return self.output
end

function Copy:updateGradInput(_, gradOutput)
   self.gradInput:resize(gradOutput:size()):copy(gradOutput)
   return self.gradInput
end

function Copy:type(typename, tensorCache)
   if typename and self.dontCast then
      return self
   end
   return parent.type(self, typename, tensorCache)
end
