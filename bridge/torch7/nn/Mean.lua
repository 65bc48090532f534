-- The mean over a dimension, which disappears.
local Mean, parent = torch.class('nn.Mean', 'nn.Sum')

function Mean:__init(dimension, nInputDims)
   parent.__init(self, dimension, nInputDims, true)
end
