-- A module around a module that decides how both are written: converted to `tensortype`, and without what serialMode
-- empties.
local Serial, parent = torch.class('nn.Serial', 'nn.Decorator')

function Serial:__init(module, tensortype)
   parent.__init(self, module)
   if tensortype and not torch.getmetatable(tensortype) then
      error('nn.Serial: expected the name of a tensor type, as torch.FloatTensor, got ' .. tostring(tensortype))
   end
   self.module = module
   self.tensortype = tensortype
end

local function emptied(value, seen)
   if seen[value] then
      return
   end
   seen[value] = true
   if torch.isTypeOf(value, 'nn.Module') then
      for _, name in ipairs(value.dpnn_serialEmpty) do
         local field = rawget(value, name)
         if torch.isTensor(field) then
            value[name] = field.new()
         elseif torch.type(field) == 'table' then
            value[name] = {}
         end
      end
   end
   for _, inner in pairs(value) do
      if type(inner) == 'table' then
         emptied(inner, seen)
      end
   end
end

function Serial:write(file)
   local copy = self:clone()
   emptied(copy, {})
   if self.tensortype then
      copy:type(self.tensortype)
   end
   parent.write(copy, file)
end
