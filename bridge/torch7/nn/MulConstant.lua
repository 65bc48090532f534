-- Each element times a number.
local MulConstant, parent = torch.class('nn.MulConstant', 'nn.Module')

function MulConstant:__init(constant_scalar, ip)
   parent.__init(self)
   self.constant_scalar = constant_scalar
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
end

function MulConstant:updateOutput(input)
   if self.inplace then
      input:mul(self.constant_scalar)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
      self.output:mul(self.constant_scalar)
   end
   return self.output
end

function MulConstant:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   if self.inplace then
      gradOutput:mul(self.constant_scalar)
      self.gradInput:set(gradOutput)
      input:div(self.constant_scalar) -- as it was before
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
      self.gradInput:mul(self.constant_scalar)
   end
   return self.gradInput
end
