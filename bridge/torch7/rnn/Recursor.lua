-- Any module (with recurrent ones inside, or none) as a recurrent one.
local Recursor, parent = torch.class('nn.Recursor', 'nn.AbstractRecurrent')

function Recursor:__init(module, rho)
   parent.__init(self, rho or 9999999)
   self.recurrentModule = module
   self.module = module
   self.modules = {module}
   self.sharedClones[1] = module
end

function Recursor:updateOutput(input)
   return self:advance(self:forwardModule():updateOutput(input))
end

function Recursor:_updateGradInput(input, gradOutput, step)
   local module = self:getStepModule(step)
   module:setOutputStep(step)
   return module:updateGradInput(input, gradOutput)
end

function Recursor:_accGradParameters(input, gradOutput, scale, step)
   local module = self:getStepModule(step)
   module:setOutputStep(step)
   module:accGradParameters(input, gradOutput, scale)
end

function Recursor:maxBPTTstep(rho)
   self.rho = rho
   nn.Module.maxBPTTstep(self, rho)
end

Recursor.__tostring__ = nn.Decorator.__tostring__
