# Written by bridge/legacy/stubs.py.
# ruff: noqa: A002
from typing import Any

from bridge.legacy.graph import Node as Node
from bridge.legacy.modules import Container as Container
from bridge.legacy.modules import Criterion as Criterion
from bridge.legacy.modules import Module as Module
from bridge.legacy.modules import Namespace as Namespace
from bridge.legacy.modules import StochasticGradient as StochasticGradient

class Abs(Module):
    def __init__(self) -> None: ...

class Add(Module):
    def __init__(self, inputSize: Any = ..., scalar: Any = ...) -> None: ...

class AddConstant(Module):
    def __init__(self, constant_scalar: Any, ip: Any = ...) -> None: ...

class BatchNormalization(Module):
    def __init__(self, nOutput: Any, eps: Any = ..., momentum: Any = ..., affine: Any = ...) -> None: ...

class Bilinear(Module):
    def __init__(self, inputSize1: Any, inputSize2: Any, outputSize: Any, bias: Any = ...) -> None: ...

class CAdd(Module):
    def __init__(self, *sizes: Any) -> None: ...

class CAddTable(Module):
    def __init__(self, ip: Any = ...) -> None: ...

class CAddTensorTable(Module):
    def __init__(self) -> None: ...

class CDivTable(Module):
    def __init__(self) -> None: ...

class CMaxTable(Module):
    def __init__(self) -> None: ...

class CMinTable(Module):
    def __init__(self) -> None: ...

class CMul(Module):
    def __init__(self, *sizes: Any) -> None: ...

class CMulTable(Module):
    def __init__(self) -> None: ...

class CSubTable(Module):
    def __init__(self) -> None: ...

class Collapse(Module):
    def __init__(self, nInputDim: Any) -> None: ...

class Concat(Container):
    def __init__(self, dimension: Any) -> None: ...

class ConcatTable(Container):
    def __init__(self) -> None: ...

class Constant(Module):
    def __init__(self, value: Any, nInputDim: Any = ...) -> None: ...

class Contiguous(Module):
    def __init__(self) -> None: ...

class Convert(Module):
    def __init__(self, inputShape: Any = ..., outputShape: Any = ...) -> None: ...

class Copy(Module):
    def __init__(
        self, intype: Any = ..., outtype: Any = ..., forceCopy: Any = ..., dontCast: Any = ...
    ) -> None: ...

class Cosine(Module):
    def __init__(self, inputSize: Any, outputSize: Any) -> None: ...

class CosineDistance(Module):
    def __init__(self) -> None: ...

class CriterionTable(Module):
    def __init__(self, criterion: Any = ...) -> None: ...

class Decorator(Container):
    def __init__(self, module: Any) -> None: ...

class DotProduct(Module):
    def __init__(self) -> None: ...

class Dropout(Module):
    def __init__(
        self, p: Any = ..., v1: Any = ..., inplace: Any = ..., stochasticInference: Any = ...
    ) -> None: ...

class ELU(Module):
    def __init__(self, alpha: Any = ..., inplace: Any = ...) -> None: ...

class Euclidean(Module):
    def __init__(self, inputSize: Any, outputSize: Any) -> None: ...

class Exp(Module):
    def __init__(self) -> None: ...

class FeatureLPPooling(Module):
    def __init__(self, width: Any, stride: Any, power: Any, batch_mode: Any = ...) -> None: ...

class FlattenTable(Module):
    def __init__(self) -> None: ...

class GatedLinearUnit(Module):
    def __init__(self, dim: Any = ...) -> None: ...

class GradientReversal(Module):
    def __init__(self, lambda_: Any = ...) -> None: ...

class HardShrink(Module):
    def __init__(self, lam: Any = ...) -> None: ...

class HardTanh(Module):
    def __init__(self, min_value: Any = ..., max_value: Any = ..., inplace: Any = ...) -> None: ...

class Identity(Module):
    def __init__(self) -> None: ...

class Index(Module):
    def __init__(self, dimension: Any) -> None: ...

class IndexLinear(Module):
    def __init__(
        self,
        inputSize: Any,
        outputSize: Any,
        doGradInput: Any = ...,
        keysOffset: Any = ...,
        weight: Any = ...,
        bias: Any = ...,
        normalize: Any = ...,
    ) -> None: ...

class JoinTable(Module):
    def __init__(self, dimension: Any, nInputDims: Any = ...) -> None: ...

class Kmeans(Module):
    def __init__(self, k: Any, dim: Any, scale: Any = ...) -> None: ...

