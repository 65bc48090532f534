-- Files and what is done with them, in the order in which they build on each other.
return function(torch)
   local file = require('torch.file')(torch)
   local disk = require('torch.diskfile')(file)
   require('torch.memoryfile')(file)
   require('torch.pipefile')(file, disk)
   require('torch.stored')(file)
   require('torch.objects')(torch, file)
   require('torch.save')(torch, file)
end
