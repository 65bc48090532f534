-- A criterion for each step's output against that step's target; the loss is their sum.
local SequencerCriterion, parent = torch.class('nn.SequencerCriterion', 'nn.RepeaterCriterion')

function SequencerCriterion:__init(criterion)
   if torch.isTypeOf(criterion, 'nn.ModuleCriterion') then
      error('nn.SequencerCriterion should not decorate an nn.ModuleCriterion: let the ModuleCriterion decorate the '
         .. 'SequencerCriterion, and its modules be in Sequencers')
   end
   parent.__init(self, criterion)
end

function SequencerCriterion:target(targets, step)
   return targets[step]
end
