-- log(1 / (1 + exp(-x))) of each element.
local LogSigmoid, parent = torch.class('nn.LogSigmoid', 'nn.Module')

function LogSigmoid:__init()
   parent.__init(self)
   self.buffer = torch.Tensor()
end

function LogSigmoid:updateOutput(input)
   self.buffer:resizeAs(input):mul(input, -1):exp()
   self.output:resizeAs(input):copy(self.buffer)
   return self.output:log1p():mul(-1)
end

function LogSigmoid:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):mul(input, -1):sigmoid()
   return self.gradInput:cmul(gradOutput)
end

function LogSigmoid:clearState()
   if self.buffer then
      self.buffer:set()
   end
   return parent.clearState(self)
end
