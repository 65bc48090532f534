-- A data set of pictures in folders, as image programs wrote them: one folder for each class, the paths of all files in
-- one CharTensor, found by the system's own tools.
local ffi = require 'ffi'
local argcheck = require 'argcheck'
local dir = require 'pl.dir'
local tablex = require 'pl.tablex'
require 'sys'
require 'image'

local Folders = torch.class('Folders')

local check = argcheck{
   pack = true,
   help = 'Pictures in folders: the name of a folder is its class.',
   {name = 'paths', type = 'table', help = 'folders of folders', check = function(paths)
      return tablex.find_if(paths, function(path) return type(path) ~= 'string' end) == nil
   end},
   {name = 'shape', type = 'table', help = 'of a sample: channels, height, width'},
   {name = 'split', type = 'number', help = 'how many of a hundred are for training', default = 100},
   {name = 'verbose', type = 'boolean', help = 'tell what is done', default = false},
   {name = 'hook', type = 'function', help = 'what makes a sample of a path', opt = true},
}

local function lines(command)
   return tonumber(sys.fexecute(command))
end

function Folders:__init(...)
   for name, value in pairs(check(...)) do
      self[name] = value
   end
   self.classes, self.lists = {}, {}
   local found = os.tmpname()
   local first = 1
   for _, path in ipairs(self.paths) do
      local folders = dir.getdirectories(path)
      table.sort(folders)
      for _, folder in ipairs(folders) do
         local before = lines('wc -l < ' .. found) or 0
         os.execute(string.format('find -H "%s" -iname "*.png" -o -iname "*.jpg" | sort >> %s', folder, found))
         local count = lines('wc -l < ' .. found) - before
         table.insert(self.classes, paths.basename(folder))
         table.insert(self.lists, torch.linspace(first, first + count - 1, count):long())
         first = first + count
      end
   end
   local longest = lines("wc -L '" .. found .. "' | cut -f1 -d' '") + 1
   self.files = torch.CharTensor(first - 1, longest):fill(0)
   local place = self.files:data()
   for line in io.lines(found) do
      ffi.copy(place, line)
      place = place + longest
   end
   os.remove(found)
   self.owners = torch.LongTensor(first - 1)
   for i, list in ipairs(self.lists) do
      self.owners[{{list[1], list[list:size(1)]}}]:fill(i)
   end
   self:divide()
end

-- Which samples are for training and which for tests.
function Folders:divide()
   self.training, self.testing = {}, torch.LongTensor()
   local rest = {}
   for i, list in ipairs(self.lists) do
      local count = list:size(1)
      local kept = math.floor(count * self.split / 100 + 0.5)
      local order = torch.randperm(count)
      self.training[i] = torch.LongTensor(kept)
      for j = 1, count do
         if j <= kept then
            self.training[i][j] = list[order[j]]
         else
            table.insert(rest, list[order[j]])
         end
      end
   end
   if #rest > 0 then
      self.testing:resize(#rest)
      local data = self.testing:data()
      for i, index in ipairs(rest) do
         data[i - 1] = index
      end
   end
end

function Folders:size(class)
   if not class then
      return self.files:size(1)
   end
   return self.lists[type(class) == 'string' and tablex.find(self.classes, class) or class]:size(1)
end

function Folders:path(index)
   return ffi.string(torch.data(self.files[index]))
end

function Folders:load(index)
   local path = self:path(index)
   if self.hook then
      return self.hook(self, path)
   end
   return image.scale(image.load(path, self.shape[1], 'float'), self.shape[3], self.shape[2])
end

-- Samples and the numbers of their classes.
function Folders:sample(quantity)
   local samples, labels = {}, torch.LongTensor(quantity):fill(-1111)
   for i = 1, quantity do
      local class = torch.random(1, #self.classes)
      local list = self.training[class]
      samples[i] = self:load(list[math.ceil(torch.uniform() * list:nElement())])
      labels[i] = class
   end
   local data = torch.FloatTensor(quantity, unpack(samples[1]:size():totable()))
   for i, sample in ipairs(samples) do
      data[i]:copy(sample)
   end
   return data, labels
end

return Folders
