-- The sequences of types that a set of rules takes, as an automaton: state i is before rule i, a rule's type and check
-- lead on, and an optional rule may also be passed with a nil or with nothing.
local isoptional = require('argcheck.usage').isoptional

local paths = {}

-- The steps out of a state, {type, check, name, next state}; `silent` is the next state without an argument.
local function steps(rules, state, named)
   local rule = rules[state]
   if not rule then
      return {}
   end
   local list = {{rule.type, rule.check, named and rule.name, state + 1}}
   local silent
   if isoptional(rule) then
      silent = state + 1
      if not named then
         list[2] = {'nil', nil, false, state + 1}
      end
   end
   return list, silent
end

local function same(a, b)
   return a[1] == b[1] and a[2] == b[2] and a[3] == b[3]
end

-- Is there a sequence that leads both automata, from these states, to their ends?
local function meet(a, i, b, j, named, seen)
   local key = i .. ',' .. j
   if seen[key] then
      return false
   end
   seen[key] = true
   if i > #a and j > #b then
      return true
   end
   local left, skipleft = steps(a, i, named)
   local right, skipright = steps(b, j, named)
   if skipleft and meet(a, skipleft, b, j, named, seen) or skipright and meet(a, i, b, skipright, named, seen) then
      return true
   end
   for _, x in ipairs(left) do
      for _, y in ipairs(right) do
         if same(x, y) and meet(a, x[4], b, y[4], named, seen) then
            return true
         end
      end
   end
   return false
end

-- Does a sequence of steps, as `trace` gives it, lead through these rules?
local function accepts(rules, state, trace, at, dead)
   local place = state * (#trace + 2) + at
   if state > #rules then
      return at > #trace
   elseif dead[place] then
      return false
   end
   dead[place] = true
   local list, silent = steps(rules, state, trace.named)
   if silent and accepts(rules, silent, trace, at, dead) then
      return true
   end
   for _, step in ipairs(list) do
      if trace[at] and same(step, trace[at]) and accepts(rules, step[4], trace, at + 1, dead) then
         return true
      end
   end
   return false
end

-- May a call fit both sets of rules in the same way?
function paths.ambiguous(a, b)
   if not a.noordered and not b.noordered and meet(a, 1, b, 1, false, {}) then
      return true
   end
   return not a.nonamed and not b.nonamed and meet(a, 1, b, 1, true, {})
end

-- The way that a call took through `rules`: `taken` and `missing` come from the match.
function paths.trace(rules, taken, missing)
   local trace = {named = taken.named or false}
   for i, rule in ipairs(rules) do
      if not missing[i] then
         trace[#trace + 1] = {rule.type, rule.check, trace.named and rule.name}
      elseif taken[i] == 0 then
         trace[#trace + 1] = {'nil', nil, false}
      end
   end
   return trace
end

function paths.accepts(rules, trace)
   if trace.named and rules.nonamed or not trace.named and rules.noordered then
      return false
   end
   return accepts(rules, 1, trace, 1, {})
end

return paths
