-- The nn of Torch7. One file per class; a new class is its file and its name in this list.
require 'torch'

nn = nn or {}
package.loaded.nn = nn

require 'nn.utils'

local classes = {
   -- what others derive from, parents first
   'Module', 'Container', 'Criterion', 'Sequential',
   -- modules side by side
   'Concat', 'ConcatTable', 'ParallelTable',
   -- parameters
   'Linear', 'Add', 'Mul', 'CMul', 'LookupTable',
   -- functions of each element, or of all
   'Threshold', 'ReLU', 'LeakyReLU', 'ELU', 'HardTanh', 'Clamp', 'Tanh', 'TanhShrink', 'Sigmoid', 'LogSigmoid',
   'SoftMax', 'SoftMin', 'LogSoftMax', 'SoftPlus', 'SoftSign', 'Abs', 'Exp', 'Log', 'Power', 'Sqrt', 'Square',
   'AddConstant', 'MulConstant', 'Dropout',
   -- shape
   'Identity', 'View', 'Reshape', 'Narrow', 'Select', 'Transpose', 'Squeeze', 'Unsqueeze', 'Contiguous',
   -- along a dimension
   'Sum', 'Mean', 'Max', 'Min',
   -- tables
   'CAddTable', 'CSubTable', 'CMulTable', 'CDivTable', 'JoinTable', 'SplitTable', 'SelectTable', 'NarrowTable',
   'FlattenTable',
   -- criterions
   'ClassNLLCriterion', 'CrossEntropyCriterion', 'MSECriterion', 'AbsCriterion', 'BCECriterion', 'SmoothL1Criterion',
   'ParallelCriterion', 'MultiCriterion',
}

for _, name in ipairs(classes) do
   require('nn.' .. name)
end

return nn
