-- image.byte, image.float, image.double, and the same table as `image` in the tensors of that type: the functions that
-- take (source, destination), as the original's compiled part has them.
local kinds = {byte = 'Byte', float = 'Float', double = 'Double'}

-- f(source, destination, ...) by way of one that takes the destination first.
local function turned(f, ...)
   local settings = {...}
   return function(source, destination, ...)
      local given = {...}
      for _, setting in ipairs(settings) do
         given[#given + 1] = setting
      end
      f(destination, source, unpack(given))
   end
end

return function(image)
   local functions = {
      scaleSimple = turned(image.scale, 'simple'),
      scaleBilinear = turned(image.scale, 'bilinear'),
      scaleBicubic = turned(image.scale, 'bicubic'),
      rotate = turned(image.rotate, 'simple'),
      rotateBilinear = turned(image.rotate, 'bilinear'),
      translate = turned(image.translate),
      cropNoScale = turned(image.crop),
      rgb2y = function(source, destination) destination:copy(image.rgb2y(source)) end,
      hflip = image.hflip,
      vflip = image.vflip,
      saturate = function(tensor) return tensor:clamp(0, 1) end,
   }
   for _, name in ipairs{'rgb2hsl', 'hsl2rgb', 'rgb2hsv', 'hsv2rgb', 'rgb2lab', 'lab2rgb'} do
      functions[name] = turned(image[name])
   end
   for name, kind in pairs(kinds) do
      local copy = {}
      for key, f in pairs(functions) do
         copy[key] = f
      end
      image[name] = copy
      torch.getmetatable('torch.' .. kind .. 'Tensor').image = copy
   end
end
