-- The smallest of a table's tensors, element by element.
local CMinTable, parent = torch.class('nn.CMinTable', 'nn.Module')

require('nn.shared.extremum')(CMinTable, parent, 'lt')
