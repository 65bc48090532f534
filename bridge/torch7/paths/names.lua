-- Taking file names apart, as text: nothing here looks at the disk.
local arguments = require 'paths.arguments'

local text = arguments.text

-- The last part of a path, without `suffix` if it ends in a dot and that.
local function basename(path, suffix)
   local name = text(1, 'basename', path):match('([^/]*)/*$')
   suffix = suffix ~= nil and text(2, 'basename', suffix):gsub('^%.', '') or ''
   if suffix ~= '' and name:sub(-#suffix - 1) == '.' .. suffix then
      name = name:sub(1, -#suffix - 2)
   end
   return name
end

-- What lies before the last part of a path, without the slash between them.
local function dirname(path)
   text(1, 'dirname', path)
   local before = path:match('^(.*)/[^/]+/*$')
   if before then
      return before == '' and '/' or before
   end
   return path:sub(1, 1) == '/' and path or '.'
end

-- What follows the last dot; nothing if there is no dot.
local function extname(path)
   local extension = text(1, 'extname', path):match('%.([^.]*)$')
   if extension then
      return extension
   end
end

return function(paths)
   paths.basename, paths.dirname, paths.extname = basename, dirname, extname
end
