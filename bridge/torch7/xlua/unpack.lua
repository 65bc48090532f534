-- Arguments by name or by position: f{a=1, b=2} and f(1, 2) are the same call.
local sys = require 'sys'

local LIMIT = 64 -- arguments of one function

-- The help of a function, written only when somebody looks at it.
local function usage(xlua, name, description, definitions)
   return setmetatable({}, {__tostring = function()
      local example
      local first, second = definitions[1], definitions[2]
      if second then
         example = string.format('%s{%s=%s, %s=%s}\n%s(%s, ...)', name, second.arg, second.type, first.arg,
            first.type, name, first.type)
      end
      return xlua.usage(name, description, example, {tabled = definitions})
   end})
end

-- Is this one table of named arguments?
local function isnamed(arguments)
   local only = arguments[1]
   return #arguments == 1 and type(only) == 'table' and #only == 0
      and not (package.loaded.torch and package.loaded.torch.typename(only))
end

return function(xlua)
   -- A table with the arguments by name and by number, then each of them in order. `...` defines them: {arg=, type=,
   -- help=, req=, default=, defaulta=}. What is missing is an error, after the usage is printed.
   function xlua.unpack(arguments, name, description, ...)
      local definitions = {...}
      local help = usage(xlua, name, description, definitions)
      local given = {}
      if #arguments == 0 then
         print(help)
         xlua.error('error')
      elseif isnamed(arguments) then
         given = arguments[1]
      else
         for i, definition in ipairs(definitions) do
            given[definition.arg] = arguments[i]
         end
      end
      if #definitions > LIMIT then
         xlua.error('<xlua.unpack> oups, cant deal with more than 64 arguments :-)')
      end

      local values = {}
      for i, definition in ipairs(definitions) do
         local value = given[definition.arg]
         if value == nil and definition.req then
            print(sys.COLORS.Red .. 'missing argument: ' .. definition.arg .. sys.COLORS.none)
            print(help)
            xlua.error('error')
         end
         if value == nil then
            value = definition.default
         end
         if value == nil and definition.defaulta then
            value = values[definition.defaulta]
         end
         values[definition.arg], values[i] = value, value
      end
      values.usage = help
      return values, unpack(values, 1, LIMIT)
   end

   -- The same, as fields of an object.
   function xlua.unpack_class(object, arguments, name, description, ...)
      local values = xlua.unpack(arguments, name, description, ...)
      for key, value in pairs(values) do
         if type(key) ~= 'number' then
            object[key] = value
         end
      end
   end
end
