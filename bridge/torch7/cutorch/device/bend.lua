-- Functions with a bend (see bridge/core/loops/loops.h) for tensors on the device: maps, gates and triples by number.
--
-- Every one is made of operators that choose by a mask, so that nan and infinity take the same side as in the CPU's
-- loops: torch's own threshold, say, keeps a nan. Results may lie on operands.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'

local C = native.C
local op, fresh, check = aten.op, place.fresh, place.check

local above, below = op('gt.Tensor_out', 'TST'), op('lt.Tensor_out', 'TST')
local from, upto = op('ge.Tensor_out', 'TST'), op('le.Tensor_out', 'TST')
local multiply, divide, quotient = op('mul.out', 'TST'), op('div.out', 'TST'), op('div.out', 'TTT')
local absolute, either = op('abs.out', 'TT'), op('bitwise_or.Tensor_out', 'TTT')
local choose, larger = op('where.self_out', 'MTTT'), op('fmax.out', 'TST')

-- A mask of a's elements beyond v.
local function beyond(compare, a, v)
   local mask = fresh(a, elements.beside(elements.Byte.id, object.dtype(a)))
   compare(a, v, mask)
   return mask
end

-- A new tensor: a v.
local function scaled(a, v)
   local made = fresh(a)
   multiply(a, v, made)
   return made
end

-- A new tensor: a + v.
local function moved(a, v)
   local made = fresh(a)
   check(C.br_aten_add(made, a, nil, v))
   return made
end

-- A new tensor: 1 + |a|.
local function growth(a)
   local made = fresh(a)
   absolute(a, made)
   check(C.br_aten_add(made, made, nil, 1))
   return made
end

-- A new tensor: a b.
local function product(a, b)
   local made = fresh(a)
   place.multiply(made, a, b)
   return made
end

local maps, gates, triples = {}, {}, {}

maps[C.BR_THRESHOLD] = function(r, a, v, w)
   if v == w then -- the larger of both, and v instead of a nan
      larger(a, v, r)
      return
   end
   choose(beyond(above, a, v), a, place.filled(a, w), r)
end

maps[C.BR_SOFTSHRINK] = function(r, a, v)
   local left = fresh(a)
   choose(beyond(below, a, -v), moved(a, v), place.filled(a, 0), left)
   choose(beyond(above, a, v), moved(a, -v), left, r)
end

maps[C.BR_SOFTSIGN] = function(r, a)
   quotient(a, growth(a), r)
end

maps[C.BR_CUT] = function(r, a, v, w)
   local top = fresh(a)
   choose(beyond(upto, a, w), a, place.filled(a, w), top)
   choose(beyond(below, a, v), place.filled(a, v), top, r)
end

gates[C.BR_ABOVE] = function(r, a, b, v, w)
   choose(beyond(above, a, v), b, scaled(b, w), r)
end

-- b, and 0 where a compares as `low` with v or as `high` with w
local function between(r, a, b, low, v, high, w)
   local mask = beyond(low, a, v)
   either(mask, beyond(high, a, w), mask)
   choose(mask, place.filled(b, 0), b, r)
end

gates[C.BR_INSIDE] = function(r, a, b, v, w)
   between(r, a, b, upto, v, from, w)
end

gates[C.BR_WITHIN] = function(r, a, b, v, w)
   between(r, a, b, below, v, above, w)
end

gates[C.BR_MIRRORED] = function(r, a, b)
   choose(beyond(from, a, 0), b, scaled(b, -1), r)
end

gates[C.BR_OUTSIDE] = function(r, a, b, v)
   local mask = beyond(above, a, v)
   either(mask, beyond(below, a, -v), mask)
   choose(mask, b, place.filled(b, 0), r)
end

gates[C.BR_SOFTSIGNBACK] = function(r, a, b)
   local grown = growth(a)
   quotient(b, product(grown, grown), r)
end

gates[C.BR_ELU] = function(r, a, b, v)
   choose(beyond(above, a, 0), a, scaled(b, v), r)
end

gates[C.BR_ELUBACK] = function(r, a, b, v)
   choose(beyond(above, a, 0), b, product(moved(a, v), b), r)
end

gates[C.BR_SOFTPLUS] = function(r, a, b, v, w)
   local rounded = fresh(b)
   divide(b, v, rounded)
   choose(beyond(above, scaled(a, v), w), a, rounded, r)
end

gates[C.BR_SOFTPLUSBACK] = function(r, a, b, v)
   choose(beyond(above, a, v), b, product(a, b), r)
end

-- a where c is above v, b a elsewhere
triples[C.BR_PRELU] = function(r, c, a, b, v)
   choose(beyond(above, c, v), a, product(b, a), r)
end

return {maps = maps, gates = gates, triples = triples}
