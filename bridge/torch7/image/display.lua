-- Showing pictures, as a PNG file and in the browser; and pictures that are always there.
local native = require 'bridge.native'
local xlua = require 'xlua'
local paths = require 'paths'

local here = paths.dirname((debug.getinfo(1, 'S').source:gsub('^@', '')))

return function(image)
   -- Write what would be shown to a file and return {file=, image=}, which `win` takes to show another picture in the
   -- same place. `file` says where, `browser` opens it. `x`, `y`, `gui` and `offscreen`
   -- have no meaning without windows.
   function image.display(...)
      local o = xlua.unpack({...}, 'image.display', 'displays a single image, with optional saturation/zoom',
         {arg = 'image', type = 'torch.Tensor | table', help = 'image (HxW or KxHxW or Kx3xHxW or list)', req = true},
         {arg = 'zoom', type = 'number', help = 'display zoom', default = 1},
         {arg = 'min', type = 'number', help = 'lower-bound for range'},
         {arg = 'max', type = 'number', help = 'upper-bound for range'},
         {arg = 'legend', type = 'string', help = 'legend', default = 'image.display'},
         {arg = 'win', type = 'table', help = 'what an earlier call returned: shown in its place'},
         {arg = 'x', type = 'number', help = 'x offset', default = 0},
         {arg = 'y', type = 'number', help = 'y offset', default = 0},
         {arg = 'scaleeach', type = 'boolean', help = 'individual scaling for list of images', default = false},
         {arg = 'gui', type = 'boolean', help = 'interactive window', default = true},
         {arg = 'offscreen', type = 'boolean', help = 'offscreen rendering', default = false},
         {arg = 'padding', type = 'number', help = 'number of padding pixels between images', default = 0},
         {arg = 'symmetric', type = 'boolean', help = 'use a symmetric dynamic range', default = false},
         {arg = 'nrow', type = 'number', help = 'number of images per row', default = 6},
         {arg = 'saturate', type = 'boolean', help = 'cut what is outside min and max', default = true},
         {arg = 'file', type = 'string', help = 'where to write the PNG file (default: a temporary file)'},
         {arg = 'browser', type = 'boolean', help = 'open the file in the browser', default = false})
      local shown = image.toDisplayTensor{input = o.image, padding = o.padding, nrow = o.nrow, saturate = o.saturate,
         scaleeach = o.scaleeach, min = o.min, max = o.max, symmetric = o.symmetric}
      local dims = shown:dim()
      if o.zoom ~= 1 then
         shown = image.scale(shown, shown:size(dims) * o.zoom, shown:size(dims - 1) * o.zoom, 'simple')
      end
      local win = o.win or {}
      local file = o.file or win.file
      if not file then
         local name = os.tmpname()
         os.remove(name)
         file = name .. '.png'
      end
      image.savePNG(file, shown)
      win.file, win.image, win.legend = file, shown, o.legend
      if o.browser then
         native.python('image.show', file)
      end
      return win
   end

   -- The original's windows are Qt's.
   function image.window()
      error('image.window needs Qt, which is not here: image.display{image=, file=, browser=} writes a PNG file', 2)
   end

   -- A test picture of 3 x 512 x 512, our own, and the same in grey (512 x 512).
   function image.lena()
      return image.load(paths.concat(here, 'assets', 'picture.jpg'), 3)
   end

   function image.fabio()
      return image.load(paths.concat(here, 'assets', 'picture.jpg'), 1)
   end
end
