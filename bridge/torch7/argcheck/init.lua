-- The argcheck package: checkers for the arguments of functions, made from rules: names, types, defaults, help.
local doc = require 'argcheck.doc'
local env = require 'argcheck.env'
local match = require 'argcheck.match'
local paths = require 'argcheck.paths'
local usage = require 'argcheck.usage'

local variants = setmetatable({}, {__mode = 'k'}) -- checker -> its sets of rules, the first one first

local function optional(kind, table, field, what)
   local value = table[field]
   if value ~= nil and type(value) ~= kind then
      error(string.format('%s %s must be a %s or nil, got %s', what, field, kind, type(value)), 4)
   end
end

-- Rules that make no sense are refused here, once, and not at a call.
local function validate(rules)
   local function check(condition, message)
      if not condition then
         error(message, 4)
      end
   end
   check(type(rules) == 'table', 'argcheck: a table of rules expected, got ' .. type(rules))
   check(not (rules.noordered and rules.nonamed), 'rules must be at least ordered or named')
   check(not (rules.doc and rules.help), 'choose between doc or help, not both')
   optional('string', rules, 'help', 'rules')
   optional('string', rules, 'doc', 'rules')
   optional('function', rules, 'call', 'rules')
   local index = {}
   for i, rule in ipairs(rules) do
      check(type(rule) == 'table' and rule.name, 'rule must have a name field')
      check(type(rule.name) == 'string', 'rule name must be a string, got ' .. type(rule.name))
      check(not index[rule.name], string.format('there are two rules named <%s>', rule.name))
      for _, field in ipairs{'type', 'help', 'doc', 'defaulta'} do
         optional('string', rule, field, 'rule')
      end
      optional('function', rule, 'check', 'rule')
      optional('function', rule, 'defaultf', 'rule')
      index[rule.name] = i
   end
   for _, rule in ipairs(rules) do
      check(not rule.defaulta or index[rule.defaulta], string.format('invalid defaulta name <%s>', rule.defaulta))
   end
   return index
end

-- A copy, so that what the caller does to its table later changes nothing.
local function copy(rules, index)
   local own = {index = index}
   for key, value in pairs(rules) do
      own[key] = value
   end
   return own
end

-- The sets of rules of a checker that is overloaded, and the new one.
local function overload(rules)
   local base = rules.overload or rules.chain
   local sets = {}
   if base then
      if not variants[base] then
         error('trying to overload/chain a non-argcheck function', 3)
      end
      for i, set in ipairs(variants[base]) do
         sets[i] = set
         if not rules.force and paths.ambiguous(set, rules) then
            error('argcheck rules led to ambiguous situations', 3)
         end
      end
   end
   sets[#sets + 1] = rules
   return sets
end

-- Later rules that were forced take the calls that they share with earlier ones.
local function forced(sets, first, taken, missing)
   for i = #sets, first + 1, -1 do
      if sets[i].force and paths.accepts(sets[i], paths.trace(sets[first], taken, missing)) then
         return i
      end
   end
   return first
end

local kinds = {{match.ordered, 'noordered'}, {match.named, 'nonamed'}}

-- The set that fits a call, and its values.
local function find(sets, arguments, istype)
   for _, kind in ipairs(kinds) do
      local fit, excluded = kind[1], kind[2]
      for i, rules in ipairs(sets) do
         if not rules[excluded] then
            local values, missing, taken = fit(rules, arguments, istype)
            if values then
               local winner = forced(sets, i, taken, missing)
               if winner ~= i then
                  rules = sets[winner]
                  values, missing = fit(rules, arguments, istype)
               end
               return rules, match.complete(rules, values, missing)
            end
         end
      end
   end
end

-- Hand the values over: to the function that is to be called, or back, as a list or as a table.
local function deliver(rules, values)
   local n = #rules
   if rules.pack then
      local packed = {}
      for i, rule in ipairs(rules) do
         packed[rule.name] = values[i]
      end
      values, n = {packed}, 1
   end
   if rules.quiet then
      return rules.call or true, unpack(values, 1, n)
   elseif rules.call then
      return rules.call(unpack(values, 1, n))
   end
   return unpack(values, 1, n)
end

-- What is wrong with a call: every way to call, and what came.
local function complaint(sets, ...)
   local helps = {}
   local named
   for i, rules in ipairs(sets) do
      helps[i] = usage.help(rules)
      named = named or not rules.nonamed and (rules[1] and rules[1].name == 'self' and 2 or 1) or nil
   end
   return table.concat(helps, '\n\nor\n\n') .. '\n' .. usage.got(named == select('#', ...) and named, ...) .. '\n'
end

local function argcheck(rules)
   local index = validate(rules)
   rules = copy(rules, index)
   local sets = overload(rules)
   local istype = env.istype
   local function checker(...)
      local chosen, values = find(sets, {n = select('#', ...), ...}, istype)
      if chosen then
         return deliver(chosen, values)
      elseif rules.quiet then
         return false, complaint(sets, ...)
      end
      error(complaint(sets, ...) .. 'invalid arguments!', 2)
   end
   variants[checker] = sets
   if doc.recording() then
      doc(usage.help(rules))
   end
   return checker
end

env.argcheck = argcheck

return argcheck