class L1Penalty(Module):
    def __init__(self, l1weight: Any, sizeAverage: Any = ..., provideOutput: Any = ...) -> None: ...

class LeakyReLU(Module):
    def __init__(self, negval: Any = ..., ip: Any = ...) -> None: ...

class Linear(Module):
    def __init__(self, inputSize: Any, outputSize: Any, bias: Any = ...) -> None: ...

class Log(Module):
    def __init__(self) -> None: ...

class LogSigmoid(Module):
    def __init__(self) -> None: ...

class LogSoftMax(Module):
    def __init__(self) -> None: ...

class LookupTable(Module):
    def __init__(
        self, nIndex: Any, nOutput: Any, paddingValue: Any = ..., maxNorm: Any = ..., normType: Any = ...
    ) -> None: ...

class MM(Module):
    def __init__(self, transA: Any = ..., transB: Any = ...) -> None: ...

class MV(Module):
    def __init__(self, trans: Any = ...) -> None: ...

class MapTable(Container):
    def __init__(self, module: Any, shared: Any = ...) -> None: ...

class MaskedSelect(Module):
    def __init__(self) -> None: ...

class Max(Module):
    def __init__(self, dimension: Any = ..., nInputDims: Any = ...) -> None: ...

class Min(Module):
    def __init__(self, dimension: Any = ..., nInputDims: Any = ...) -> None: ...

class MixtureTable(Module):
    def __init__(self, dim: Any = ...) -> None: ...

class ModuleFromCriterion(Module):
    def __init__(self, criterion: Any, castTarget: Any = ...) -> None: ...

class Mul(Module):
    def __init__(self) -> None: ...

class MulConstant(Module):
    def __init__(self, constant_scalar: Any, ip: Any = ...) -> None: ...

class Narrow(Module):
    def __init__(self, dimension: Any, offset: Any, length: Any = ...) -> None: ...

class NarrowTable(Module):
    def __init__(self, offset: Any, length: Any = ...) -> None: ...

class Normalize(Module):
    def __init__(self, p: Any = ..., eps: Any = ...) -> None: ...

class OneHot(Module):
    def __init__(self, outputSize: Any) -> None: ...

class PReLU(Module):
    def __init__(self, nOutputPlane: Any = ...) -> None: ...

class Padding(Module):
    def __init__(
        self, dim: Any, pad: Any, nInputDim: Any = ..., value: Any = ..., index: Any = ...
    ) -> None: ...

class PairwiseDistance(Module):
    def __init__(self, p: Any = ...) -> None: ...

class Parallel(Container):
    def __init__(self, inputDimension: Any, outputDimension: Any) -> None: ...

class ParallelTable(Container):
    def __init__(self) -> None: ...

class PartialLinear(Module):
    def __init__(self, inputsize: Any, outputsize: Any, bias: Any = ...) -> None: ...

class PixelShuffle(Module):
    def __init__(self, upscaleFactor: Any) -> None: ...

class Power(Module):
    def __init__(self, p: Any) -> None: ...

class PrintSize(Module):
    def __init__(self, prefix: Any = ...) -> None: ...

class RReLU(Module):
    def __init__(self, l: Any = ..., u: Any = ..., ip: Any = ...) -> None: ...

class ReLU6(Module):
    def __init__(self, inplace: Any = ...) -> None: ...

class Replicate(Module):
    def __init__(self, nf: Any, dim: Any = ..., ndim: Any = ...) -> None: ...

class Reshape(Module):
    def __init__(self, *sizes: Any) -> None: ...

class Select(Module):
    def __init__(self, dimension: Any, index: Any) -> None: ...

class SelectTable(Module):
    def __init__(self, index: Any) -> None: ...

class Sequential(Container):
    def __init__(self) -> None: ...

class Sigmoid(Module):
    def __init__(self) -> None: ...

class SoftMax(Module):
    def __init__(self) -> None: ...

class SoftMin(Module):
    def __init__(self) -> None: ...

class SoftPlus(Module):
    def __init__(self, beta: Any = ...) -> None: ...

class SoftShrink(Module):
    def __init__(self, lam: Any = ...) -> None: ...

class SoftSign(Module):
    def __init__(self) -> None: ...

class SparseLinear(Module):
    def __init__(self, inputSize: Any, outputSize: Any, doGradInput: Any = ...) -> None: ...

class SpatialAdaptiveAveragePooling(Module):
    def __init__(self, W: Any, H: Any) -> None: ...

