-- What every thread that loads batches runs: a loader, with the options `opt` that it was given.
require 'image'
paths.dofile('folders.lua')

local function hook(self, path)
   collectgarbage()
   local input = image.scale(image.load(path, 3, 'float'), 8, 8)
   local high, wide = self.shape[2], self.shape[3]
   local top, left = math.ceil(torch.uniform(1e-2, 8 - high)), math.ceil(torch.uniform(1e-2, 8 - wide))
   local out = image.crop(input, left, top, left + wide, top + high)
   assert(out:size(2) == high and out:size(3) == wide)
   if torch.uniform() > 0.5 then
      out = image.hflip(out)
   end
   return out:mul(2):add(-1)
end

torch.setdefaulttensortype('torch.FloatTensor')
loader = Folders{paths = {opt.data}, shape = {3, 6, 6}, split = 100, verbose = true, hook = hook}
