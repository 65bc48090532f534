-- Each element times a number.
local MulConstant, parent = torch.class('nn.MulConstant', 'nn.Module')

local function multiply(tensor, constant)
   if torch.isTensor(constant) then
      tensor:cmul(constant)
   else
      tensor:mul(constant)
   end
end

local function divide(tensor, constant)
   if torch.isTensor(constant) then
      tensor:cdiv(constant)
   else
      tensor:div(constant)
   end
end

require('nn.shared.scalar')(MulConstant, parent, multiply, divide, multiply)
