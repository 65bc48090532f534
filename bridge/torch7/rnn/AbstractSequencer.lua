-- Modules that take whole sequences, as tables, by a recurrent one.
local AbstractSequencer = torch.class('nn.AbstractSequencer', 'nn.Container')

-- The module as a recurrent one.
function AbstractSequencer.recurrent(module, what)
   if not torch.isTypeOf(module, 'nn.Module') then
      error(string.format('%s: expecting an nn.Module, got %s', what, torch.type(module)), 3)
   end
   return torch.isTypeOf(module, 'nn.AbstractRecurrent') and module or nn.Recursor(module)
end

function AbstractSequencer:remember(when)
   return self:setRemember(when)
end

-- A table with an element for each step.
function AbstractSequencer:checkSteps(gradOutput, count)
   if torch.type(gradOutput) ~= 'table' or #gradOutput ~= count then
      error(string.format('%s: expecting a gradOutput table of %d elements, got %s', torch.type(self), count,
         torch.type(gradOutput) == 'table' and #gradOutput .. ' of them' or torch.type(gradOutput)), 3)
   end
end
