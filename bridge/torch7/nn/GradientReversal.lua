-- The input itself; the gradient with its sign changed, times lambda: Ganin & Lempitsky (2015).
local GradientReversal, parent = torch.class('nn.GradientReversal', 'nn.Module')

GradientReversal.__version = 2

function GradientReversal:__init(lambda)
   parent.__init(self)
   self.lambda = lambda or 1
end

function GradientReversal:setLambda(lambda)
   self.lambda = lambda
end

function GradientReversal:updateOutput(input)
   self.output:set(input)
   return self.output
end

function GradientReversal:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.gradInput:mul(-self.lambda)
end

function GradientReversal:read(file, version)
   parent.read(self, file)
   if version < 2 then
      self.lambda = 1
   end
end
