-- SpatialFullConvolution with a kernel only where a table (see nn.tables) connects an input plane with an output plane.
local connections = require 'nn.shared.connections'

local SpatialFullConvolutionMap, parent = torch.class('nn.SpatialFullConvolutionMap', 'nn.Module')

function SpatialFullConvolutionMap:__init(conMatrix, kW, kH, dW, dH)
   parent.__init(self)
   connections.init(self, conMatrix, kW, kH, dW, dH)
   self:reset()
end

SpatialFullConvolutionMap.reset = connections.reset

connections.install(SpatialFullConvolutionMap, true)
