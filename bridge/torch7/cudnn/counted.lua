-- cuDNN's means say by `mode` whether the zeros of the padding count, where nn's say it by `count_include_pad`: files
-- have one or the other.
return function(class, parent)
   function class:updateOutput(input)
      if self.count_include_pad == nil then
         self.count_include_pad = self.mode ~= 'CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING'
      end
      return parent.updateOutput(self, input)
   end
end
