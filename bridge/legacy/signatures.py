"""The classes of nn as a table: parent, constructor, and which of their arguments and results are positions.

A line is `Name < Parent: parameters`. A parameter with `?` is optional. Marked values count from 0 in Python and from 1
in Lua: `@` marks a position (of a dimension, an element, a class), of which negative numbers are not shifted; `#` marks
an index, of which -1 means none (0 in Lua). `Name.method: parameters` and `Name.field` mark the same for methods and
fields; `-> @` marks a result. Indices in the *inputs* of modules are handled in `bridge/runtime/legacy.lua`.
"""

from __future__ import annotations

MODULES = """
Abs < Module:
Add < Module: inputSize?, scalar?
AddConstant < Module: constant_scalar, ip?
BatchNormalization < Module: nOutput, eps?, momentum?, affine?
Bilinear < Module: inputSize1, inputSize2, outputSize, bias?
Bottle < Decorator: module, nInputDim?, nOutputDim?
CAdd < Module: *sizes
CAddTable < Module: ip?
CAddTensorTable < Module:
CDivTable < Module:
CMaxTable < Module:
CMinTable < Module:
CMul < Module: *sizes
CMulTable < Module:
CReLU < Sequential: nInputDims?, inplace?
CSubTable < Module:
Clamp < HardTanh: min_value?, max_value?
Collapse < Module: nInputDim
Concat < Container: dimension@
ConcatTable < Container:
Constant < Module: value, nInputDim?
Container < Module:
Contiguous < Module:
Convert < Module: inputShape?, outputShape?
Copy < Module: intype?, outtype?, forceCopy?, dontCast?
Cosine < Module: inputSize, outputSize
CosineDistance < Module:
CriterionTable < Module: criterion?
Decorator < Container: module
DepthConcat < Concat: dimension@
DontCast < Decorator: module, castin?, castout?, moduleType?
DotProduct < Module:
Dropout < Module: p?, v1?, inplace?, stochasticInference?
ELU < Module: alpha?, inplace?
Euclidean < Module: inputSize, outputSize
Exp < Module:
FeatureLPPooling < Module: width, stride, power, batch_mode?
FlattenTable < Module:
GPU < Decorator: module, device@, outdevice@?
GatedLinearUnit < Module: dim@?
GradientReversal < Module: lambda_?
HardShrink < Module: lam?
HardTanh < Module: min_value?, max_value?, inplace?
Identity < Module:
Index < Module: dimension@
IndexLinear < Module: inputSize, outputSize, doGradInput?, keysOffset?, weight?, bias?, normalize?
JoinTable < Module: dimension@, nInputDims?
Kmeans < Module: k, dim, scale?
L1Penalty < Module: l1weight, sizeAverage?, provideOutput?
LayerNormalization < Sequential: nOutput, bias?, eps?, affine?
LeakyReLU < Module: negval?, ip?
Linear < Module: inputSize, outputSize, bias?
LinearWeightNorm < Linear: inputSize, outputSize, bias?, eps?
Log < Module:
LogSigmoid < Module:
LogSoftMax < Module:
LookupTable < Module: nIndex, nOutput, paddingValue#?, maxNorm?, normType?
MM < Module: transA?, transB?
MV < Module: trans?
MapTable < Container: module, shared?
MaskedSelect < Module:
Max < Module: dimension@?, nInputDims?
Maxout < Sequential: inputSize, outputSize, maxoutNumber, preprocess?
Mean < Sum: dimension@?, nInputDims?
Min < Module: dimension@?, nInputDims?
MixtureTable < Module: dim@?
Module:
ModuleFromCriterion < Module: criterion, castTarget?
Mul < Module:
MulConstant < Module: constant_scalar, ip?
NaN < Decorator: module, id?
Narrow < Module: dimension@, offset@, length?
NarrowTable < Module: offset@, length?
Normalize < Module: p?, eps?
OneHot < Module: outputSize
PReLU < Module: nOutputPlane?
Padding < Module: dim@, pad, nInputDim?, value?, index@?
PairwiseDistance < Module: p?
Parallel < Container: inputDimension@, outputDimension@
ParallelTable < Container:
PartialLinear < Module: inputsize, outputsize, bias?
PixelShuffle < Module: upscaleFactor
Power < Module: p
PrintSize < Module: prefix?
Profile < Decorator: module, print_interval?, name?
RReLU < Module: l?, u?, ip?
ReLU < Threshold: p?
ReLU6 < Module: inplace?
Replicate < Module: nf, dim@?, ndim?
Reshape < Module: *sizes
Select < Module: dimension@, index@
SelectTable < Module: index@
Sequential < Container:
Sigmoid < Module:
SoftMax < Module:
SoftMin < Module:
SoftPlus < Module: beta?
SoftShrink < Module: lam?
SoftSign < Module:
SparseLinear < Module: inputSize, outputSize, doGradInput?
SpatialAdaptiveAveragePooling < Module: W, H
SpatialAdaptiveMaxPooling < Module: W, H
SpatialAveragePooling < Module: kW, kH, dW?, dH?, padW?, padH?
SpatialBatchNormalization < BatchNormalization: nOutput, eps?, momentum?, affine?
SpatialContrastiveNormalization < Module: nInputPlane, kernel?, threshold?, thresval?
SpatialConvolution < Module: nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?
SpatialConvolutionLocal < Module: nInputPlane, nOutputPlane, iW, iH, kW, kH, dW?, dH?, padW?, padH?
SpatialConvolutionMM < Module: nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?
SpatialConvolutionMap < Module: conMatrix@, kW, kH, dW?, dH?
SpatialCrossMapLRN < Module: size, alpha?, beta?, k?
SpatialDepthWiseConvolution < Module: nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?
SpatialDilatedConvolution < SpatialConvolution: nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?,
    dilationW?, dilationH?
SpatialDilatedMaxPooling < SpatialMaxPooling: kW, kH, dW?, dH?, padW?, padH?, dilationW?, dilationH?
SpatialDivisiveNormalization < Module: nInputPlane, kernel?, threshold?, thresval?
SpatialDropout < Module: p?, stochasticInference?
SpatialFractionalMaxPooling < Module: poolSizeW, poolSizeH, outW, outH
SpatialFullConvolution < Module: nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?, adjW?, adjH?
SpatialFullConvolutionMap < Module: conMatrix@, kW, kH, dW?, dH?
SpatialLPPooling < Sequential: nInputPlane, pnorm, kW, kH, dW?, dH?
SpatialLogSoftMax < Module:
SpatialMaxPooling < Module: kW, kH, dW?, dH?, padW?, padH?
SpatialMaxUnpooling < Module: poolingModule
SpatialReflectionPadding < Module: pad_l, pad_r?, pad_t?, pad_b?
SpatialReplicationPadding < Module: pad_l, pad_r?, pad_t?, pad_b?
SpatialSoftMax < Module:
SpatialSubSampling < Module: nInputPlane, kW, kH, dW?, dH?
SpatialSubtractiveNormalization < Module: nInputPlane, kernel?
SpatialUpSamplingBilinear < Module: params
SpatialUpSamplingNearest < Module: scale
SpatialZeroPadding < Module: pad_l, pad_r?, pad_t?, pad_b?
SplitTable < Module: dimension@, nInputDims?
Sqrt < Module:
Square < Module:
Squeeze < Module: dim@?, numInputDims?
Sum < Module: dimension@?, nInputDims?, sizeAverage?, squeeze?
Tanh < Module:
TanhShrink < Module:
TemporalConvolution < Module: inputFrameSize, outputFrameSize, kW, dW?
TemporalDynamicKMaxPooling < Module: minK, factor?
TemporalMaxPooling < Module: kW, dW?
TemporalRowConvolution < Module: inputFrameSize, kW, dW?, featFirst?
TemporalSubSampling < Module: inputFrameSize, kW, dW?
Threshold < Module: th?, v?, ip?
Transpose < Module: *permutations@
Unsqueeze < Module: pos@, numInputDims?
UpSampling < Module: scale_factor, mode?
View < Module: *sizes
VolumetricAveragePooling < Module: kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?
VolumetricBatchNormalization < BatchNormalization: nOutput, eps?, momentum?, affine?
VolumetricConvolution < Module: nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?
VolumetricDilatedConvolution < VolumetricConvolution: nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?,
    padT?, padW?, padH?, dilationT?, dilationW?, dilationH?
VolumetricDilatedMaxPooling < VolumetricMaxPooling: kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?,
    dilationT?, dilationW?, dilationH?
VolumetricDropout < Module: p?, stochasticInference?
VolumetricFractionalMaxPooling < Module: poolSizeT, poolSizeW, poolSizeH, outT, outW, outH
VolumetricFullConvolution < Module: nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?,
    padH?, adjT?, adjW?, adjH?
VolumetricMaxPooling < Module: kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?
VolumetricMaxUnpooling < Module: poolingModule
VolumetricReplicationPadding < Module: pleft, pright?, ptop?, pbottom?, pfront?, pback?
WeightNorm < Decorator: module, outputDim@?
WeightedEuclidean < Module: inputSize, outputSize
WhiteNoise < Module: mean?, std?
ZeroGrad < Module:
ZipTable < Module:
ZipTableOneToMany < Module:
gModule < Container: inputs, outputs
"""

