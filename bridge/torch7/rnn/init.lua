-- The rnn package: recurrent modules. Most take sequences as tables, one step at a time, inside an nn.Sequencer;
-- SeqLSTM and SeqGRU take them as tensors.
require 'dpnn'

rnn = rnn or {}
package.loaded.rnn = rnn
nn.rnn = rnn

for _, name in ipairs{'recursiveResizeAs', 'recursiveFill', 'recursiveAdd', 'recursiveCopy', 'recursiveType'} do
   rnn[name] = nn.utils[name]
end

for _, name in ipairs{
   'methods',
   -- what the others are made of
   'LinearNoBias', 'SAdd', 'CopyGrad', 'MaskZero', 'LookupTableMaskZero',
   -- one step at a time, parents first
   'AbstractRecurrent', 'Recursor', 'Recurrent', 'Recurrence', 'LSTM', 'FastLSTM', 'GRU',
   -- whole sequences
   'AbstractSequencer', 'Repeater', 'Sequencer', 'BiSequencer', 'SeqLSTM', 'SeqGRU',
   -- criterions
   'RepeaterCriterion', 'SequencerCriterion', 'MaskZeroCriterion',
} do
   require('rnn.' .. name)
end

return rnn
