-- Completion in the interactive mode: names of globals, keywords, and fields and methods of the object before the last
-- dot or colon. It runs no code of the program: values are looked up without metamethods.
local keywords = {'and', 'break', 'do', 'else', 'elseif', 'end', 'false', 'for', 'function', 'goto', 'if', 'in',
   'local', 'nil', 'not', 'or', 'repeat', 'return', 'then', 'true', 'until', 'while'}

-- Call f with the tables in which a key of `object` is looked up, in order.
local function places(object, f)
   local seen = {}
   local function visit(place)
      if type(place) == 'table' and not seen[place] then
         seen[place] = true
         f(place)
      end
   end
   visit(object)
   local metatable = debug.getmetatable(object)
   while type(metatable) == 'table' and not seen[metatable] do
      visit(rawget(metatable, '__index'))
      if rawget(metatable, '__typename') then
         visit(metatable)
      end
      seen[metatable] = true
      metatable = debug.getmetatable(metatable)
   end
end

local function field(object, key)
   local found
   places(object, function(place)
      if found == nil then
         found = rawget(place, key)
      end
   end)
   return found
end

-- The completions of `word`, sorted: of 'torch.Fl', for example, 'torch.FloatTensor'.
return function(word)
   local path, prefix = word:match('^(.-)([%w_]*)$')
   local object, methods = _G, path:sub(-1) == ':'
   for name in path:gmatch('[^.:]+') do
      object = field(object, name)
      if object == nil then
         return {}
      end
   end
   local names, seen = {}, {}
   local function add(name)
      local hidden = name:sub(1, 2) == '__' and prefix == ''
      if name:sub(1, #prefix) == prefix and not hidden and not seen[name] then
         seen[name] = true
         names[#names + 1] = path .. name
      end
   end
   places(object, function(place)
      for key, value in next, place do
         if type(key) == 'string' and key:find('^[%a_][%w_]*$') and (not methods or type(value) == 'function') then
            add(key)
         end
      end
   end)
   if path == '' then
      for _, keyword in ipairs(keywords) do
         add(keyword)
      end
   end
   table.sort(names)
   return names
end
