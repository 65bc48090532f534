-- The graph package: directed graphs of nodes with data, and their pictures.
require 'torch'

graph = graph or {}
package.loaded.graph = graph

for _, name in ipairs{'Edge', 'Node', 'Graph', 'todot', 'picture'} do
   require('graph.' .. name)
end

return graph
