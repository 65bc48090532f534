-- What the functions of tablex return: lists, or tables of the kind that they were given.
local kinds = {}

-- A result of the same kind as the table it comes from; a plain table gives a `kind` ('List', 'Map') or a plain one.
function kinds.like(object, result, kind)
   return setmetatable(result, getmetatable(object) or kind and require('pl.' .. kind) or nil)
end

function kinds.list(result)
   return setmetatable(result, require 'pl.List')
end

return kinds
