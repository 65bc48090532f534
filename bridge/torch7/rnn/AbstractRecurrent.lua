-- Modules that take a sequence one step at a time, and remember what came before. Each step has a clone of
-- `recurrentModule` that shares its parameters; gradients go back in the reverse order of the steps.
--
-- What derives from this gives _updateGradInput and _accGradParameters for one step.
local AbstractRecurrent, parent = torch.class('nn.AbstractRecurrent', 'nn.Container')

AbstractRecurrent.dpnn_stepclone = true

function AbstractRecurrent:__init(rho)
   parent.__init(self)
   self.rho = rho or 99999 -- steps that gradients go back
   self.outputs = {}
   self.gradInputs = {}
   self._gradOutputs = {}
   self.step = 1
   self.sharedClones = {}
   self:reset()
end

function AbstractRecurrent:getStepModule(step)
   local module = self.sharedClones[step]
   if not module then
      module = self.recurrentModule:stepClone()
      self.sharedClones[step] = module
   end
   return module
end

-- Let padding (inputs of nInputDim dimensions that are zeros) begin the sequence anew.
function AbstractRecurrent:maskZero(nInputDim)
   self.recurrentModule = nn.MaskZero(self.recurrentModule, nInputDim, true)
   self.sharedClones = {self.recurrentModule}
   self.modules[1] = self.recurrentModule
   return self
end

-- The module of this step for a pass forward. In evaluation all steps have one.
function AbstractRecurrent:forwardModule()
   if self.train == false then
      return self.recurrentModule
   end
   self:recycle()
   return self:getStepModule(self.step)
end

-- Go on to the next step with what came out of this one.
function AbstractRecurrent:advance(output)
   self.outputs[self.step] = output
   self.output = output
   self.step = self.step + 1
   self.gradPrevOutput = nil
   self.updateGradInputStep = nil
   self.accGradParametersStep = nil
   return output
end

function AbstractRecurrent:updateGradInput(input, gradOutput)
   self.updateGradInputStep = self.updateGradInputStep or self.step
   if self.updateGradInputStep < 2 then
      error(string.format('%s: expecting at least one updateOutput for each updateGradInput', torch.type(self)))
   end
   self.gradInput = self:_updateGradInput(input, gradOutput, self.updateGradInputStep - 1)
   self.updateGradInputStep = self.updateGradInputStep - 1
   self.gradInputs[self.updateGradInputStep] = self.gradInput
   return self.gradInput
end

function AbstractRecurrent:accGradParameters(input, gradOutput, scale)
   if not (self.updateGradInputStep and self.updateGradInputStep < self.step) then
      error(torch.type(self) .. ': Missing updateGradInput')
   end
   self.accGradParametersStep = self.accGradParametersStep or self.step
   self:_accGradParameters(input, gradOutput, scale, self.accGradParametersStep - 1)
   self.accGradParametersStep = self.accGradParametersStep - 1
end

-- The gradient of a step's output: what comes in, and what the next step sends back.
function AbstractRecurrent:collect(gradOutput, step)
   if self.gradPrevOutput then
      self._gradOutputs[step] = nn.utils.recursiveCopy(self._gradOutputs[step], self.gradPrevOutput)
      nn.utils.recursiveAdd(self._gradOutputs[step], gradOutput)
      return self._gradOutputs[step]
   end
   return gradOutput
end

-- The same for a pass over the parameters, which comes behind.
function AbstractRecurrent:collected(gradOutput, step)
   return step == self.step - 1 and gradOutput or self._gradOutputs[step]
end

-- Use the oldest clone again once there are more than gradients go back.
function AbstractRecurrent:recycle()
   local count = 0
   for _ in pairs(self.sharedClones) do
      count = count + 1
   end
   local rho = math.max(self.rho + 1, count)
   if self.sharedClones[self.step] == nil then
      self.sharedClones[self.step] = self.sharedClones[self.step - rho]
      self.sharedClones[self.step - rho] = nil
      self._gradOutputs[self.step] = self._gradOutputs[self.step - rho]
      self._gradOutputs[self.step - rho] = nil
   end
   self.outputs[self.step - rho - 1] = nil
   self.gradInputs[self.step - rho - 1] = nil
   return self
end

local function compact(list)
   local keys, made = {}, {}
   for key in pairs(list) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   for i, key in ipairs(keys) do
      made[i] = list[key]
   end
   return made
end

-- Begin a new sequence.
function AbstractRecurrent:forget()
   parent.forget(self)
   if self.train ~= false then
      self.outputs = {}
      self.gradInputs = {}
      self.sharedClones = compact(self.sharedClones)
      self._gradOutputs = compact(self._gradOutputs)
   end
   self.step = 1
   return self
end

-- Call f with the clones among the modules.
function AbstractRecurrent:includingSharedClones(f)
   local modules, clones = self.modules, self.sharedClones
   local all, seen = {}, {}
   for _, list in ipairs{modules, clones} do
      for _, module in pairs(list) do
         if not seen[module] then
            seen[module] = true
            all[#all + 1] = module
         end
      end
   end
   self.modules, self.sharedClones = all, nil
   local results = {pcall(f)}
   self.modules, self.sharedClones = modules, clones
   if not results[1] then
      error(results[2], 0)
   end
   return unpack(results, 2)
end

for _, name in ipairs{'training', 'evaluate'} do
   AbstractRecurrent[name] = function(self)
      return self:includingSharedClones(function()
         return parent[name](self)
      end)
   end
end

-- A reward for all steps, or a table with one for each.
function AbstractRecurrent:reinforce(reward)
   if torch.type(reward) == 'table' then
      for step, own in ipairs(reward) do
         self:getStepModule(step):reinforce(own)
      end
      return
   end
   return self:includingSharedClones(function()
      return parent.reinforce(self, reward)
   end)
end

function AbstractRecurrent:clearState()
   self:forget()
   nn.utils.clear(self, '_input', '_gradOutput', '_gradOutputs', 'gradPrevOutput', 'cell', 'cells', 'gradCells',
      'outputs', 'gradInputs')
   for _, clone in pairs(self.sharedClones) do
      clone:clearState()
   end
   self.recurrentModule:clearState()
   return parent.clearState(self)
end

function AbstractRecurrent:setOutputStep(step)
   self.output = self.outputs[step] or error('no output for step ' .. step)
   self.gradInput = self.gradInputs[step]
end

function AbstractRecurrent:maxBPTTstep(rho)
   self.rho = rho
end

for _, name in ipairs{'backwardThroughTime', 'updateGradInputThroughTime', 'accGradParametersThroughTime',
   'accUpdateGradParametersThroughTime', 'backwardUpdateThroughTime'} do
   AbstractRecurrent[name] = function(self)
      error(string.format('%s: %s is gone since January 2016: call backward for each step, the last one first',
         torch.type(self), name), 2)
   end
end

function AbstractRecurrent:__tostring__()
   if self.inputSize and self.outputSize then
      return string.format('%s(%d -> %d)', torch.type(self), self.inputSize, self.outputSize)
   end
   return torch.type(self) .. ' @ ' .. tostring(self.recurrentModule)
end
