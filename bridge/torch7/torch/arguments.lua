-- Checking arguments, and saying what is wrong with them in Torch7's words.
--
-- In Torch7 every function is one of C, so Lua's library composes the message: it names the function as the call names
-- it, leaves `self` out of the count for methods, and puts the caller's position in front. The functions torch.f are
-- reached through another function of C, which hides both: they are called '?', and no position is known. So a fault
-- looks for the innermost function of torch on the stack, which has been entered here, and at how it was called.
local object = require 'torch.object'
local elements = require 'torch.elements'

local arguments = {}

local DEEPEST = 40 -- frames between a function of torch and a fault inside it

-- function of torch -> 'plain': a method or a function of its own; 'operation': torch.f and method; 'constructor';
-- 'hidden': messages of the functions of torch that it calls say '?' and no position.
local kinds = setmetatable({}, {__mode = 'k'})

-- Enter a function that programs call; returns it.
function arguments.public(f, kind)
   kinds[f] = kind or 'plain'
   return f
end

-- The same for every function of a table; what has been entered before stays what it is.
function arguments.publish(functions, kind)
   for _, f in pairs(functions) do
      kinds[f] = kinds[f] or kind or 'plain'
   end
   return functions
end

-- How the innermost function of torch was called: the level for `error` in the function that asks (0 without a
-- position), its name, and whether it is a method.
local function call()
   for level = 3, DEEPEST do
      local frame = debug.getinfo(level, 'f')
      if not frame then
         break
      end
      local kind = kinds[frame.func]
      if kind then
         local caller = debug.getinfo(level + 1, 'f')
         frame = debug.getinfo(level, 'n')
         if caller and kinds[caller.func] == 'hidden' then
            break
         end
         local method = frame.namewhat == 'method'
         if frame.namewhat ~= 'metamethod' and (kind == 'plain' or kind == 'operation' and method
            or kind == 'constructor' and frame.name == 'new') then
            return level, frame.name or '?', method
         end
         return 0, '?', false
      end
   end
   return 0, '?', false
end

-- Raise a message, with the position of the code that called the function of torch.
function arguments.raise(message, ...)
   local level = call()
   error(select('#', ...) > 0 and string.format(message, ...) or message, level)
end

-- Argument `index` (1 is a method's self) is bad.
function arguments.bad(index, message, ...)
   local level, name, method = call()
   if select('#', ...) > 0 then
      message = string.format(message, ...)
   end
   index = method and index - 1 or index
   if index == 0 then
      error(string.format("calling '%s' on bad self (%s)", name, message), level)
   end
   error(string.format("bad argument #%d to '%s' (%s)", index, name, message), level)
end
local bad = arguments.bad

-- Note for Python, whose errors say it, that a value is not within low and high: Torch7's words, which follow, do not.
local function noted(value, low, high, words)
   debug.getregistry()['bridge.detail'] = string.format('%.17g %.17g %.17g | %s', tonumber(value), tonumber(low),
      tonumber(high), words)
end
arguments.noted = noted

-- Argument `index` is not within low and high.
function arguments.beyond(index, value, low, high, words)
   noted(value, low, high, words)
   bad(index, words)
end

-- The same noted of the first number of a tensor that is too small, or the largest.
function arguments.notedamong(indices, high, words)
   local least = indices:min()
   noted(least < 1 and least or indices:max(), 1, high, words)
end

-- The full name of a value's class; nil if it has none.
local function class(value)
   if type(value) == 'string' or value == nil then
      return nil
   end
   local metatable = getmetatable(value)
   return type(metatable) == 'table' and rawget(metatable, '__typename') or nil
end

-- What the message that no form fits calls a value: DoubleTensor, LongStorage, number, ...
function arguments.describe(value)
   local dtype, name = object.dtype(value), class(value)
   if dtype then
      return elements[dtype].tensor
   elseif name then
      return (name:gsub('^torch%.', ''))
   end
   local kind = type(value)
   if kind == 'string' then
      return tonumber(value) and 'number' or 'string'
   end
   return (kind == 'function' or kind == 'thread' or kind == 'cdata') and '???' or kind
end

-- The full name of a value's type.
function arguments.typename(value)
   return class(value) or type(value)
end

-- Torch7 takes the number of the argument for that of a type, when it names what is of no class.
local counted = {'boolean', 'userdata', 'number', 'string', 'table', 'function', 'userdata', 'thread'}

-- Argument `index` is not of the class `expected`. Of what type it really is, Python's errors say.
function arguments.typeerror(index, expected, value)
   local got = class(value) or counted[index] or type(value)
   if not class(value) then
      debug.getregistry()['bridge.detail'] = string.format('%s | got %s', type(value), got)
   end
   bad(index, '%s expected, got %s', expected, got)
end
local typeerror = arguments.typeerror

-- A number, or a string that is one; nil for anything else.
function arguments.number(value)
   if type(value) == 'number' then
      return value
   elseif type(value) == 'string' or type(value) == 'cdata' then
      return tonumber(value)
   end
   return nil
end
local number = arguments.number

-- Argument `index` of `count` is not of the Lua type `expected`.
function arguments.missing(index, expected, value, count)
   bad(index, '%s expected, got %s', expected, value == nil and index > (count or 0) and 'no value' or type(value))
end
local missing = arguments.missing

-- A whole number, truncated towards zero; nan and what no integer holds become the smallest.
local function truncated(x)
   if not (x > -2^63 and x < 2^63) then
      return -2^63
   end
   return x < 0 and math.ceil(x) or math.floor(x)
end
arguments.truncated = truncated

-- The same of argument `index` of `count`.
function arguments.integer(index, value, count)
   return truncated(number(value) or missing(index, 'number', value, count))
end

-- A tensor's pointer; any element type unless one is asked for.
function arguments.tensor(index, value, dtype)
   local found = object.dtype(value)
   if not found or dtype and found ~= dtype then
      typeerror(index, elements[dtype or object.default].tensortype, value)
   end
   return object.tensor(value)
end

-- A storage's pointer; any element type.
function arguments.storage(index, value)
   if not object.storagetype(value) then
      typeerror(index, elements[object.default].storagetype, value)
   end
   return object.storage(value)
end

return arguments
