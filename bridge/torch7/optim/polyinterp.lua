-- The minimum of the polynomial through points with values and slopes: a row {x, f, f'} for each of them, NaN where a
-- value or slope is not known. Returns x within the bounds, by default the outermost points, and for other than the
-- ordinary case (two complete points) the value there.
local function known(number)
   return number == number
end

local function clamp(number, low, high)
   return math.min(math.max(number, low), high)
end

-- The cubic through two complete points, in closed form.
local function cubic(points, low, high)
   local one, other = 1, 2
   if points[2][1] < points[1][1] then
      one, other = 2, 1
   end
   local x1, f1, g1 = points[one][1], points[one][2], points[one][3]
   local x2, f2, g2 = points[other][1], points[other][2], points[other][3]
   local d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
   local square = d1 * d1 - g1 * g2
   if not (square >= 0) then
      return (low + high) / 2
   end
   local d2 = math.sqrt(square)
   return clamp(x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2)), low, high)
end

-- The coefficients, highest power first, that agree with all that is known.
local function fit(points, order)
   local rows, right = {}, {}
   for i = 1, points:size(1) do
      local x, f, g = points[i][1], points[i][2], points[i][3]
      local values, slopes = {}, {}
      for power = order, 0, -1 do
         values[#values + 1] = x ^ power
         slopes[#slopes + 1] = power == 0 and 0 or power * x ^ (power - 1)
      end
      if known(f) then
         rows[#rows + 1], right[#right + 1] = values, {f}
      end
      if known(g) then
         rows[#rows + 1], right[#right + 1] = slopes, {g}
      end
   end
   local params = torch.gels(torch.DoubleTensor(right), torch.DoubleTensor(rows)):select(2, 1)
   params = params:narrow(1, 1, order + 1):clone()
   params[torch.le(torch.abs(params), 1e-12)] = 0
   return params:totable()
end

local function evaluate(params, x)
   local value = 0
   for _, param in ipairs(params) do
      value = value * x + param
   end
   return value
end

-- The real roots of a polynomial: eigenvalues of its companion matrix.
local function roots(params)
   local first = 1
   while params[first] == 0 do
      first = first + 1
   end
   local degree, found = #params - first, {}
   if degree < 1 then
      return found
   end
   local companion = torch.DoubleTensor(degree, degree):zero()
   for i = 1, degree do
      companion[1][i] = -params[first + i] / params[first]
      if i > 1 then
         companion[i][i - 1] = 1
      end
   end
   local values = torch.eig(companion)
   for i = 1, degree do
      if math.abs(values[i][2]) <= 1e-12 * (1 + math.abs(values[i][1])) then
         found[#found + 1] = values[i][1]
      end
   end
   return found
end

return function(points, low, high)
   assert(torch.isTensor(points) and points:dim() == 2 and points:size(2) == 3,
      'optim.polyinterp: expected a matrix with a row {x, f, slope} for each point')
   local count = points:size(1)
   local order = points:narrow(2, 2, 2):eq(points:narrow(2, 2, 2)):sum() - 1
   low, high = low or points:select(2, 1):min(), high or points:select(2, 1):max()
   if count == 2 and order == 3 then
      return cubic(points, low, high)
   elseif order < 1 then
      error('optim.polyinterp: expected at least two known values or slopes, got ' .. order + 1)
   end

   local params, slope, candidates = fit(points, order), {}, {low, high}
   for i = 1, order do
      slope[i] = params[i] * (order - i + 1)
   end
   for i = 1, count do
      candidates[#candidates + 1] = points[i][1]
   end
   for _, root in ipairs(roots(slope)) do
      candidates[#candidates + 1] = root
   end
   local best, least = (low + high) / 2, math.huge
   for _, x in ipairs(candidates) do
      local f = evaluate(params, x)
      if x >= low and x <= high and f < least then
         best, least = x, f
      end
   end
   return best, least
end
