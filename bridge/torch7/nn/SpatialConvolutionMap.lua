-- SpatialConvolution with a kernel only where a table (see nn.tables) connects an input plane with an output plane.
local connections = require 'nn.shared.connections'

local SpatialConvolutionMap, parent = torch.class('nn.SpatialConvolutionMap', 'nn.Module')

function SpatialConvolutionMap:__init(conMatrix, kW, kH, dW, dH)
   parent.__init(self)
   connections.init(self, conMatrix, kW, kH, dW, dH)
   self:reset()
end

SpatialConvolutionMap.reset = connections.reset

connections.install(SpatialConvolutionMap, false)
