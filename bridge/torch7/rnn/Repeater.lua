-- The same input for nStep steps of a module; the output is a table with those of all steps.
local Repeater, parent = torch.class('nn.Repeater', 'nn.AbstractSequencer')

function Repeater:__init(module, nStep)
   parent.__init(self)
   if type(nStep) ~= 'number' then
      error('nn.Repeater: expecting the number of steps, got ' .. torch.type(nStep))
   end
   self.nStep = nStep
   self.module = parent.recurrent(module, 'nn.Repeater')
   self.module:maxBPTTstep(nStep)
   self.modules[1] = self.module
   self.output = {}
end

function Repeater:updateOutput(input)
   self.module:forget()
   for step = 1, self.nStep do
      self.output[step] = nn.utils.recursiveCopy(self.output[step], self.module:updateOutput(input))
   end
   return self.output
end

function Repeater:updateGradInput(input, gradOutput)
   self:checkSteps(gradOutput, self.nStep)
   for step = self.nStep, 1, -1 do
      local gradInput = self.module:updateGradInput(input, gradOutput[step])
      if step == self.nStep then
         self.gradInput = nn.utils.recursiveCopy(self.gradInput, gradInput)
      else
         nn.utils.recursiveAdd(self.gradInput, gradInput)
      end
   end
   return self.gradInput
end

function Repeater:accGradParameters(input, gradOutput, scale)
   self:checkSteps(gradOutput, self.nStep)
   for step = self.nStep, 1, -1 do
      self.module:accGradParameters(input, gradOutput[step], scale)
   end
end

function Repeater:maxBPTTstep(rho)
   self.rho = rho
   self.module:maxBPTTstep(rho)
end

function Repeater:__tostring__()
   return table.concat({
      torch.type(self) .. ' {',
      '  [  input,    input,  ...,  input  ]',
      '     V         V             V     ',
      '  ' .. tostring(self.modules[1]):gsub('\n', '\n  '),
      '     V         V             V     ',
      '  [output(1),output(2),...,output(' .. self.nStep .. ')]',
      '}',
   }, '\n')
end
