-- Parts of a picture, and pictures that are moved.
local calls = require 'image.calls'

local function size(tensor, name)
   calls.tensor(tensor, name)
   local dims = tensor:dim()
   if dims ~= 2 and dims ~= 3 then
      error(string.format("bad argument #1 to '%s' (%s: src not 2 or 3 dimensional)", name, name), 0)
   end
   return tensor:size(dims), tensor:size(dims - 1), dims
end

-- The corner of a part of width x height at a named place.
local corners = {
   c = function(w, h, width, height) return math.floor((w - width) / 2), math.floor((h - height) / 2) end,
   tl = function() return 0, 0 end,
   tr = function(w, _, width) return w - width, 0 end,
   bl = function(_, h, _, height) return 0, h - height end,
   br = function(w, h, width, height) return w - width, h - height end,
}

-- A view of the part; what is outside the picture is an error.
local function part(source, x, y, width, height)
   local w, h, dims = size(source, 'crop')
   if x < 0 or y < 0 or x + width > w or y + height > h then
      error('image.crop: crop goes outside bounds of src', 0)
   end
   if width < 1 or height < 1 then
      error(string.format('image.crop: a part of %.0fx%.0f has no pixels', width, height), 0)
   end
   return source:narrow(dims, x + 1, width):narrow(dims - 1, y + 1, height)
end

local function usage()
   local from = {{type = 'number', help = 'start x', req = true}, {type = 'number', help = 'start y', req = true},
      {type = 'number', help = 'end x'}, {type = 'number', help = 'end y'}}
   local named = {{type = 'string', help = 'format: "c" or "tl" or "tr" or "bl" or "br"', req = true},
      {type = 'number', help = 'width', req = true}, {type = 'number', help = 'height', req = true}}
   calls.usage('crop', 'crop an image', {{calls.input, unpack(from)},
      {calls.destination, calls.input, unpack(from)}, {calls.input, unpack(named)},
      {calls.destination, calls.input, unpack(named)}})
end

return function(image)
   -- crop([dst], src, x1, y1, [x2, y2]) or crop([dst], src, 'c|tl|tr|bl|br', width, height).
   function image.crop(...)
      local count = select('#', ...)
      local a, b, c, d, e, f = ...
      local destination, source, x, y, right, below, format
      if count == 6 then
         destination, source, x, y, right, below = a, b, c, d, e, f
      elseif count == 5 and type(c) == 'string' and not tonumber(c) then
         destination, source, format, right, below = a, b, c, d, e
      elseif count == 5 then
         source, x, y, right, below = a, b, c, d, e
      elseif count == 4 and type(b) == 'string' and not tonumber(b) then
         source, format, right, below = a, b, c, d
      elseif count == 4 then
         destination, source, x, y = a, b, c, d
      elseif count == 3 then
         source, x, y = a, b, c
      else
         usage()
      end
      local w, h = size(source, 'crop')
      if format then
         if not corners[format] then
            error('crop format must be "c"|"tl"|"tr"|"bl"|"br"', 2)
         end
         right, below = calls.integer(right, 'crop', 'width'), calls.integer(below, 'crop', 'height')
         x, y = corners[format](w, h, right, below)
         right, below = x + right, y + below
      end
      x, y = calls.integer(x, 'crop', 'start x'), calls.integer(y, 'crop', 'start y')
      if right == nil then
         if not destination then
            error('image.crop: without an end it needs a destination, whose size the part has', 2)
         end
         local width, height = size(destination, 'crop')
         if destination:dim() == 3 and (source:dim() ~= 3 or source:size(1) ~= destination:size(1)) then
            error('image.crop: src and dst depths do not match', 2)
         end
         destination:copy(part(source, x, y, width, height))
         return
      end
      right, below = calls.integer(right, 'crop', 'end x'), calls.integer(below, 'crop', 'end y')
      local cut = part(source, x, y, right - x, below - y):clone()
      if destination then
         image.scale(destination, cut)
         return destination
      end
      return cut
   end

   -- translate([dst], src, x, y): what moves out is lost, what moves in is 0.
   function image.translate(...)
      local count = select('#', ...)
      local destination, source, x, y
      if count == 4 then
         destination, source, x, y = ...
      elseif count == 3 then
         source, x, y = ...
      else
         local shift = {{type = 'number', help = 'horizontal translation', req = true},
            {type = 'number', help = 'vertical translation', req = true}}
         calls.usage('translate', 'translate an image', {{calls.input, unpack(shift)},
            {calls.destination, calls.input, unpack(shift)}})
      end
      local w, h, dims = size(source, 'translate')
      x, y = calls.integer(x, 'translate', 'x'), calls.integer(y, 'translate', 'y')
      local width, height = w - math.abs(x), h - math.abs(y)
      local moved = source.new():resizeAs(source):zero()
      if width > 0 and height > 0 then
         moved:narrow(dims, math.max(x, 0) + 1, width):narrow(dims - 1, math.max(y, 0) + 1, height):copy(
            source:narrow(dims, math.max(-x, 0) + 1, width):narrow(dims - 1, math.max(-y, 0) + 1, height))
      end
      return destination and destination:resizeAs(source):copy(moved) or moved
   end
end
