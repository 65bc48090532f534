-- Modules that apply a constant to each element: a number, or a tensor that is spread over a batch.
--
-- `apply(tensor, constant)` and `undo(tensor, constant)` change the tensor, as does `scale`, which makes gradInput of
-- gradOutput.
local function spread(constant, tensor)
   if torch.isTensor(constant) and not constant:isSameSizeAs(tensor) then
      if constant:dim() ~= tensor:dim() then
         constant = nn.utils.addSingletonDimension(constant)
      end
      return constant:expandAs(tensor)
   end
   return constant
end

return function(class, parent, apply, undo, scale)
   function class:__init(constant_scalar, ip)
      parent.__init(self)
      if type(constant_scalar) ~= 'number' and not torch.isTensor(constant_scalar) then
         error('input is not scalar!')
      end
      self.constant_scalar = constant_scalar
      if ip and type(ip) ~= 'boolean' then
         error('in-place flag must be boolean')
      end
      self.inplace = ip or false
   end

   function class:updateOutput(input)
      if self.inplace then
         apply(input, spread(self.constant_scalar, input))
         self.output:set(input)
      else
         self.output:resizeAs(input):copy(input)
         apply(self.output, spread(self.constant_scalar, input))
      end
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      if not self.gradInput then
         return
      end
      local constant = spread(self.constant_scalar, gradOutput)
      if self.inplace then
         scale(gradOutput, constant)
         self.gradInput:set(gradOutput)
         undo(input, constant) -- as it was before
      else
         self.gradInput:resizeAs(gradOutput):copy(gradOutput)
         scale(self.gradInput, constant)
      end
      return self.gradInput
   end
end
