-- The nngraph package: networks drawn as graphs. Calling a module with nodes makes a node; nn.gModule runs the graph.
require 'nn'
require 'graph'

nngraph = nngraph or {}
package.loaded.nngraph = nngraph

for _, name in ipairs{'node', 'call', 'JustElement', 'JustTable', 'nest', 'gmodule', 'inspect', 'simple_print'} do
   require('nngraph.' .. name)
end

return nngraph
