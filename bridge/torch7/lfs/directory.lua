-- lfs.dir: an iterator over the names in a directory, with an object that can be asked and closed by hand.
local posix = require 'paths.posix'
local arguments = require 'paths.arguments'

local listings = setmetatable({}, {__mode = 'k'}) -- directory object -> what is still to come; false: closed

local function check(object)
   local listing = listings[object]
   if listing == nil then
      error(string.format("bad argument #1 to 'next' (directory metatable expected, got %s)", type(object)), 3)
   end
   return listing
end

local methods = {}

-- The next name; nil after the last one, which closes the directory.
function methods.next(object)
   local listing = check(object)
   if not listing then
      error("bad argument #1 to 'next' (closed directory)", 2)
   end
   listing.at = listing.at + 1
   local name = listing.names[listing.at]
   if not name then
      listings[object] = false
   end
   return name
end

function methods.close(object)
   check(object)
   listings[object] = false
end

return function(lfs)
   function lfs.dir(path)
      path = arguments.text(1, 'dir', path, true)
      local names, number = posix.names(path)
      if not names then
         error(string.format('cannot open %s: %s', path, posix.message(number)), 2)
      end
      local object = newproxy(true)
      getmetatable(object).__index = methods
      listings[object] = {names = names, at = 0}
      return methods.next, object
   end
end
