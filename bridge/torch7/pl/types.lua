-- Questions about values.
local types = {}

-- A function, or something with __call.
function types.is_callable(object)
   local metatable = getmetatable(object)
   return type(object) == 'function' or type(metatable) == 'table' and metatable.__call ~= nil
end

-- Is it of this type? A string names one of Lua's, anything else is a class.
function types.is_type(object, kind)
   if type(kind) == 'string' then
      return type(object) == kind
   end
   return getmetatable(object) == kind
end

local files = debug.getmetatable(io.stdout)

-- The type's name: of Lua, 'file', or a class's _name.
function types.type(object)
   local kind = type(object)
   if kind == 'userdata' or kind == 'table' then
      local metatable = debug.getmetatable(object)
      if metatable == files then
         return 'file'
      elseif metatable == nil then
         return kind
      end
      return type(metatable) == 'table' and rawget(metatable, '_name') or 'unknown ' .. kind
   end
   return kind
end

function types.is_integer(number)
   return type(number) == 'number' and math.ceil(number) == number
end

local function has(object, event)
   local metatable = getmetatable(object)
   return type(metatable) == 'table' and metatable[event] ~= nil
end

function types.is_empty(object, nospaces)
   if object == nil then
      return true
   elseif type(object) == 'table' then
      return next(object) == nil
   elseif type(object) == 'string' then
      return object == '' or nospaces and not object:find('%S') or false
   end
   return true
end

function types.is_indexable(object)
   return type(object) == 'table' or has(object, '__index') and has(object, '__len') or nil
end

function types.is_iterable(object)
   return type(object) == 'table' or has(object, '__pairs') or nil
end

function types.is_writeable(object)
   return type(object) == 'table' or has(object, '__newindex') or nil
end

local truths = {['yes'] = true, y = true, ['true'] = true, t = true, ['1'] = true}

-- A truth from a word: yes, y, true, t, 1 (and `words`, if given), a number that is not 0, ...
function types.to_bool(object, words, check)
   if type(object) == 'string' then
      local word = object:lower()
      if truths[word] then
         return true
      elseif type(words) == 'table' then
         for _, other in ipairs(words) do
            if word == other:lower() then
               return true
            end
         end
      end
      return false
   elseif type(object) == 'boolean' then
      return object
   elseif type(object) == 'number' then
      return object ~= 0
   elseif object ~= nil and check then
      return not types.is_empty(object)
   end
   return object ~= nil and check == nil and type(object) ~= 'table' and false or false
end

return types
