-- An arrow from one node to another.
local Edge = torch.class('graph.Edge')

function Edge:__init(from, to)
   self.from = from
   self.to = to
end
