-- Functions over tables: copying, comparing, searching, mapping, sets.
local tablex = {}

require('pl.tablex.copies')(tablex)
require('pl.tablex.compare')(tablex)
require('pl.tablex.mapping')(tablex)
require('pl.tablex.sets')(tablex)

return tablex
