-- The largest of a table's tensors, element by element.
local CMaxTable, parent = torch.class('nn.CMaxTable', 'nn.Module')

require('nn.shared.extremum')(CMaxTable, parent, 'gt')
