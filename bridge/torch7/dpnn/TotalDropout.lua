-- With probability p nothing passes in training, else everything.
local TotalDropout, parent = torch.class('nn.TotalDropout', 'nn.Module')

function TotalDropout:__init(p)
   parent.__init(self)
   self.p = p or 0.5
   self.train = true
   if self.p >= 1 or self.p < 0 then
      error('<TotalDropout> illegal percentage, must be 0 <= p < 1')
   end
end

function TotalDropout:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   if self.train then
      self.noise = torch.bernoulli(1 - self.p)
      self.output:mul(self.noise)
   end
   return self.output
end

function TotalDropout:updateGradInput(_, gradOutput)
   if not self.train then
      error('backprop only defined while training')
   end
   self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.noise)
   return self.gradInput
end

function TotalDropout:__tostring__()
   return string.format('%s(%f)', torch.type(self), self.p)
end
