-- output(t) = transfer(merge(input(t), feedback(output(t - 1)))). Before the first step there is no output: `start` is
-- applied to the input instead; a number or sizes make an nn.Add of them.
local Recurrent, parent = torch.class('nn.Recurrent', 'nn.AbstractRecurrent')

function Recurrent:__init(start, input, feedback, transfer, rho, merge)
   parent.__init(self, rho)
   local kind = torch.type(start)
   if kind == 'torch.LongStorage' or kind == 'number' then
      start = nn.Add(start)
   elseif kind == 'table' then
      start = nn.Add(torch.LongStorage(start))
   elseif not torch.isTypeOf(start, 'nn.Module') then
      error('nn.Recurrent: expecting arg 1 of type nn.Module, torch.LongStorage, number or table, got ' .. kind)
   end
   self.startModule = start
   self.inputModule = input
   self.feedbackModule = feedback
   self.transferModule = transfer or nn.Sigmoid()
   self.mergeModule = merge or nn.CAddTable()
   self.modules = {self.startModule, self.inputModule, self.feedbackModule, self.transferModule, self.mergeModule}
   self:buildInitialModule()
   self:buildRecurrentModule()
   self.sharedClones[2] = self.recurrentModule
end

function Recurrent:buildInitialModule()
   self.initialModule = nn.Sequential()
      :add(self.inputModule:sharedClone()):add(self.startModule):add(self.transferModule:sharedClone())
end

function Recurrent:buildRecurrentModule()
   self.recurrentModule = nn.Sequential()
      :add(nn.ParallelTable():add(self.inputModule):add(self.feedbackModule))
      :add(self.mergeModule):add(self.transferModule)
end

function Recurrent:updateOutput(input)
   if self.step == 1 then
      return self:advance(self.initialModule:updateOutput(input))
   end
   return self:advance(self:forwardModule():updateOutput{input, self.outputs[self.step - 1] or self.output})
end

function Recurrent:_updateGradInput(input, gradOutput, step)
   gradOutput = self:collect(gradOutput, step)
   if step == 1 then
      return self.initialModule:updateGradInput(input, gradOutput)
   end
   local gradInput, gradPrevOutput =
      unpack(self:getStepModule(step):updateGradInput({input, self.outputs[step - 1]}, gradOutput))
   self.gradPrevOutput = gradPrevOutput
   return gradInput
end

function Recurrent:_accGradParameters(input, gradOutput, scale, step)
   gradOutput = self:collected(gradOutput, step)
   if step == 1 then
      self.initialModule:accGradParameters(input, gradOutput, scale)
   else
      self:getStepModule(step):accGradParameters({input, self.outputs[step - 1]}, gradOutput, scale)
   end
end

function Recurrent:includingSharedClones(f)
   local first = self.initialModule
   self.initialModule = nil
   table.insert(self.modules, first)
   local results = {pcall(parent.includingSharedClones, self, f)}
   table.remove(self.modules)
   self.initialModule = first
   if not results[1] then
      error(results[2], 0)
   end
   return unpack(results, 2)
end

-- The first step has its own module; clones begin at the second.
function Recurrent:forget()
   local first = self.sharedClones
   parent.forget(self)
   if first ~= self.sharedClones then
      local moved = {}
      for i, clone in ipairs(self.sharedClones) do
         moved[i + 1] = clone
      end
      self.sharedClones = moved
   end
   return self
end

function Recurrent:clearState()
   self.initialModule:clearState()
   return parent.clearState(self)
end

local function indented(module, by)
   return (tostring(module):gsub('\n', '\n' .. by))
end

function Recurrent:__tostring__()
   return table.concat{
      torch.type(self), ' {\n  [{input(t), output(t-1)} -> (1) -> (2) -> (3) -> output(t)]',
      '\n  (1):  {\n    input(t)\n      |`-> (t==0): ', indented(self.startModule, '      |    '),
      '\n      |`-> (t~=0): ', indented(self.inputModule, '      |    '),
      '\n    output(t-1)\n      |`-> ', indented(self.feedbackModule, '      |    '),
      '\n  }\n  (2): ', indented(self.mergeModule, '  '), '\n  (3): ', indented(self.transferModule, '  '), '\n}',
   }
end
