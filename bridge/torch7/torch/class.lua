-- torch.class and the registry of types: names to metatables, constructors, factories.
--
-- An object is a table (or a userdata) whose metatable is its class; a class's metatable is its parent. `__index` is
-- the class itself, so the interpreter finds methods without a call; only classes that define `__index__` or
-- `__newindex__` pay for a function, put in place when an instance is made. Every other metamethod (`__add`, `__len`,
-- `__tostring`, ...) looks for its `__name__` twin, inherited ones too.
local operators = require 'torch.operators'

local class = {}
local classes = {}      -- name -> metatable
local names = {}        -- metatable -> name
local constructors = {} -- metatable -> constructor table
local istable = setmetatable({}, {__mode = 'k'}) -- constructor table -> true

function class.name(metatable)
   return names[metatable]
end

-- The callable table of a class; nil if it has none.
function class.constructor(metatable)
   return constructors[metatable]
end

function class.isconstructor(object)
   return istable[object] ~= nil
end

-- The table in which the class `name` belongs, and its last name: 'a.b.C' is _G.a.b and 'C'. A `module` is that table,
-- whatever comes before the last name. Nil and a message when there is no such table.
local function home(name, module)
   local outer, rest = name:match('^([^.]+)%.(.+)$')
   if not outer or module then
      return module or _G, name:match('[^.]*$')
   end
   local place = rawget(_G, outer) or (outer == 'torch' and class.torch) or package.loaded[outer]
   local path = outer
   while true do
      if type(place) ~= 'table' then
         return nil, string.format('while creating metatable %s: bad argument #1 (%s is an invalid module name)',
            name, path)
      end
      local inner, more = rest:match('^([^.]+)%.(.+)$')
      if not inner then
         return place, rest
      end
      place, path, rest = place[inner], path .. '.' .. inner, more
   end
end

-- The callable table that programs know as `nn.Linear`: reads and writes go to the class.
local function constructortable(metatable, constructor)
   local object = setmetatable({}, {
      __index = metatable,
      __newindex = metatable,
      __metatable = metatable,
      __call = function(_, ...)
         return constructor(...)
      end
   })
   istable[object] = true
   constructors[metatable] = object
   return object
end

local function register(name, metatable)
   classes[name] = metatable
   names[metatable] = name
   metatable.__typename = name
   metatable.__metatable = metatable
   if rawget(metatable, '__version') == nil then
      metatable.__version = 1
   end
   if rawget(metatable, '__index') == nil then
      metatable.__index = metatable
   end
   if rawget(metatable, '__newindex') == nil then
      metatable.__newindex = rawset
   end
   operators.install(metatable, names)
end

-- Enter a metatable that was made elsewhere (tensors, storages: userdata with an `__index` of their own). It may
-- bring `__factory` (makes an empty object), `__pointer` (an object's address) and `__pushudata` (an object around a
-- C pointer). With a constructor, `torch.<Name>` becomes its constructor table.
function class.adopt(name, metatable, constructor)
   if classes[name] then
      error(string.format('class %s exists already', name), 2)
   end
   register(name, metatable)
   if constructor then
      metatable.__constructor = constructor
      local place, last = home(name)
      if not place then
         error(last, 2)
      end
      place[last] = constructortable(metatable, constructor)
   end
   return metatable
end

-- Why a class cannot be made (again) with these arguments; nil if it can.
local function conflict(name, metatable, parentname, destructor, factory)
   if parentname and not classes[parentname] then
      return string.format('bad argument #2 (invalid parent class name %s)', parentname)
   elseif parentname == name then
      return string.format('bad argument #2 (class %s cannot be its own parent)', name)
   elseif parentname and metatable and getmetatable(metatable) then
      return string.format('class %s has been already assigned a parent class\n', name)
   elseif destructor and metatable and rawget(metatable, '__gc') then
      return string.format('%s has been already assigned a destructor', name)
   elseif factory and metatable and rawget(metatable, '__factory') then
      return string.format('%s has been already assigned a factory', name)
   end
