-- Mirror images.
local calls = require 'image.calls'

-- The elements of `source` in the opposite order along a dimension.
local function reversed(source, dimension)
   local order = torch.range(source:size(dimension), 1, -1):long()
   return source:index(dimension, order)
end

-- hflip and vflip: `back` is which dimension from the end they turn.
local function mirror(name, what, back)
   return function(...)
      local destination, source = calls.converted(name, what, nil, ...)
      calls.tensor(source, name)
      if source:dim() ~= 2 and source:dim() ~= 3 then
         calls.fail(string.format('an image has 2 or 3 dimensions, got %d', source:dim()), name)
      end
      if source:dim() == 2 and not source:isContiguous() then
         calls.fail('2D input tensor is not contiguous', name)
      end
      local made = reversed(source, source:dim() - back)
      if not destination then
         return made
      end
      destination:resizeAs(source)
      if not destination:isContiguous() then
         calls.fail('destination tensor is not contiguous', name)
      end
      return destination:copy(made)
   end
end

return function(image)
   image.hflip = mirror('hflip', 'flips an image horizontally (left/right)', 0)
   image.vflip = mirror('vflip', 'flips an image vertically (upside-down)', 1)

   -- flip([dst], src, dimension), of up to five dimensions.
   function image.flip(...)
      local count = select('#', ...)
      local destination, source, dimension
      if count == 3 then
         destination, source, dimension = ...
      elseif count == 2 then
         source, dimension = ...
      else
         local along = {type = 'number', help = 'Dimension to flip', req = true}
         calls.usage('flip', 'flips an image along a specified dimension', {{calls.input, along},
            {calls.destination, calls.input, along}})
      end
      calls.tensor(source, 'flip')
      assert(source:nDimension() <= 5, 'too many input dims (up to 5D supported)')
      assert(type(dimension) == 'number' and dimension <= source:nDimension() and dimension >= 1, 'Bad flip dimension')
      if not source:isContiguous() then
         calls.fail('input tensor is not contiguous', 'flip')
      end
      local made = reversed(source, math.floor(dimension))
      if not destination then
         return made
      end
      if torch.data(destination) == torch.data(source) then
         error('image.flip: in-place flip not supported', 2)
      end
      destination:resizeAs(source)
      if not destination:isContiguous() then
         calls.fail('destination tensor is not contiguous', 'flip')
      end
      return destination:copy(made)
   end
end
