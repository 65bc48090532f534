-- Huber's loss: x^2 / 2 where the difference is below 1, |x| - 1/2 elsewhere; the mean (or sum).
local SmoothL1Criterion, parent = torch.class('nn.SmoothL1Criterion', 'nn.Criterion')

function SmoothL1Criterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
end

function SmoothL1Criterion:updateOutput(input, target)
   local distance = torch.add(input, -1, target):abs()
   local near = torch.cmin(distance, 1)
   self.output = near:cmul(distance:add(-0.5, near)):sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function SmoothL1Criterion:updateGradInput(input, target)
   local norm = self.sizeAverage and 1 / input:nElement() or 1
   self.gradInput:resizeAs(input):copy(input)
   return self.gradInput:add(-1, target):clamp(-1, 1):mul(norm)
end
