-- log(1 + exp(beta x)) / beta; x itself where beta x passes a threshold.
local SoftPlus, parent = torch.class('nn.SoftPlus', 'nn.Module')

function SoftPlus:__init(beta)
   parent.__init(self)
   self.beta = beta or 1
   self.threshold = 20
end

function SoftPlus:updateOutput(input)
   self.output:resizeAs(input):mul(input, self.beta)
   local straight = self.output:gt(self.threshold)
   self.output:cmin(self.threshold):exp():log1p():div(self.beta)
   if straight:max() > 0 then
      self.output[straight] = input[straight]
   end
   return self.output
end

function SoftPlus:updateGradInput(input, gradOutput)
   local slope = self.output.new():resizeAs(self.output):mul(self.output, -self.beta):exp():mul(-1):add(1)
   slope:maskedFill((self.output * self.beta):gt(self.threshold), 1)
   self.gradInput:resizeAs(input)
   return self.gradInput:cmul(gradOutput, slope)
end
