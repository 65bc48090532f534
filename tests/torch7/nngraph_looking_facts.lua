-- Facts about looking at graphs: names, labels, pictures.
require 'nngraph'
local facts = {}

facts['nodes are named after local variables'] = function()
   local input = nn.Identity()()
   local hidden = nn.Tanh()(input)
   local named = nn.Abs()(hidden):annotate{name = 'mine'}
   nngraph.annotateNodes()
   return input.data.annotations.name == 'input' and hidden.data.annotations.name == 'hidden'
      and named.data.annotations.name == 'mine'
end

facts['annotations reach the picture'] = function()
   local x = nn.Identity()()
   local y = nn.Tanh()(x):annotate{name = 'out', graphAttributes = {color = 'red'}}
   local text = nn.gModule({x}, {y}).fg:todot()
   return text:find('[label="out (1)\\nmodule = nn.Tanh\\lreverseMap = {}" color=red', 1, true) ~= nil
end

facts['labels tell sizes and what is no number'] = function()
   local node = nngraph.Node{input = {torch.Tensor{0 / 0, 1}, torch.Tensor(2, 3):fill(math.huge), torch.IntTensor{1}}}
   return node:label() == 'input = {Tensor[2]NaN,Tensor[2x3]inf,torch.IntTensor[1]}\\lreverseMap = {}'
end

facts['a description stands in front of the label'] = function()
   return nngraph.Node{}:annotate{description = 'the gate'}:label() == 'desc = the gate\\nreverseMap = {}'
end

facts['simple_print shows modules only'] = function()
   local x = nn.Identity()()
   local a, b = nn.SplitTable(1)(nn.Tanh()(x)):split(2)
   local text = nngraph.simple_print.todot(nn.gModule({x}, {nn.CAddTable()({a, b})}).fg, 'T')
   return text:find('label="T"') and not text:find('Identity') and select(2, text:gsub('%->', '')) == 2
end

return facts
