-- A number added to each element.
local AddConstant, parent = torch.class('nn.AddConstant', 'nn.Module')

function AddConstant:__init(constant_scalar, ip)
   parent.__init(self)
   self.constant_scalar = constant_scalar
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
end

function AddConstant:updateOutput(input)
   if self.inplace then
      input:add(self.constant_scalar)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
      self.output:add(self.constant_scalar)
   end
   return self.output
end

function AddConstant:updateGradInput(input, gradOutput)
   if self.inplace then
      self.gradInput:set(gradOutput)
      input:add(-self.constant_scalar) -- as it was before
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   end
   return self.gradInput
end
