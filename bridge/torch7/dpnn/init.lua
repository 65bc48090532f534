-- The dpnn package: more methods for all modules, and modules for attention and reinforcement.
require 'nn'

dpnn = dpnn or {}
package.loaded.dpnn = dpnn

for _, name in ipairs{
   -- methods of all modules
   'clones', 'batches', 'learning', 'serialmode',
   -- modules, parents first
   'Serial', 'Inception', 'ReverseTable', 'ArgMax', 'Clip', 'Dictionary', 'CategoricalEntropy', 'TotalDropout',
   'SpatialUniformCrop', 'SpatialGlimpse',
   'Reinforce', 'ReinforceNormal', 'ReinforceBernoulli', 'ReinforceCategorical', 'VRClassReward',
} do
   require('dpnn.' .. name)
end

return dpnn
