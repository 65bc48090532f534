-- One module along a sequence and another against it; their outputs for each element are merged (nn.JoinTable(1, 1)).
local BiSequencer, parent = torch.class('nn.BiSequencer', 'nn.AbstractSequencer')

function BiSequencer:__init(forward, backward, merge)
   parent.__init(self)
   if not torch.isTypeOf(forward, 'nn.Module') then
      error('nn.BiSequencer: expecting an nn.Module at arg 1, got ' .. torch.type(forward))
   end
   self.forwardModule = forward
   self.backwardModule = backward
   if backward == nil then
      self.backwardModule = forward:clone()
      self.backwardModule:reset()
   elseif not torch.isTypeOf(backward, 'nn.Module') then
      error('nn.BiSequencer: expecting an nn.Module at arg 2, got ' .. torch.type(backward))
   end
   if merge == nil or type(merge) == 'number' then
      self.mergeModule = nn.JoinTable(1, merge or 1)
   elseif torch.isTypeOf(merge, 'nn.Module') then
      self.mergeModule = merge
   else
      error('nn.BiSequencer: expecting an nn.Module or a number at arg 3, got ' .. torch.type(merge))
   end
   self.fwdSeq = nn.Sequencer(self.forwardModule)
   self.bwdSeq = nn.Sequencer(self.backwardModule)
   self.mergeSeq = nn.Sequencer(self.mergeModule)
   local against = nn.Sequential():add(nn.ReverseTable()):add(self.bwdSeq):add(nn.ReverseTable())
   self.module = nn.Sequential()
      :add(nn.ConcatTable():add(self.fwdSeq):add(against)):add(nn.ZipTable()):add(self.mergeSeq)
   self.modules[1] = self.module
   self.output = {}
   self.gradInput = {}
end

nn.Decorator.decorate(BiSequencer)

function BiSequencer:remember(when)
   self:setRemember(when)
   self.fwdSeq:remember(when)
   self.bwdSeq:remember(when)
   return self
end
