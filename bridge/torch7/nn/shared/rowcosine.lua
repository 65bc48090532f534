-- The cosines between the rows of two matrices, and the gradient with respect to the first.
local cosine = {}

local EPSILON = 1e-12 -- keeps the cosine of a row of zeros finite

-- cosines, products, squared norms inverted (a column each)
function cosine.forward(a, b)
   local products = torch.cmul(a, b):sum(2)
   local ainverse = torch.cmul(a, a):sum(2):add(EPSILON):cinv()
   local binverse = torch.cmul(b, b):sum(2):add(EPSILON):cinv()
   local scale = torch.cmul(ainverse, binverse):sqrt()
   return {cosines = torch.cmul(products, scale), products = products, scale = scale, inverses = {ainverse, binverse}}
end

-- d cosine / d x, where x is operand `which` (1 or 2) and y the other one.
function cosine.gradient(gradient, parts, which, x, y)
   local shrink = torch.cmul(parts.products, parts.inverses[which])
   gradient:resizeAs(x):copy(y):addcmul(-1, shrink:expandAs(x), x)
   return gradient:cmul(parts.scale:expandAs(x))
end

return cosine
