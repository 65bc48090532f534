-- A container of one module, which does all the work; what others derive from that add something to a module.
local Decorator, parent = torch.class('nn.Decorator', 'nn.Container')

function Decorator:__init(module)
   parent.__init(self)
   if not torch.isTypeOf(module, 'nn.Module') then
      error(torch.type(self) .. ': expected a module to wrap, got ' .. torch.type(module))
   end
   self.modules[1] = module
end

function Decorator:updateOutput(input)
   self.output = self.modules[1]:updateOutput(input)
   return self.output
end

function Decorator:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   return self.gradInput
end

function Decorator:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
end

function Decorator:accUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:accUpdateGradParameters(input, gradOutput, lr)
end

function Decorator:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:sharedAccUpdateGradParameters(input, gradOutput, lr)
end

function Decorator:__tostring__()
   return torch.type(self) .. ' @ ' .. tostring(self.modules[1])
end

-- Give the methods above to a class that derives from something else.
function Decorator.decorate(class)
   for _, method in ipairs{'updateOutput', 'updateGradInput', 'accGradParameters', 'accUpdateGradParameters',
      'sharedAccUpdateGradParameters', '__tostring__'} do
      class[method] = Decorator[method]
   end
end
