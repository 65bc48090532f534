-- Checking arguments, and saying what is wrong with them in Torch7's words.
local object = require 'torch.object'
local elements = require 'torch.elements'

local arguments = {}

-- The fault is the caller's of the function that calls `fail` (or of one that is `deeper` calls further out).
local function fail(index, name, message, deeper)
   local level = 3 + (deeper or 0)
   if index == 1 and name ~= '?' then
      error(string.format("calling '%s' on bad self (%s)", name, message), level)
   end
   error(string.format("bad argument #%d to '%s' (%s)", index, name, message), level)
end
arguments.fail = fail

-- Note for Python, whose errors say it, that a value is not within low and high: Torch7's words, which follow, do not.
local function noted(value, low, high, words)
   debug.getregistry()['bridge.detail'] = string.format('%.17g %.17g %.17g | %s', tonumber(value), low,
      tonumber(high), words)
end
arguments.noted = noted

-- fail for a value that is not within low and high.
function arguments.beyond(value, low, high, index, name, words, deeper)
   noted(value, low, high, words)
   fail(index, name, words, (deeper or 0) + 1)
end

-- The same noted of the first number of a tensor that is too small, or the largest.
function arguments.notedamong(indices, high, words)
   local least = indices:min()
   noted(least < 1 and least or indices:max(), 1, high, words)
end

-- What an error message calls a value: DoubleTensor, LongStorage, number, ...
function arguments.describe(value)
   local dtype = object.dtype(value)
   if dtype then
      return elements[dtype].tensor
   end
   local metatable = getmetatable(value)
   local typename = type(value) ~= 'string' and type(metatable) == 'table' and rawget(metatable, '__typename')
   if typename then
      return (typename:gsub('^torch%.', ''))
   end
   return type(value)
end

-- The full name of a value's type.
function arguments.typename(value)
   local metatable = getmetatable(value)
   local typename = type(value) ~= 'string' and type(metatable) == 'table' and rawget(metatable, '__typename')
   return typename or type(value)
end

-- A number, or a string that is one; nil for anything else.
function arguments.number(value)
   if type(value) == 'number' then
      return value
   elseif type(value) == 'string' or type(value) == 'cdata' then
      return tonumber(value)
   end
   return nil
end

-- A whole number, truncated towards zero; nan and what no integer holds become the smallest.
function arguments.integer(index, name, value)
   local number = arguments.number(value)
   if not number then
      fail(index, name, value == nil and 'number expected, got no value' or
         'number expected, got ' .. type(value), 1)
   end
   if not (number > -2^63 and number < 2^63) then
      return -2^63
   end
   return number < 0 and math.ceil(number) or math.floor(number)
end

-- A tensor's pointer; any element type unless one is asked for.
function arguments.tensor(index, name, value, dtype)
   local found = object.dtype(value)
   if not found or dtype and found ~= dtype then
      fail(index, name, string.format('%s expected, got %s',
         dtype and elements[dtype].tensortype or 'torch.*Tensor', value == nil and 'no value'
         or arguments.typename(value)), 1)
   end
   return object.tensor(value)
end

-- A storage's pointer; any element type.
function arguments.storage(index, name, value)
   if not object.storagetype(value) then
      fail(index, name, 'torch.*Storage expected, got ' .. arguments.typename(value), 1)
   end
   return object.storage(value)
end

return arguments
