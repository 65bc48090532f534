-- A number added to each element.
local AddConstant, parent = torch.class('nn.AddConstant', 'nn.Module')

local function add(tensor, constant)
   tensor:add(constant)
end

local function subtract(tensor, constant)
   tensor:add(-1 * constant)
end

local function nothing()
end

require('nn.shared.scalar')(AddConstant, parent, add, subtract, nothing)
