-- The cjson package: Lua values to JSON and back, with the settings, limits and messages of Lua CJSON 2.1.
local decoder = require 'cjson.decoder'
local encoder = require 'cjson.encoder'
local options = require 'cjson.options'
local null = require('bridge').null -- what Python's None is inside a table, so that it crosses as None

-- The one argument of a function that takes exactly one.
local function single(name, ...)
   if select('#', ...) ~= 1 then
      error(string.format("bad argument #1 to '%s' (expected 1 argument)", name), 3)
   end
   return (...)
end

-- A module with settings of its own.
local function new()
   local settings = options.defaults()
   local cjson = {null = null, new = new, _NAME = 'cjson', _VERSION = '2.1.0'}

   function cjson.decode(...)
      local text = single('decode', ...)
      if type(text) == 'number' then
         text = tostring(text)
      elseif type(text) ~= 'string' then
         error(string.format("bad argument #1 to 'decode' (string expected, got %s)", type(text)), 2)
      end
      local ok, value = pcall(decoder, text, settings, null)
      if not ok then
         error(value, type(value) == 'string' and 2 or 0)
      end
      return value
   end

   function cjson.encode(...)
      local ok, text = pcall(encoder, single('encode', ...), settings, null)
      if not ok then
         error(text, type(text) == 'string' and 2 or 0)
      end
      return text
   end

   options.install(cjson, settings)
   return cjson
end

return new()
