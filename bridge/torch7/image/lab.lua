-- CIE L*a*b* of sRGB colours, with the white point D65.
local lab = {}

local EPSILON, KAPPA = 216 / 24389, 24389 / 27 -- of the CIE standard
local XN, ZN = 0.950456, 1.088754

-- What sRGB stores, as light, and back.
local function expand(value)
   return value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4
end

local function compress(light)
   return light <= 0.0031308 and 12.92 * light or 1.055 * light ^ (1 / 2.4) - 0.055
end

local function root(x)
   return x > EPSILON and x ^ (1 / 3) or (KAPPA * x + 16) / 116
end

local function cube(x)
   local power = x * x * x
   return power > EPSILON and power or (116 * x - 16) / KAPPA
end

-- As the other colour spaces, with the function that makes a number one of the picture's type.
function lab.fromrgb(r, g, b, round)
   r, g, b = round(expand(r)), round(expand(g)), round(expand(b))
   local x = root((0.412453 * r + 0.357580 * g + 0.180423 * b) / XN)
   local y = root(0.212671 * r + 0.715160 * g + 0.072169 * b)
   local z = root((0.019334 * r + 0.119193 * g + 0.950227 * b) / ZN)
   return 116 * y - 16, 500 * (x - y), 200 * (y - z)
end

function lab.torgb(l, a, b, round)
   local y = round(round(l + 16) / 116)
   local x, z = cube(round(a / 500) + y) * XN, cube(y - round(b / 200)) * ZN
   y = l > KAPPA * EPSILON and y * y * y or l / KAPPA
   return compress(round(3.2404542 * x - 1.5371385 * y - 0.4985314 * z)),
      compress(round(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z)),
      compress(round(0.0556434 * x - 0.2040259 * y + 1.0572252 * z))
end

return lab
