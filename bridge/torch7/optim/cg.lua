-- Conjugate gradients (Polak-Ribiere) with a line search by cubic interpolation: the method of C. E. Rasmussen's
-- minimize.m.
--
-- Along the direction s, point 1 is where a line search started, point 2 the newest, point 3 the one before; f is the
-- value there, d the slope, z a distance: z1 from point 1 to point 2, z3 from point 2 to point 3.
local function finite(number)
   return number == number and math.abs(number) ~= math.huge
end

-- Where between points 2 and 3 the minimum is expected, from point 2.
local function interpolate(f1, f2, d2, f3, d3, z3)
   local z2
   if f2 > f1 then
      z2 = z3 - (0.5 * d3 * z3 * z3) / (d3 * z3 + f2 - f3)
   else
      local A = 6 * (f2 - f3) / z3 + 3 * (d2 + d3)
      local B = 3 * (f3 - f2) - z3 * (d3 + 2 * d2)
      z2 = (math.sqrt(B * B - A * d2 * z3 * z3) - B) / A
   end
   return finite(z2) and z2 or z3 / 2
end

-- How far to go on behind point 2: at most `ext` times as far as now, or to `limit` where one is known.
local function extrapolate(f2, d2, f3, d3, z1, z3, limit, int, ext)
   local A = 6 * (f2 - f3) / z3 + 3 * (d2 + d3)
   local B = 3 * (f3 - f2) - z3 * (d3 + 2 * d2)
   local z2 = -d2 * z3 * z3 / (B + math.sqrt(B * B - A * d2 * z3 * z3))
   local limited = limit > -0.5
   if not finite(z2) or z2 < 0 then
      return limited and (limit - z1) / 2 or z1 * (ext - 1)
   elseif limited and z2 + z1 > limit then
      return (limit - z1) / 2
   elseif not limited and z2 + z1 > z1 * ext then
      return z1 * (ext - 1)
   elseif z2 < -z3 * int then
      return -z3 * int
   elseif limited and z2 < (limit - z1) * (1 - int) then
      return (limit - z1) * (1 - int)
   end
   return z2
end

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local rho, sig = config.rho or 0.01, config.sig or 0.5 -- the Wolfe-Powell conditions
   local int, ext = config.int or 0.1, config.ext or 3.0
   local ratio = config.ratio or 100 -- the largest ratio of slopes
   local maxIter = config.maxIter or 20
   local maxEval = config.maxEval or maxIter * 1.25

   for _, name in ipairs{'df0', 'df1', 'df2', 'df3', 's', 'x0'} do
      state[name] = (state[name] or x.new()):resizeAs(x)
   end
   local df0, df1, df2, df3, s, x0 = state.df0, state.df1, state.df2, state.df3, state.s, state.x0

   local evaluations, values = 0, {}
   local function evaluate(df)
      local f, gradient = opfunc(x)
      df:copy(gradient)
      evaluations = evaluations + 1
      return f
   end

   local f1 = evaluate(df1)
   values[1] = f1
   s:copy(df1):mul(-1)
   local d1 = -s:dot(s)
   local z1 = 1 / (1 - d1)

   while evaluations < math.abs(maxEval) do
      x0:copy(x)
      df0:copy(df1)
      x:add(z1, s)
      local f2 = evaluate(df2)
      local d2 = df2:dot(s)
      local f3, d3, z3 = f1, d1, -z1
      local left = math.min(maxIter, maxEval - evaluations)
      local limit, success = -1, false
      while true do
         while (f2 > f1 + z1 * rho * d1 or d2 > -sig * d1) and left > 0 do
            limit = z1
            local z2 = interpolate(f1, f2, d2, f3, d3, z3)
            z2 = math.max(math.min(z2, int * z3), (1 - int) * z3)
            z1 = z1 + z2
            x:add(z2, s)
            f2 = evaluate(df2)
            left = left - 1
            d2 = df2:dot(s)
            z3 = z3 - z2
         end
         if f2 > f1 + z1 * rho * d1 or d2 > -sig * d1 then
            break
         elseif d2 > sig * d1 then
            success = true
            break
         elseif left == 0 or left < 0 and not (d1 ~= 0 and finite(f2) and finite(z1)) then
            -- where maxEval is no whole number `left` never is 0: the original goes on, and without an end at a minimum
            break
         end
         local z2 = extrapolate(f2, d2, f3, d3, z1, z3, limit, int, ext)
         f3, d3, z3 = f2, d2, -z2
         z1 = z1 + z2
         x:add(z2, s)
         f2 = evaluate(df2)
         left = left - 1
         d2 = df2:dot(s)
      end

      if not success then -- back to where the search began
         x:copy(x0)
         df1:copy(df0)
         return x, values, evaluations
      end
      f1 = f2
      values[#values + 1] = f1
      s:mul((df2:dot(df2) - df2:dot(df1)) / df1:dot(df1)):add(-1, df2)
      df3:copy(df1)
      df1:copy(df2)
      df2:copy(df3)
      d2 = df1:dot(s)
      if d2 > 0 then -- no descent: start afresh from the gradient
         s:copy(df1):mul(-1)
         d2 = -s:dot(s)
      end
      z1 = z1 * math.min(ratio, d1 / (d2 - 1e-320))
      d1 = d2
   end
   return x, values, evaluations
end
