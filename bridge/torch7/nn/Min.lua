-- The smallest element along a dimension, which disappears: what nn.Max does, with the other operation.
local Min = torch.class('nn.Min', 'nn.Module')

for _, method in ipairs{'__init', '_getPositiveDimension', 'updateOutput', 'updateGradInput', 'type', 'clearState'} do
   Min[method] = nn.Max[method]
end
Min._extremum = torch.min