end

-- A metatable for `name`, made unless it exists. Nil and a message when something is wrong; then nothing has changed.
local function newmetatable(name, parentname, constructor, destructor, factory, module)
   local place, last = home(name, module)
   local metatable = classes[name]
   local message = not place and last or conflict(name, metatable, parentname, destructor, factory)
   if message then
      return nil, message
   end
   if not metatable then
      metatable = {}
      register(name, metatable)
   end
   if parentname then
      setmetatable(metatable, classes[parentname])
   end
   if destructor then
      rawset(metatable, '__gc', destructor)
   end
   if factory then
      rawset(metatable, '__factory', factory)
   end
   if constructor then
      rawset(metatable, '__constructor', constructor)
      rawset(metatable, 'new', constructor)
      place[last] = constructortable(metatable, constructor)
   end
   return metatable
end

-- Argument `index` must be of a type, or nothing where that is allowed; `message` says so.
local function expect(index, what, value, kind, message, optional)
   if type(value) ~= kind and not (optional and value == nil) then
      error(string.format("bad argument #%d to '%s' (%s)", index, what, message
         or string.format('%s expected, got %s', kind, value == nil and 'no value' or type(value))), 3)
   end
end

local function install(torch)
   class.torch = torch

   function torch.newmetatable(name, parentname, constructor, destructor, factory, module)
      expect(1, 'newmetatable', name, 'string')
      expect(2, 'newmetatable', parentname, 'string', 'parent class name or nil expected', true)
      expect(3, 'newmetatable', constructor, 'function', 'constructor function or nil expected', true)
      expect(4, 'newmetatable', destructor, 'function', 'destructor function or nil expected', true)
      expect(5, 'newmetatable', factory, 'function', 'factory function or nil expected', true)
      expect(6, 'newmetatable', module, 'table', 'module table or nil expected', true)
      local metatable, message = newmetatable(name, parentname, constructor, destructor, factory, module)
      return metatable or error(message, 2)
   end

   function torch.getmetatable(name)
      expect(1, 'getmetatable', name, 'string')
      return classes[name]
   end

   function torch.setmetatable(object, name)
      expect(2, 'setmetatable', name, 'string')
      expect(1, 'setmetatable', object, 'table')
      local metatable = classes[name]
      if not metatable then
         error(string.format('unknown typename %s\n', tostring(name)), 2)
      end
      operators.refresh(metatable)
      return setmetatable(object, metatable)
   end

   function torch.getconstructortable(name)
      expect(1, 'getconstructortable', name, 'string')
      return constructors[classes[name]]
   end

   function torch.factory(name)
      expect(1, 'factory', name, 'string')
      local metatable = classes[name]
      return metatable and rawget(metatable, '__factory')
   end

   -- torch.class(name, [parentname], [module]): the new class and its parent.
   function torch.class(...)
      local name, parentname, module = ...
      local kinds = {}
      for i = 1, select('#', ...) do
         kinds[i] = type((select(i, ...)))
      end
      kinds = table.concat(kinds, ' ')
      if kinds == 'string table' then
         parentname, module = nil, parentname
      elseif kinds ~= 'string' and kinds ~= 'string string' and kinds ~= 'string string table' then
         error('<class name> [<parent class name>] [<module table>] expected', 2)
      end
      local metatable
      local function constructor(...)
         operators.refresh(metatable)
         local self = setmetatable({}, metatable)
         local init = metatable.__init
         if init then
            init(self, ...)
         end
         return self
      end
      local function factory()
         operators.refresh(metatable)
         return setmetatable({}, metatable)
      end
      local message
      metatable, message = newmetatable(name, parentname, constructor, nil, factory, module)
      if not metatable then
         error(message, 2)
      end
      return metatable, parentname and classes[parentname] or nil
   end
end

class.classes = classes
return setmetatable(class, {
   __call = function(_, torch)
      install(torch)
      require('torch.types')(torch, class)
   end
})
