-- The tokens of JSON: strings and numbers read from memory that ends with a zero byte, and the names by which error
-- messages call what they found. Positions are 0-based offsets; messages count from 1.
local ffi = require 'ffi'

local scan = {}

local QUOTE, BACKSLASH, PLUS, MINUS, DOT, ZERO, NINE = 34, 92, 43, 45, 46, 48, 57
local substring, char = ffi.string, string.char

local function fail(expected, found, position)
   error(string.format('Expected %s but found %s at character %d', expected, found, position + 1), 0)
end
scan.fail = fail

-- ---- strings

local escapes = {
   [QUOTE] = '"', [BACKSLASH] = '\\', [47] = '/', [98] = '\b', [102] = '\f', [110] = '\n', [114] = '\r', [116] = '\t',
}

local function hex(p, at)
   local code = 0
   for i = at, at + 3 do
      local c = p[i]
      if c >= 48 and c <= 57 then
         c = c - 48
      elseif c >= 65 and c <= 70 then
         c = c - 55
      elseif c >= 97 and c <= 102 then
         c = c - 87
      else
         return nil -- the closing zero too: nothing behind it is read
      end
      code = code * 16 + c
   end
   return code
end

local function utf8(code)
   local function tail(shift)
      return 128 + math.floor(code / shift) % 64
   end
   if code < 0x80 then
      return char(code)
   elseif code < 0x800 then
      return char(192 + math.floor(code / 64), tail(1))
   elseif code < 0x10000 then
      return char(224 + math.floor(code / 4096), tail(64), tail(1))
   end
   return char(240 + math.floor(code / 262144), tail(4096), tail(64), tail(1))
end

-- The character that the escape at `at` (a backslash, then u) stands for, and the position behind it; nil if it is
-- none, or half of a pair.
local function unicode(p, at)
   local code = hex(p, at + 2)
   if not code or code >= 0xDC00 and code <= 0xDFFF then
      return nil
   elseif code < 0xD800 or code > 0xDFFF then
      return utf8(code), at + 6
   end
   local low = p[at + 6] == BACKSLASH and p[at + 7] == 117 and hex(p, at + 8)
   if not low or low < 0xDC00 or low > 0xDFFF then
      return nil
   end
   return utf8((code - 0xD800) * 0x400 + (low - 0xDC00) + 0x10000), at + 12
end

-- A string from its opening quote; the string and the position behind the closing one.
function scan.string(p, at, expected)
   local from = at + 1
   local i = from
   local pieces, n
   while true do
      local c = p[i]
      if c == QUOTE then
         if not pieces then
            return substring(p + from, i - from), i + 1
         end
         pieces[n + 1] = substring(p + from, i - from)
         return table.concat(pieces), i + 1
      elseif c == BACKSLASH then
         pieces, n = pieces or {}, n or 0
         local text, behind = escapes[p[i + 1]], i + 2
         if p[i + 1] == 117 then
            text, behind = unicode(p, i)
            if not text then
               fail(expected, 'invalid unicode escape code', i)
            end
         elseif not text then
            fail(expected, 'invalid escape code', i)
         end
         pieces[n + 1], pieces[n + 2] = substring(p + from, i - from), text
         n, from, i = n + 2, behind, behind
      elseif c == 0 then
         fail(expected, 'unexpected end of string', i)
      else
         i = i + 1
      end
   end
end

-- ---- numbers

local powers = ffi.new('double[23]')
for i = 0, 22 do
   powers[i] = tonumber('1e' .. i)
end

-- Does the word at `at` begin with these three lower-case letters, in any case?
local function word(p, at, a, b, c)
   return bit.bor(p[at], 32) == a and bit.bor(p[at + 1], 32) == b and bit.bor(p[at + 2], 32) == c
end

-- Is what stands here a number that C knows and JSON does not: inf, nan, hexadecimal, a leading plus or zero?
function scan.foreign(p, at)
   local c = p[at]
   if c == PLUS then
      return true
   elseif c == MINUS then
      at = at + 1
      c = p[at]
   end
   if c == ZERO then
      local next = p[at + 1]
      return bit.bor(next, 32) == 120 or next >= ZERO and next <= NINE
   end
   return word(p, at, 105, 110, 102) or word(p, at, 110, 97, 110)
end

-- The number that C's strtod would read here, and where it ends; nil if there is none. What is not plain decimal is
-- cut out and given to tonumber, which, unlike strtod, heeds no locale.
local function exotic(text)
   local rest = text:sub(text:find('^[+-]') and 2 or 1)
   local sign, skipped = text:sub(1, 1) == '-' and -1 or 1, #text - #rest
   local lower = rest:lower()
   local found = lower:match('^infinity') or lower:match('^inf') or lower:match('^nan%([%w_]*%)') or lower:match('^nan')
   if found then
      return sign * (found:sub(1, 1) == 'i' and math.huge or 0 / 0), skipped + #found
   end
   found = lower:match('^0x%x+%.?%x*') or lower:match('^0x%.%x+')
   if found then
      found = lower:match('^p[+-]?%d+', #found + 1) and found .. lower:match('^p[+-]?%d+', #found + 1) or found
   else
      found = lower:match('^%d+%.?%d*') or lower:match('^%.%d+')
      local exponent = found and lower:match('^e[+-]?%d+', #found + 1)
      found = exponent and found .. exponent or found
   end
   if found then
      return sign * tonumber((found:gsub('%.$', ''):gsub('%.p', 'p'):gsub('%.e', 'e'))), skipped + #found
   end
end

local function cut(p, at)
   local last = at
   while true do
      local c = bit.bor(p[last], 32)
      local part = c >= 48 and c <= 57 or c >= 97 and c <= 122 or p[last] == 95
         or p[last] == PLUS or p[last] == MINUS or p[last] == DOT or p[last] == 40 or p[last] == 41
      if not part then
         return substring(p + at, last - at)
      end
      last = last + 1
   end
end

-- A number, and the position behind it; nil if there is none. Up to 15 digits and a small exponent are exact in a
-- double and its quotient is rounded once, so those need no text.
function scan.number(p, at)
   local i = at
   local negative = p[i] == MINUS
   if negative then
      i = i + 1
   end
   local mantissa, first = 0, i
   local c = p[i]
   while c >= ZERO and c <= NINE do
      mantissa = mantissa * 10 + (c - ZERO)
      i = i + 1
      c = p[i]
   end
   local digits, decimals = i - first, 0
   if c == DOT and digits > 0 then
      local dot = i
      i = i + 1
      c = p[i]
      while c >= ZERO and c <= NINE do
         mantissa = mantissa * 10 + (c - ZERO)
         i = i + 1
         c = p[i]
      end
      decimals = i - dot - 1
   end
   c = bit.bor(c, 32)
   if digits == 0 or digits + decimals > 15 or c == 101 or c == 120 then
      local value, length = exotic(cut(p, at))
      return value, value and at + length
   end
   if decimals > 0 then
      mantissa = mantissa / powers[decimals]
   end
   if negative then
      mantissa = -mantissa
   end
   return mantissa, i
end

return scan
