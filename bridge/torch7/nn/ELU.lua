-- x where it is positive, alpha * (exp(x) - 1) elsewhere: Clevert, Unterthiner & Hochreiter (2015).
local ELU, parent = torch.class('nn.ELU', 'nn.Module')

function ELU:__init(alpha, inplace)
   parent.__init(self)
   self.alpha = alpha or 1
   if type(self.alpha) ~= 'number' then
      error('alpha is a number, got ' .. type(self.alpha))
   end
   self.inplace = inplace or false
end

function ELU:updateOutput(input)
   local negative = input:le(0)
   if self.inplace then
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
   end
   local low = self.output[negative]
   if low:nElement() > 0 then
      self.output[negative] = low:exp():add(-1):mul(self.alpha)
   end
   return self.output
end

-- From the output alone, which is where in-place use has left it.
function ELU:updateGradInput(input, gradOutput)
   local slope = self.output.new():resizeAs(self.output):cmin(self.output, 0)
   slope:add(self.alpha):maskedFill(self.output:gt(0), 1)
   if self.inplace then
      self.gradInput:set(gradOutput)
      return self.gradInput:cmul(slope)
   end
   self.gradInput:resizeAs(input)
   return self.gradInput:cmul(gradOutput, slope)
end

function ELU:__tostring__()
   return string.format('%s (alpha:%f)', torch.type(self), self.alpha)
end
