-- A module for each element of a sequence: a table of inputs, to a table of outputs. Modules that are not recurrent are
-- made so. Sequences begin anew at each pass, unless remember says otherwise.
local Sequencer, parent = torch.class('nn.Sequencer', 'nn.AbstractSequencer')

function Sequencer:__init(module)
   parent.__init(self)
   self.module = parent.recurrent(module, 'nn.Sequencer')
   self.modules = {self.module}
   self.output = {}
   self._output = {} -- tensors that evaluation has used before
   self.dpnn_mediumEmpty = {unpack(self.dpnn_mediumEmpty)}
   table.insert(self.dpnn_mediumEmpty, '_output')
   self._remember = 'neither'
end

-- In evaluation all steps share one module: their outputs are copied.
local function evaluated(self, inputs)
   for step, input in ipairs(inputs) do
      self.output[step] = nn.utils.recursiveCopy(self.output[step] or table.remove(self._output, 1),
         self.module:updateOutput(input))
   end
   for step = #self.output, #inputs + 1, -1 do
      table.insert(self._output, self.output[step])
      self.output[step] = nil
   end
end

function Sequencer:updateOutput(inputs)
   if torch.type(inputs) ~= 'table' then
      error('nn.Sequencer: expecting a table of inputs, got ' .. torch.type(inputs))
   end
   self.module:maxBPTTstep(#inputs)
   if not self:remembers() then
      self.module:forget()
   end
   if self.train == false then
      evaluated(self, inputs)
   else
      self.output = {}
      for step, input in ipairs(inputs) do
         self.output[step] = self.module:updateOutput(input)
      end
   end
   return self.output
end

function Sequencer:updateGradInput(inputs, gradOutputs)
   self:checkSteps(gradOutputs, #inputs)
   self.gradInput = {}
   for step = #inputs, 1, -1 do
      self.gradInput[step] = self.module:updateGradInput(inputs[step], gradOutputs[step])
   end
   return self.gradInput
end

function Sequencer:accGradParameters(inputs, gradOutputs, scale)
   self:checkSteps(gradOutputs, #inputs)
   for step = #inputs, 1, -1 do
      self.module:accGradParameters(inputs[step], gradOutputs[step], scale)
   end
end

-- Parameters are shared by all steps: they change when the gradients are complete.
function Sequencer:accUpdateGradParameters(inputs, gradOutputs, lr)
   self:sharedAccUpdateGradParameters(inputs, gradOutputs, lr)
end

function Sequencer:training()
   if self.train == false then
      for step = #self.output, 1, -1 do
         table.insert(self._output, self.output[step])
         self.output[step] = nil
      end
      self:forget()
   end
   parent.training(self)
end

function Sequencer:evaluate()
   if self.train ~= false then
      self.output = {} -- those of training belong to the steps' modules
      self:forget()
   end
   parent.evaluate(self)
end

function Sequencer:clearState()
   self._output = {}
   return parent.clearState(self)
end

Sequencer.__tostring__ = nn.Decorator.__tostring__
