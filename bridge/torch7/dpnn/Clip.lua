-- Numbers below minval and above maxval become these; gradients pass as they are.
local Clip, parent = torch.class('nn.Clip', 'nn.Module')

function Clip:__init(minval, maxval)
   parent.__init(self)
   if type(minval) ~= 'number' or type(maxval) ~= 'number' then
      error(string.format('nn.Clip: expected two numbers, got %s and %s', type(minval), type(maxval)))
   end
   self.minval = minval
   self.maxval = maxval
end

function Clip:updateOutput(input)
   self.output:resizeAs(input):clamp(input, self.minval, self.maxval)
   return self.output
end

function Clip:updateGradInput(_, gradOutput)
   self.gradInput:set(gradOutput)
   return self.gradInput
end
