-- Adds a number; with `negate`, then changes the sign.
local SAdd, parent = torch.class('nn.SAdd', 'nn.Module')

function SAdd:__init(addend, negate)
   parent.__init(self)
   self.addend = addend
   self.negate = negate == nil and false or negate
end

function SAdd:updateOutput(input)
   self.output:resizeAs(input):copy(input):add(self.addend)
   return self.negate and self.output:mul(-1) or self.output
end

function SAdd:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.negate and self.gradInput:mul(-1) or self.gradInput
end

function SAdd:__tostring__()
   return string.format('%s(%f%s)', torch.type(self), self.addend, self.negate and ', negate' or '')
end
