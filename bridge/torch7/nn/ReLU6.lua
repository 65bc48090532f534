-- min(max(0, x), 6): what nn.HardTanh does, with fixed limits.
local ReLU6, parent = torch.class('nn.ReLU6', 'nn.Module')

ReLU6.min_val, ReLU6.max_val = 0, 6
ReLU6.updateOutput = nn.HardTanh.updateOutput
ReLU6.updateGradInput = nn.HardTanh.updateGradInput

function ReLU6:__init(inplace)
   parent.__init(self)
   if inplace == nil then
      self.inplace = false
   else
      self.inplace = inplace
   end
   if type(self.inplace) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
end
