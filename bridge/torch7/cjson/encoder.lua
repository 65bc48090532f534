-- Lua values to JSON text: pieces in a table, joined once.
local next, rawget, type, concat, floor = next, rawget, type, table.concat, math.floor

-- Of the encoding under way; one at a time, since nothing here calls back.
local settings, null
local pieces, n
local quoted -- strings without an escape that were written before, with their quotes

local escapes = {['"'] = '\\"', ['\\'] = '\\\\', ['/'] = '\\/', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n',
   ['\r'] = '\\r', ['\t'] = '\\t', ['\127'] = '\\u007f'}
for code = 0, 31 do
   local character = string.char(code)
   escapes[character] = escapes[character] or string.format('\\u%04x', code)
end

local function quote(text)
   local known = quoted[text]
   if not known then
      known = '"' .. (text:find('[%c"/\\]') and text:gsub('[%c"/\\]', escapes) or text) .. '"'
      quoted[text] = known
   end
   return known
end

local function refuse(value, reason)
   error(string.format('Cannot serialise %s: %s', type(value), reason), 0)
end

-- A number, as itself where table.concat writes it with the precision that is set.
local function number(value)
   if value ~= value or value == math.huge or value == -math.huge then
      local allowed = settings.encode_invalid_numbers
      if not allowed then
         refuse(value, 'must not be NaN or Inf')
      end
      return allowed == 'null' and 'null' or value ~= value and 'nan' or value > 0 and 'inf' or '-inf'
   elseif settings.encode_number_precision == 14 then
      return value
   end
   return string.format('%.' .. settings.encode_number_precision .. 'g', value)
end

-- The largest index of a table whose keys are all positive integers; nil for one that is an object.
local function extent(object)
   local largest, count = 0, 0
   for key in next, object do
      if type(key) ~= 'number' or key < 1 or floor(key) ~= key or key >= 2^31 then
         return nil
      end
      count = count + 1
      if key > largest then
         largest = key
      end
   end
   if settings.sparse_ratio > 0 and largest > count * settings.sparse_ratio and largest > settings.sparse_safe then
      if not settings.sparse_convert then
         refuse(object, 'excessively sparse array')
      end
      return nil
   end
   return count > 0 and largest or nil
end

local write

local function array(object, length, depth)
   n = n + 1
   pieces[n] = '['
   for i = 1, length do
      if i > 1 then
         n = n + 1
         pieces[n] = ','
      end
      write(rawget(object, i), depth)
   end
   n = n + 1
   pieces[n] = ']'
end

local function map(object, depth)
   local separator = '{'
   for key, value in next, object do
      n = n + 1
      pieces[n] = separator
      separator = ','
      n = n + 1
      if type(key) == 'string' then
         pieces[n] = quote(key)
      elseif type(key) == 'number' then
         pieces[n] = '"' .. number(key) .. '"'
      else
         refuse(key, 'table key must be a number or string')
      end
      n = n + 1
      pieces[n] = ':'
      write(value, depth)
   end
   n = n + 1
   pieces[n] = separator == '{' and '{}' or '}'
end

function write(value, depth)
   local kind = type(value)
   if kind == 'table' then
      depth = depth + 1
      if depth > settings.encode_max_depth then
         error(string.format('Cannot serialise, excessive nesting (%d)', depth), 0)
      end
      local length = extent(value)
      if length then
         array(value, length, depth)
      else
         map(value, depth)
      end
      return
   end
   n = n + 1
   if kind == 'string' then
      pieces[n] = quote(value)
   elseif kind == 'number' then
      pieces[n] = number(value)
   elseif kind == 'boolean' then
      pieces[n] = value and 'true' or 'false'
   elseif value == nil or rawequal(value, null) then
      pieces[n] = 'null'
   else
      refuse(value, 'type not supported')
   end
end

-- The text of a value. Errors have no position: the caller knows whose fault they are.
return function(value, given, nothing)
   settings, null = given, nothing
   pieces, n, quoted = {}, 0, {}
   write(value, 0)
   local text = concat(pieces, '', 1, n)
   pieces, quoted = nil, nil -- let go of them before the next call
   return text
end
