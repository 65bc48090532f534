-- x - tanh(x) of each element.
local TanhShrink, parent = torch.class('nn.TanhShrink', 'nn.Module')

function TanhShrink:__init()
   parent.__init(self)
   self.tanh = nn.Tanh()
end

function TanhShrink:updateOutput(input)
   local th = self.tanh:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   return self.output:add(-1, th)
end

function TanhShrink:updateGradInput(input, gradOutput)
   local dth = self.tanh:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput)
   return self.gradInput:add(-1, dth)
end

function TanhShrink:clearState()
   self.tanh:clearState()
   return nn.Module.clearState(self)
end
