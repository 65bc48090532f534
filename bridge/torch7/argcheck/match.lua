-- Fitting the arguments of a call to a set of rules. Each rule takes the next argument if it fits; an optional one
-- may also be skipped, or take a nil. The first way through in that order counts.
local isoptional = require('argcheck.usage').isoptional

local match = {}

-- Does a value fit a rule by itself?
local function fits(rule, value, istype)
   if rule.type then
      if not istype(value, rule.type) then
         return false
      end
   elseif value == nil then
      return false
   end
   return not rule.check or rule.check(value)
end

-- Fit arguments from `at` on to the rules from `index` on: `taken` gets the argument's position of each rule, 0 for
-- a nil. True if all arguments are used up. `dead` remembers what led nowhere, so that no place is tried twice.
local function ordered(rules, index, arguments, at, istype, taken, dead)
   local rule = rules[index]
   if not rule then
      return at > arguments.n
   end
   local place = index * (arguments.n + 2) + at
   if dead[place] then
      return false
   end
   local value = arguments[at]
   if at <= arguments.n and fits(rule, value, istype) then
      taken[index] = at
      if ordered(rules, index + 1, arguments, at + 1, istype, taken, dead) then
         return true
      end
   end
   if isoptional(rule) then
      taken[index] = nil
      if ordered(rules, index + 1, arguments, at, istype, taken, dead) then
         return true
      end
      if at <= arguments.n and value == nil then
         taken[index] = 0
         if ordered(rules, index + 1, arguments, at + 1, istype, taken, dead) then
            return true
         end
      end
   end
   dead[place] = true
   return false
end

-- The values by rule, the rules that got none in `missing`; nil if the arguments do not fit.
function match.ordered(rules, arguments, istype)
   local taken = {}
   if not ordered(rules, 1, arguments, 1, istype, taken, {}) then
      return nil
   end
   local values, missing = {}, {}
   for i = 1, #rules do
      local at = taken[i]
      if at and at > 0 then
         values[i] = arguments[at]
      else
         missing[i] = true
      end
   end
   return values, missing, taken
end

-- The same for a table of named arguments, behind the object itself if the first rule is 'self'.
function match.named(rules, arguments, istype)
   local first = rules[1] and rules[1].name == 'self' and 2 or 1
   local given = arguments[first]
   if arguments.n ~= first or not istype(given, 'table') then
      return nil
   end
   local values, missing = {}, {}
   if first == 2 then
      if not fits(rules[1], arguments[1], istype) then
         return nil
      end
      values[1] = arguments[1]
   end
   local used = 0
   for i = first, #rules do
      local rule = rules[i]
      local value = given[rule.name]
      if value ~= nil then
         if not fits(rule, value, istype) then
            return nil
         end
         values[i], used = value, used + 1
      elseif isoptional(rule) then
         missing[i] = true
      else
         return nil
      end
   end
   for _ in pairs(given) do
      used = used - 1
   end
   if used ~= 0 then
      return nil
   end
   return values, missing, {named = true}
end

-- Put in the defaults of the rules that got no value; those that copy another argument last.
function match.complete(rules, values, missing)
   for i, rule in ipairs(rules) do
      if missing[i] then
         if rule.default ~= nil then
            values[i] = rule.default
         elseif rule.defaultf then
            values[i] = rule.defaultf()
         end
      end
   end
   for i, rule in ipairs(rules) do
      if missing[i] and rule.default == nil and not rule.defaultf and rule.defaulta then
         values[i] = values[rules.index[rule.defaulta]]
      end
   end
   return values
end

return match
