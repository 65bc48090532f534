-- The settings of a cjson module: each function sets what it is given and returns what holds then.
local options = {}

local LARGEST = 2^31 - 1

function options.defaults()
   return {
      decode_invalid_numbers = true,
      decode_max_depth = 1000,
      encode_invalid_numbers = false,
      encode_keep_buffer = true,
      encode_max_depth = 1000,
      encode_number_precision = 14,
      sparse_convert = false,
      sparse_ratio = 2,
      sparse_safe = 10,
   }
end

local function fail(index, name, message)
   error(string.format("bad argument #%d to '%s' (%s)", index, name, message), 4)
end

local function atmost(limit, name, ...)
   if select('#', ...) > limit then
      fail(limit + 1, name, 'found too many arguments')
   end
end

-- A value that does not fit is argument 1 in the message wherever it stood: so it is in the original.
local function integer(settings, key, name, value, smallest, largest)
   if value == nil then
      return
   end
   local number = (type(value) == 'number' or type(value) == 'string') and tonumber(value)
   if not number then
      fail(1, name, 'number expected, got ' .. type(value))
   end
   number = number < 0 and math.ceil(number) or math.floor(number)
   if not (number >= smallest and number <= largest) then
      fail(1, name, string.format('expected integer between %d and %d', smallest, largest))
   end
   settings[key] = number
end

local function choice(settings, key, name, value, word)
   if value == nil then
      return
   elseif type(value) == 'boolean' or word and value == word then
      settings[key] = value
   elseif type(value) == 'string' or type(value) == 'number' then
      fail(1, name, string.format("invalid option '%s'", value))
   else
      fail(1, name, 'string expected, got ' .. type(value))
   end
end

function options.install(cjson, settings)
   local function number(name, largest)
      cjson[name] = function(...)
         atmost(1, name, ...)
         integer(settings, name, name, (...), 1, largest)
         return settings[name]
      end
   end

   local function switch(name, word)
      cjson[name] = function(...)
         atmost(1, name, ...)
         choice(settings, name, name, (...), word)
         return settings[name]
      end
   end

   number('decode_max_depth', LARGEST)
   number('encode_max_depth', LARGEST)
   number('encode_number_precision', 14)
   switch('decode_invalid_numbers')
   switch('encode_invalid_numbers', 'null')
   switch('encode_keep_buffer')

   -- What to do with arrays that are mostly holes: encode_sparse_array([convert, [ratio, [safe]]]).
   function cjson.encode_sparse_array(...)
      local name = 'encode_sparse_array'
      atmost(3, name, ...)
      local convert, ratio, safe = ...
      choice(settings, 'sparse_convert', name, convert)
      integer(settings, 'sparse_ratio', name, ratio, 0, LARGEST)
      integer(settings, 'sparse_safe', name, safe, 0, LARGEST)
      return settings.sparse_convert, settings.sparse_ratio, settings.sparse_safe
   end
end

return options
