-- Pictures whose pixels are looked up at places in another one. A map says where: a row and a column, counted from 0,
-- for every pixel; a row of -1 means nowhere, which gives the pad value.
local object = require 'torch.object'
local plane = require 'image.plane'

local sampling = {RADIUS = 3} -- of the Lanczos kernel

-- An empty map of height x width.
function sampling.map(height, width)
   local held = torch.DoubleTensor(2, height, width)
   local data = held:data()
   return {tensor = held, rows = data, columns = data + height * width, height = height, width = width}
end

-- Pixels at the floor of the place.
function sampling.nearest(source, map, pad)
   local made = plane.like(source, map.height, map.width)
   local from, to, rows, columns = source.data, made.data, map.rows, map.columns
   local width, pixels, area = source.width, map.height * map.width, source.height * source.width
   for channel = 0, source.channels - 1 do
      local at, there = channel * area, channel * pixels
      for i = 0, pixels - 1 do
         local row = rows[i]
         to[there + i] = row >= 0 and from[at + math.floor(row) * width + math.floor(columns[i])] or pad
      end
   end
   object.keep(source, map)
   return made
end

function sampling.bilinear(source, map, pad)
   local made = plane.like(source, map.height, map.width)
   local from, to, rows, columns = source.data, made.data, map.rows, map.columns
   local width, height, pixels = source.width, source.height, map.height * map.width
   for channel = 0, source.channels - 1 do
      local at, there = channel * height * width, channel * pixels
      for i = 0, pixels - 1 do
         local value = pad
         if rows[i] >= 0 then
            local top, left = math.floor(rows[i]), math.floor(columns[i])
            local y, x = rows[i] - top, columns[i] - left
            local upper, lower = at + top * width, at + math.min(top + 1, height - 1) * width
            local right = math.min(left + 1, width - 1)
            value = (1 - y) * ((1 - x) * from[upper + left] + x * from[upper + right]) +
               y * ((1 - x) * from[lower + left] + x * from[lower + right])
         end
         to[there + i] = value
      end
   end
   object.keep(source, map)
   return made
end

-- The cubic through four values, at a place between the second and the third.
local function cubic(before, first, second, after, x)
   local d0, d2, d3 = before - first, second - first, after - first
   local a1 = -d0 / 3 + d2 - d3 / 6
   local a2 = d0 / 2 + d2 / 2
   local a3 = -d0 / 6 - d2 / 2 + d3 / 6
   return first + x * (a1 + x * (a2 + a3 * x))
end

function sampling.bicubic(source, map, pad)
   local made = plane.like(source, map.height, map.width)
   local from, to, rows, columns = source.data, made.data, map.rows, map.columns
   local width, height, pixels = source.width, source.height, map.height * map.width
   local function line(at, row, left, x)
      local start = at + math.max(math.min(row, height - 1), 0) * width
      return cubic(from[start + math.max(left - 1, 0)], from[start + left], from[start + math.min(left + 1, width - 1)],
         from[start + math.min(left + 2, width - 1)], x)
   end
   for channel = 0, source.channels - 1 do
      local at, there = channel * height * width, channel * pixels
      for i = 0, pixels - 1 do
         local value = pad
         if rows[i] >= 0 then
            local top, left = math.floor(rows[i]), math.floor(columns[i])
            local x = columns[i] - left
            value = cubic(line(at, top - 1, left, x), line(at, top, left, x), line(at, top + 1, left, x),
               line(at, top + 2, left, x), rows[i] - top)
         end
         to[there + i] = value
      end
   end
   object.keep(source, map)
   return made
end

-- The Lanczos kernel's weight at a distance.
local function weight(distance)
   distance = math.abs(distance)
   if distance < 1e-6 then
      return 1
   elseif distance > sampling.RADIUS then
      return 0
   end
   local angle = math.pi * distance
   return sampling.RADIUS * math.sin(angle) * math.sin(angle / sampling.RADIUS) / (angle * angle)
end

function sampling.lanczos(source, map, pad)
   local made = plane.like(source, map.height, map.width)
   local from, to = source.data, made.data
   local width, height, pixels, taps = source.width, source.height, map.height * map.width, 2 * sampling.RADIUS
   local across, down, places = {}, {}, {}
   for i = 0, pixels - 1 do
      local row, column = map.rows[i], map.columns[i]
      local top, left = math.floor(row) - sampling.RADIUS, math.floor(column) - sampling.RADIUS
      local u, v = 0, 0
      for k = 1, taps do
         down[k], across[k] = weight(row - top - k), weight(column - left - k)
         places[k] = math.max(math.min(left + k, width - 1), 0)
         u, v = u + across[k], v + down[k]
      end
      for channel = 0, source.channels - 1 do
         local sum = 0
         if row >= 0 then
            for j = 1, taps do
               local start = (channel * height + math.max(math.min(top + j, height - 1), 0)) * width
               for k = 1, taps do
                  sum = sum + from[start + places[k]] * across[k] * down[j]
               end
            end
            sum = sum / (u * v)
         else
            sum = pad
         end
         to[channel * pixels + i] = sum
      end
   end
   object.keep(source, map)
   return made
end

return sampling