class SpatialAdaptiveMaxPooling(Module):
    def __init__(self, W: Any, H: Any) -> None: ...

class SpatialAveragePooling(Module):
    def __init__(
        self, kW: Any, kH: Any, dW: Any = ..., dH: Any = ..., padW: Any = ..., padH: Any = ...
    ) -> None: ...

class SpatialContrastiveNormalization(Module):
    def __init__(
        self, nInputPlane: Any, kernel: Any = ..., threshold: Any = ..., thresval: Any = ...
    ) -> None: ...

class SpatialConvolution(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class SpatialConvolutionLocal(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        iW: Any,
        iH: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class SpatialConvolutionMM(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class SpatialConvolutionMap(Module):
    def __init__(self, conMatrix: Any, kW: Any, kH: Any, dW: Any = ..., dH: Any = ...) -> None: ...

class SpatialCrossMapLRN(Module):
    def __init__(self, size: Any, alpha: Any = ..., beta: Any = ..., k: Any = ...) -> None: ...

class SpatialDepthWiseConvolution(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class SpatialDivisiveNormalization(Module):
    def __init__(
        self, nInputPlane: Any, kernel: Any = ..., threshold: Any = ..., thresval: Any = ...
    ) -> None: ...

class SpatialDropout(Module):
    def __init__(self, p: Any = ..., stochasticInference: Any = ...) -> None: ...

class SpatialFractionalMaxPooling(Module):
    def __init__(self, poolSizeW: Any, poolSizeH: Any, outW: Any, outH: Any) -> None: ...

class SpatialFullConvolution(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        adjW: Any = ...,
        adjH: Any = ...,
    ) -> None: ...

class SpatialFullConvolutionMap(Module):
    def __init__(self, conMatrix: Any, kW: Any, kH: Any, dW: Any = ..., dH: Any = ...) -> None: ...

class SpatialLogSoftMax(Module):
    def __init__(self) -> None: ...

class SpatialMaxPooling(Module):
    def __init__(
        self, kW: Any, kH: Any, dW: Any = ..., dH: Any = ..., padW: Any = ..., padH: Any = ...
    ) -> None: ...

class SpatialMaxUnpooling(Module):
    def __init__(self, poolingModule: Any) -> None: ...

class SpatialReflectionPadding(Module):
    def __init__(self, pad_l: Any, pad_r: Any = ..., pad_t: Any = ..., pad_b: Any = ...) -> None: ...

class SpatialReplicationPadding(Module):
    def __init__(self, pad_l: Any, pad_r: Any = ..., pad_t: Any = ..., pad_b: Any = ...) -> None: ...

class SpatialSoftMax(Module):
    def __init__(self) -> None: ...

class SpatialSubSampling(Module):
    def __init__(self, nInputPlane: Any, kW: Any, kH: Any, dW: Any = ..., dH: Any = ...) -> None: ...

class SpatialSubtractiveNormalization(Module):
    def __init__(self, nInputPlane: Any, kernel: Any = ...) -> None: ...

class SpatialUpSamplingBilinear(Module):
    def __init__(self, params: Any) -> None: ...

class SpatialUpSamplingNearest(Module):
    def __init__(self, scale: Any) -> None: ...

class SpatialZeroPadding(Module):
    def __init__(self, pad_l: Any, pad_r: Any = ..., pad_t: Any = ..., pad_b: Any = ...) -> None: ...

class SplitTable(Module):
    def __init__(self, dimension: Any, nInputDims: Any = ...) -> None: ...

class Sqrt(Module):
    def __init__(self) -> None: ...

class Square(Module):
    def __init__(self) -> None: ...

class Squeeze(Module):
    def __init__(self, dim: Any = ..., numInputDims: Any = ...) -> None: ...

class Sum(Module):
    def __init__(
        self, dimension: Any = ..., nInputDims: Any = ..., sizeAverage: Any = ..., squeeze: Any = ...
    ) -> None: ...

class Tanh(Module):
    def __init__(self) -> None: ...

class TanhShrink(Module):
    def __init__(self) -> None: ...

class TemporalConvolution(Module):
    def __init__(self, inputFrameSize: Any, outputFrameSize: Any, kW: Any, dW: Any = ...) -> None: ...

class TemporalDynamicKMaxPooling(Module):
    def __init__(self, minK: Any, factor: Any = ...) -> None: ...

class TemporalMaxPooling(Module):
    def __init__(self, kW: Any, dW: Any = ...) -> None: ...

class TemporalRowConvolution(Module):
    def __init__(self, inputFrameSize: Any, kW: Any, dW: Any = ..., featFirst: Any = ...) -> None: ...

class TemporalSubSampling(Module):
    def __init__(self, inputFrameSize: Any, kW: Any, dW: Any = ...) -> None: ...

class Threshold(Module):
    def __init__(self, th: Any = ..., v: Any = ..., ip: Any = ...) -> None: ...

class Transpose(Module):
    def __init__(self, *permutations: Any) -> None: ...

class Unsqueeze(Module):
    def __init__(self, pos: Any, numInputDims: Any = ...) -> None: ...

class UpSampling(Module):
    def __init__(self, scale_factor: Any, mode: Any = ...) -> None: ...

class View(Module):
    def __init__(self, *sizes: Any) -> None: ...

class VolumetricAveragePooling(Module):
    def __init__(
        self,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class VolumetricConvolution(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class VolumetricDropout(Module):
    def __init__(self, p: Any = ..., stochasticInference: Any = ...) -> None: ...

class VolumetricFractionalMaxPooling(Module):
    def __init__(
        self, poolSizeT: Any, poolSizeW: Any, poolSizeH: Any, outT: Any, outW: Any, outH: Any
    ) -> None: ...

class VolumetricFullConvolution(Module):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        adjT: Any = ...,
        adjW: Any = ...,
        adjH: Any = ...,
    ) -> None: ...

class VolumetricMaxPooling(Module):
    def __init__(
        self,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
    ) -> None: ...

class VolumetricMaxUnpooling(Module):
    def __init__(self, poolingModule: Any) -> None: ...

class VolumetricReplicationPadding(Module):
    def __init__(
        self,
        pleft: Any,
        pright: Any = ...,
        ptop: Any = ...,
        pbottom: Any = ...,
        pfront: Any = ...,
        pback: Any = ...,
    ) -> None: ...

class WeightedEuclidean(Module):
    def __init__(self, inputSize: Any, outputSize: Any) -> None: ...

class WhiteNoise(Module):
    def __init__(self, mean: Any = ..., std: Any = ...) -> None: ...

class ZeroGrad(Module):
    def __init__(self) -> None: ...

class ZipTable(Module):
    def __init__(self) -> None: ...

class ZipTableOneToMany(Module):
    def __init__(self) -> None: ...

class gModule(Container):
    def __init__(self, inputs: Any, outputs: Any) -> None: ...

class AbsCriterion(Criterion):
    def __init__(self, sizeAverage: Any = ...) -> None: ...

class BCECriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: Any = ...) -> None: ...

class ClassNLLCriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: Any = ..., ignoreIndex: Any = ...) -> None: ...

class CosineEmbeddingCriterion(Criterion):
    def __init__(self, margin: Any = ...) -> None: ...

class CrossEntropyCriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: Any = ...) -> None: ...

class DistKLDivCriterion(Criterion):
    def __init__(self) -> None: ...

class DistanceRatioCriterion(Criterion):
    def __init__(self, sizeAverage: Any = ...) -> None: ...

class HingeEmbeddingCriterion(Criterion):
    def __init__(self, margin: Any = ...) -> None: ...

class L1Cost(Criterion):
    def __init__(self) -> None: ...

class L1HingeEmbeddingCriterion(Criterion):
    def __init__(self, margin: Any = ...) -> None: ...

class MSECriterion(Criterion):
    def __init__(self, sizeAverage: Any = ...) -> None: ...

class MarginCriterion(Criterion):
    def __init__(self, margin: Any = ...) -> None: ...

class MarginRankingCriterion(Criterion):
    def __init__(self, margin: Any = ...) -> None: ...

class ModuleCriterion(Criterion):
    def __init__(
        self, criterion: Any, inputModule: Any = ..., targetModule: Any = ..., castTarget: Any = ...
    ) -> None: ...

class MultiCriterion(Criterion):
    def __init__(self) -> None: ...

class MultiLabelMarginCriterion(Criterion):
    def __init__(self) -> None: ...

class MultiLabelSoftMarginCriterion(Criterion):
    def __init__(self, weights: Any = ...) -> None: ...

class MultiMarginCriterion(Criterion):
    def __init__(self, p: Any = ..., weights: Any = ..., margin: Any = ...) -> None: ...

class ParallelCriterion(Criterion):
    def __init__(self, repeatTarget: Any = ...) -> None: ...

class SmoothL1Criterion(Criterion):
    def __init__(self, sizeAverage: Any = ...) -> None: ...

class SoftMarginCriterion(Criterion):
    def __init__(self) -> None: ...

class SpatialClassNLLCriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: Any = ..., ignoreIndex: Any = ...) -> None: ...

class Bottle(Decorator):
    def __init__(self, module: Any, nInputDim: Any = ..., nOutputDim: Any = ...) -> None: ...

class CReLU(Sequential):
    def __init__(self, nInputDims: Any = ..., inplace: Any = ...) -> None: ...

class Clamp(HardTanh):
    def __init__(self, min_value: Any = ..., max_value: Any = ...) -> None: ...

class DepthConcat(Concat):
    def __init__(self, dimension: Any) -> None: ...

class DontCast(Decorator):
    def __init__(self, module: Any, castin: Any = ..., castout: Any = ..., moduleType: Any = ...) -> None: ...

class GPU(Decorator):
    def __init__(self, module: Any, device: Any, outdevice: Any = ...) -> None: ...

class LayerNormalization(Sequential):
    def __init__(self, nOutput: Any, bias: Any = ..., eps: Any = ..., affine: Any = ...) -> None: ...

class LinearWeightNorm(Linear):
    def __init__(self, inputSize: Any, outputSize: Any, bias: Any = ..., eps: Any = ...) -> None: ...

class Maxout(Sequential):
    def __init__(self, inputSize: Any, outputSize: Any, maxoutNumber: Any, preprocess: Any = ...) -> None: ...

class Mean(Sum):
    def __init__(self, dimension: Any = ..., nInputDims: Any = ...) -> None: ...

class NaN(Decorator):
    def __init__(self, module: Any, id: Any = ...) -> None: ...

class Profile(Decorator):
    def __init__(self, module: Any, print_interval: Any = ..., name: Any = ...) -> None: ...

class ReLU(Threshold):
    def __init__(self, p: Any = ...) -> None: ...

class SpatialBatchNormalization(BatchNormalization):
    def __init__(self, nOutput: Any, eps: Any = ..., momentum: Any = ..., affine: Any = ...) -> None: ...

class SpatialDilatedConvolution(SpatialConvolution):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        dilationW: Any = ...,
        dilationH: Any = ...,
    ) -> None: ...

