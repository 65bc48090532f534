-- JSON text to Lua values, over the bytes of the string (Lua ends them with a zero, which is the token T_END).
local ffi = require 'ffi'
local scan = require 'cjson.scan'

local bytes = ffi.typeof('const uint8_t*')
local SPACE, QUOTE, COMMA, COLON, MINUS, ZERO, NINE = 32, 34, 44, 58, 45, 48, 57
local ARRAY, ARRAY_END, OBJECT, OBJECT_END = 91, 93, 123, 125

local fail, readstring, readnumber = scan.fail, scan.string, scan.number

-- Of the decoding under way; one at a time, since nothing here calls back.
local settings, null
local value

local function skip(p, i)
   local c = p[i]
   while c == SPACE or c == 9 or c == 10 or c == 13 do
      i = i + 1
      c = p[i]
   end
   return i
end

-- Does the text go on with these bytes?
local function says(p, i, text)
   for k = 1, #text do
      if p[i + k - 1] ~= text:byte(k) then
         return false
      end
   end
   return true
end

local punctuation = {
   [0] = 'T_END', [ARRAY] = 'T_ARR_BEGIN', [ARRAY_END] = 'T_ARR_END', [OBJECT] = 'T_OBJ_BEGIN',
   [OBJECT_END] = 'T_OBJ_END', [COMMA] = 'T_COMMA', [COLON] = 'T_COLON',
}

-- A string, number or literal: its value, the position behind it and the token's name. Anything else is an error.
local function scalar(p, i, expected)
   local c = p[i]
   if c == QUOTE then
      local text, behind = readstring(p, i, expected)
      return text, behind, 'T_STRING'
   elseif c == MINUS or c >= ZERO and c <= NINE then
      if not settings.decode_invalid_numbers and scan.foreign(p, i) then
         fail(expected, 'invalid number', i)
      end
   elseif says(p, i, 'true') then
      return true, i + 4, 'T_BOOLEAN'
   elseif says(p, i, 'false') then
      return false, i + 5, 'T_BOOLEAN'
   elseif says(p, i, 'null') then
      return null, i + 4, 'T_NULL'
   elseif not (settings.decode_invalid_numbers and scan.foreign(p, i)) then
      fail(expected, punctuation[c] or 'invalid token', i)
   end
   local number, behind = readnumber(p, i)
   if not number then
      fail(expected, 'invalid number', i)
   end
   return number, behind, 'T_NUMBER'
end

-- Say what stands at `i` in place of what was expected.
local function unexpected(p, i, expected)
   fail(expected, punctuation[p[i]] or select(3, scalar(p, i, expected)), i)
end

local function deeper(depth, i)
   if depth > settings.decode_max_depth then
      error(string.format('Found too many nested data structures (%d) at character %d', depth, i + 1), 0)
   end
end

local function array(p, i, depth)
   deeper(depth, i)
   local list, n = {}, 0
   i = skip(p, i + 1)
   if p[i] == ARRAY_END then
      return list, i + 1
   end
   while true do
      n = n + 1
      list[n], i = value(p, i, depth)
      i = skip(p, i)
      local c = p[i]
      if c == COMMA then
         i = skip(p, i + 1)
      elseif c == ARRAY_END then
         return list, i + 1
      else
         unexpected(p, i, 'comma or array end')
      end
   end
end

local function object(p, i, depth)
   deeper(depth, i)
   local map = {}
   i = skip(p, i + 1)
   if p[i] == OBJECT_END then
      return map, i + 1
   end
   while true do
      if p[i] ~= QUOTE then
         unexpected(p, i, 'object key string')
      end
      local key
      key, i = readstring(p, i, 'object key string')
      i = skip(p, i)
      if p[i] ~= COLON then
         unexpected(p, i, 'colon')
      end
      map[key], i = value(p, skip(p, i + 1), depth)
      i = skip(p, i)
      local c = p[i]
      if c == COMMA then
         i = skip(p, i + 1)
      elseif c == OBJECT_END then
         return map, i + 1
      else
         unexpected(p, i, 'comma or object end')
      end
   end
end

function value(p, i, depth)
   local c = p[i]
   if c == QUOTE then
      return readstring(p, i, 'value')
   elseif c == OBJECT then
      return object(p, i, depth + 1)
   elseif c == ARRAY then
      return array(p, i, depth + 1)
   end
   local found, behind = scalar(p, i, 'value')
   return found, behind
end

-- The value of a text. Errors have no position: the caller knows whose fault they are.
return function(text, given, nothing)
   if #text >= 2 and (text:byte(1) == 0 or text:byte(2) == 0) then
      error('JSON parser does not support UTF-16 or UTF-32', 0)
   end
   settings, null = given, nothing
   local p = ffi.cast(bytes, text)
   local found, i = value(p, skip(p, 0), 0)
   i = skip(p, i)
   if p[i] ~= 0 then
      unexpected(p, i, 'the end')
   end
   return found, #text -- the text, held until here, is what `p` points into
end
