-- The nn of Torch7. One file per class; a new class is its file and its name in this list.
require 'torch'

nn = nn or {}
package.loaded.nn = nn

require 'nn.utils'

local classes = {
   -- what others derive from, parents first
   'Module', 'Container', 'Criterion', 'Sequential',
   -- modules side by side
   'Concat', 'ConcatTable', 'ParallelTable',
   -- parameters
   'Linear', 'Add', 'Mul', 'CMul', 'LookupTable',
   -- functions of each element, or of all
   'Threshold', 'ReLU', 'LeakyReLU', 'ELU', 'HardTanh', 'Clamp', 'Tanh', 'TanhShrink', 'Sigmoid', 'LogSigmoid',
   'SoftMax', 'SoftMin', 'LogSoftMax', 'SoftPlus', 'SoftSign', 'Abs', 'Exp', 'Log', 'Power', 'Sqrt', 'Square',
   'AddConstant', 'MulConstant', 'Dropout',
   -- shape
   'Identity', 'View', 'Reshape', 'Narrow', 'Select', 'Transpose', 'Squeeze', 'Unsqueeze', 'Contiguous',
   -- along a dimension
   'Sum', 'Mean', 'Max', 'Min',
   -- tables
   'CAddTable', 'CSubTable', 'CMulTable', 'CDivTable', 'JoinTable', 'SplitTable', 'SelectTable', 'NarrowTable',
   'FlattenTable',
   -- means and deviations
   'BatchNormalization',
   'LayerNormalization',
   'Normalize',
   'SpatialBatchNormalization',
   -- images, children behind their parents
   'SpatialAdaptiveAveragePooling',
   'SpatialAdaptiveMaxPooling',
   'SpatialAveragePooling',
   'SpatialConvolution',
   'SpatialConvolutionLocal',
   'SpatialConvolutionMM',
   'SpatialConvolutionMap',
   'SpatialContrastiveNormalization',
   'SpatialCrossMapLRN',
   'SpatialDepthWiseConvolution',
   'SpatialDilatedConvolution',
   'SpatialMaxPooling',
   'SpatialDilatedMaxPooling',
   'SpatialDivisiveNormalization',
   'SpatialDropout',
   'SpatialFractionalMaxPooling',
   'SpatialFullConvolution',
   'SpatialFullConvolutionMap',
   'SpatialLPPooling',
   'SpatialLogSoftMax',
   'SpatialMaxUnpooling',
   'SpatialReflectionPadding',
   'SpatialReplicationPadding',
   'SpatialSoftMax',
   'SpatialSubSampling',
   'SpatialSubtractiveNormalization',
   'SpatialUpSamplingBilinear',
   'SpatialUpSamplingNearest',
   'SpatialZeroPadding',
   'PixelShuffle',
   'UpSampling',
   -- volumes
   'VolumetricAveragePooling',
   'VolumetricBatchNormalization',
   'VolumetricConvolution',
   'VolumetricDilatedConvolution',
   'VolumetricMaxPooling',
   'VolumetricDilatedMaxPooling',
   'VolumetricDropout',
   'VolumetricFractionalMaxPooling',
   'VolumetricFullConvolution',
   'VolumetricMaxUnpooling',
   'VolumetricReplicationPadding',
   -- sequences
   'TemporalConvolution',
   'TemporalDynamicKMaxPooling',
   'TemporalMaxPooling',
   'TemporalRowConvolution',
   'TemporalSubSampling',
   -- sizes that differ
   'DepthConcat',
   'Padding',
   -- criterions
   'ClassNLLCriterion', 'CrossEntropyCriterion', 'MSECriterion', 'AbsCriterion', 'BCECriterion', 'SmoothL1Criterion',
   'ParallelCriterion', 'MultiCriterion',
   -- modules around a module
   'Decorator', 'Bottle', 'DontCast', 'GPU', 'NaN', 'Profile', 'MapTable', 'Parallel',
   'WeightNorm',
   -- more parameters
   'Bilinear', 'CAdd', 'Cosine', 'Euclidean', 'WeightedEuclidean', 'PReLU', 'LinearWeightNorm', 'Maxout',
   'SparseLinear', 'IndexLinear', 'Kmeans',
   -- more functions of each element
   'HardShrink', 'SoftShrink', 'ReLU6', 'RReLU', 'CReLU', 'GatedLinearUnit', 'WhiteNoise', 'L1Penalty',
   -- the input as it is, or anew
   'Collapse', 'Constant', 'Convert', 'Copy', 'FeatureLPPooling', 'GradientReversal', 'OneHot', 'PrintSize',
   'Replicate', 'ZeroGrad',
   -- more tables
   'CAddTensorTable', 'CMaxTable', 'CMinTable', 'CosineDistance', 'DotProduct', 'Index', 'MM', 'MV', 'MaskedSelect',
   'MixtureTable', 'PairwiseDistance', 'ZipTable', 'ZipTableOneToMany',
   -- more criterions, and criterions as modules
   'L1HingeEmbeddingCriterion', 'CosineEmbeddingCriterion', 'ClassSimplexCriterion', 'DistKLDivCriterion',
   'DistanceRatioCriterion', 'HingeEmbeddingCriterion', 'L1Cost', 'MarginCriterion', 'MarginRankingCriterion',
   'ModuleCriterion', 'MultiLabelMarginCriterion', 'MultiLabelSoftMarginCriterion', 'MultiMarginCriterion',
   'SoftMarginCriterion', 'SpatialAutoCropMSECriterion', 'SpatialClassNLLCriterion', 'WeightedMSECriterion',
   'CriterionTable', 'ModuleFromCriterion',
   -- made of the ones above
   'PartialLinear',
}

for _, name in ipairs(classes) do
   require('nn.' .. name)
end

-- what is no class
for _, name in ipairs{'tables', 'Jacobian', 'SparseJacobian', 'hessian', 'StochasticGradient', 'test'} do
   require('nn.' .. name)
end

-- The original makes one of these while it loads; without it, a program that seeds before would draw other numbers.
nn.Linear(1, 2)

return nn
