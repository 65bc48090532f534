-- image.test: whether the package works here.
local checks = {}

function checks.scaling(tester, image)
   local picture = torch.range(0, 15):view(4, 4)
   tester:assertTensorEq(image.scale(picture, 4, 4), picture, 1e-6, 'the same size is a copy')
   tester:assertlt(math.abs(image.scale(picture, 2, 2):mean() - picture:mean()), 1e-6, 'shrinking keeps the mean')
end

function checks.flipping(tester, image)
   local picture = torch.rand(3, 5, 4)
   tester:assertTensorEq(image.hflip(image.hflip(picture)), picture, 0, 'hflip twice')
   tester:assertTensorEq(image.vflip(image.vflip(picture)), picture, 0, 'vflip twice')
end

function checks.colours(tester, image)
   local picture = torch.rand(3, 5, 4)
   for _, name in ipairs{'hsl', 'hsv', 'lab', 'yuv'} do
      local back = image[name .. '2rgb'](image['rgb2' .. name](picture))
      tester:assertTensorEq(back, picture, 1e-3, name .. ' and back')
   end
end

function checks.memory(tester, image)
   local picture = torch.rand(3, 5, 4):mul(255):byte()
   tester:assertTensorEq(image.decompressPNG(image.compressPNG(picture), 3, 'byte'), picture, 0, 'PNG in memory')
end

return function(image)
   function image.test(names)
      local tester = torch.Tester()
      for name, check in pairs(checks) do
         tester:add(function() check(tester, image) end, name)
      end
      tester:run(names)
   end
end
