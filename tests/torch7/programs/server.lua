#!/usr/bin/env th
-- A server for pictures, as face programs wrote it: a path on a line in, numbers on a line out.
require 'torch'
require 'nn'
require 'image'

io.stdout:setvbuf 'no'
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text()
cmd:text('A server for pictures.')
cmd:text()
cmd:option('-model', 'model.t7', 'Path to the model.')
cmd:option('-side', 4, 'Size of the pictures.')
cmd:option('-cuda', false)
cmd:text()
local opt = cmd:parse(arg or {})

local net = torch.load(opt.model)
net:evaluate()
local picture = torch.Tensor(1, 3, opt.side, opt.side)
while true do
   local path = io.read('*line')
   if not path then
      break
   elseif path:len() ~= 0 then
      picture[1] = image.scale(image.load(path, 3, 'float'), opt.side, opt.side)
      local made = net:forward(picture):view(-1)
      for i = 1, made:size(1) do
         io.write(made[i])
         if i < made:size(1) then
            io.write(',')
         end
      end
      io.write('\n')
      io.stdout:flush()
   end
end