CRITERIONS = """
AbsCriterion < Criterion: sizeAverage?
BCECriterion < Criterion: weights?, sizeAverage?
ClassNLLCriterion < Criterion: weights?, sizeAverage?, ignoreIndex@?
ClassSimplexCriterion < MSECriterion: nClasses
CosineEmbeddingCriterion < Criterion: margin?
Criterion:
CrossEntropyCriterion < Criterion: weights?, sizeAverage?
DistKLDivCriterion < Criterion:
DistanceRatioCriterion < Criterion: sizeAverage?
HingeEmbeddingCriterion < Criterion: margin?
L1Cost < Criterion:
L1HingeEmbeddingCriterion < Criterion: margin?
MSECriterion < Criterion: sizeAverage?
MarginCriterion < Criterion: margin?
MarginRankingCriterion < Criterion: margin?
ModuleCriterion < Criterion: criterion, inputModule?, targetModule?, castTarget?
MultiCriterion < Criterion:
MultiLabelMarginCriterion < Criterion:
MultiLabelSoftMarginCriterion < Criterion: weights?
MultiMarginCriterion < Criterion: p?, weights?, margin?
ParallelCriterion < Criterion: repeatTarget?
SmoothL1Criterion < Criterion: sizeAverage?
SoftMarginCriterion < Criterion:
SpatialAutoCropMSECriterion < MSECriterion: sizeAverage?
SpatialClassNLLCriterion < Criterion: weights?, sizeAverage?, ignoreIndex@?
WeightedMSECriterion < MSECriterion: w
"""

OTHERS = """
StochasticGradient: module, criterion
"""

# Fields that are positions, in addition to those named like a marked parameter of the constructor.
METHODS = """
Container.get: index@
Sequential.insert: module, index@?
Sequential.remove: index@?
LookupTable.setPadding: paddingValue#
PartialLinear.setPartition: indices@
ClassSimplexCriterion.getTopPrediction: input -> @
tables.full: nin, nout -> @
tables.oneToOne: nfeat -> @
tables.random: nin, nout, nto -> @
"""

FIELDS = """
ClassNLLCriterion.target@
Max._indices@
Min._indices@
Narrow.index@
PartialLinear.partition@
SpatialAdaptiveMaxPooling.indices@
SpatialClassNLLCriterion.target@
SpatialFractionalMaxPooling.indices@
SpatialMaxPooling.indices@
TemporalMaxPooling.indices@
Transpose.permutations@
"""