class SpatialDilatedMaxPooling(SpatialMaxPooling):
    def __init__(
        self,
        kW: Any,
        kH: Any,
        dW: Any = ...,
        dH: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        dilationW: Any = ...,
        dilationH: Any = ...,
    ) -> None: ...

class SpatialLPPooling(Sequential):
    def __init__(
        self, nInputPlane: Any, pnorm: Any, kW: Any, kH: Any, dW: Any = ..., dH: Any = ...
    ) -> None: ...

class VolumetricBatchNormalization(BatchNormalization):
    def __init__(self, nOutput: Any, eps: Any = ..., momentum: Any = ..., affine: Any = ...) -> None: ...

class VolumetricDilatedConvolution(VolumetricConvolution):
    def __init__(
        self,
        nInputPlane: Any,
        nOutputPlane: Any,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        dilationT: Any = ...,
        dilationW: Any = ...,
        dilationH: Any = ...,
    ) -> None: ...

class VolumetricDilatedMaxPooling(VolumetricMaxPooling):
    def __init__(
        self,
        kT: Any,
        kW: Any,
        kH: Any,
        dT: Any = ...,
        dW: Any = ...,
        dH: Any = ...,
        padT: Any = ...,
        padW: Any = ...,
        padH: Any = ...,
        dilationT: Any = ...,
        dilationW: Any = ...,
        dilationH: Any = ...,
    ) -> None: ...

class WeightNorm(Decorator):
    def __init__(self, module: Any, outputDim: Any = ...) -> None: ...

class ClassSimplexCriterion(MSECriterion):
    def __init__(self, nClasses: Any) -> None: ...

class SpatialAutoCropMSECriterion(MSECriterion):
    def __init__(self, sizeAverage: Any = ...) -> None: ...

class WeightedMSECriterion(MSECriterion):
    def __init__(self, w: Any) -> None: ...

Jacobian: Namespace
SparseJacobian: Namespace
hessian: Namespace
tables: Namespace
test: Namespace
testTHNN: Namespace
utils: Namespace

def __getattr__(name: str) -> Any: ...  # a class that a Lua program defines
