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
    def __init__(self, inputSize: int | None = ..., scalar: bool | None = ...) -> None: ...

class AddConstant(Module):
    def __init__(self, constant_scalar: float, ip: bool | None = ...) -> None: ...

class BatchNormalization(Module):
    def __init__(
        self, nOutput: int, eps: float | None = ..., momentum: float | None = ..., affine: bool | None = ...
    ) -> None: ...

class Bilinear(Module):
    def __init__(
        self, inputSize1: int, inputSize2: int, outputSize: int, bias: bool | None = ...
    ) -> None: ...

class CAdd(Module):
    def __init__(self, *sizes: Any) -> None: ...

class CAddTable(Module):
    def __init__(self, ip: bool | None = ...) -> None: ...

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
    def __init__(self, nInputDim: int) -> None: ...

class Concat(Container):
    def __init__(self, dimension: int) -> None: ...

class ConcatTable(Container):
    def __init__(self) -> None: ...

class Constant(Module):
    def __init__(self, value: Any, nInputDim: int | None = ...) -> None: ...

class Contiguous(Module):
    def __init__(self) -> None: ...

class Convert(Module):
    def __init__(self, inputShape: Any = ..., outputShape: Any = ...) -> None: ...

class Copy(Module):
    def __init__(
        self, intype: Any = ..., outtype: Any = ..., forceCopy: bool | None = ..., dontCast: bool | None = ...
    ) -> None: ...

class Cosine(Module):
    def __init__(self, inputSize: int, outputSize: int) -> None: ...

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
        self,
        p: float | None = ...,
        v1: bool | None = ...,
        inplace: bool | None = ...,
        stochasticInference: bool | None = ...,
    ) -> None: ...

class ELU(Module):
    def __init__(self, alpha: float | None = ..., inplace: bool | None = ...) -> None: ...

class Euclidean(Module):
    def __init__(self, inputSize: int, outputSize: int) -> None: ...

class Exp(Module):
    def __init__(self) -> None: ...

class FeatureLPPooling(Module):
    def __init__(self, width: int, stride: Any, power: float, batch_mode: bool | None = ...) -> None: ...

class FlattenTable(Module):
    def __init__(self) -> None: ...

class GatedLinearUnit(Module):
    def __init__(self, dim: int | None = ...) -> None: ...

class GradientReversal(Module):
    def __init__(self, lambda_: float | None = ...) -> None: ...

class HardShrink(Module):
    def __init__(self, lam: float | None = ...) -> None: ...

class HardTanh(Module):
    def __init__(
        self, min_value: float | None = ..., max_value: float | None = ..., inplace: bool | None = ...
    ) -> None: ...

class Identity(Module):
    def __init__(self) -> None: ...

class Index(Module):
    def __init__(self, dimension: int) -> None: ...

class IndexLinear(Module):
    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        doGradInput: bool | None = ...,
        keysOffset: int | None = ...,
        weight: Any = ...,
        bias: bool | None = ...,
        normalize: Any = ...,
    ) -> None: ...

class JoinTable(Module):
    def __init__(self, dimension: int, nInputDims: int | None = ...) -> None: ...

class Kmeans(Module):
    def __init__(self, k: float, dim: int, scale: Any = ...) -> None: ...

class L1Penalty(Module):
    def __init__(
        self, l1weight: float, sizeAverage: bool | None = ..., provideOutput: bool | None = ...
    ) -> None: ...

class LeakyReLU(Module):
    def __init__(self, negval: float | None = ..., ip: bool | None = ...) -> None: ...

class Linear(Module):
    def __init__(self, inputSize: int, outputSize: int, bias: bool | None = ...) -> None: ...

class Log(Module):
    def __init__(self) -> None: ...

class LogSigmoid(Module):
    def __init__(self) -> None: ...

class LogSoftMax(Module):
    def __init__(self) -> None: ...

class LookupTable(Module):
    def __init__(
        self,
        nIndex: int,
        nOutput: int,
        paddingValue: int | None = ...,
        maxNorm: float | None = ...,
        normType: float | None = ...,
    ) -> None: ...

class MM(Module):
    def __init__(self, transA: bool | None = ..., transB: bool | None = ...) -> None: ...

class MV(Module):
    def __init__(self, trans: bool | None = ...) -> None: ...

class MapTable(Container):
    def __init__(self, module: Any, shared: bool | None = ...) -> None: ...

class MaskedSelect(Module):
    def __init__(self) -> None: ...

class Max(Module):
    def __init__(self, dimension: int | None = ..., nInputDims: int | None = ...) -> None: ...

class Min(Module):
    def __init__(self, dimension: int | None = ..., nInputDims: int | None = ...) -> None: ...

class MixtureTable(Module):
    def __init__(self, dim: int | None = ...) -> None: ...

class ModuleFromCriterion(Module):
    def __init__(self, criterion: Any, castTarget: bool | None = ...) -> None: ...

class Mul(Module):
    def __init__(self) -> None: ...

class MulConstant(Module):
    def __init__(self, constant_scalar: float, ip: bool | None = ...) -> None: ...

class Narrow(Module):
    def __init__(self, dimension: int, offset: int, length: int | None = ...) -> None: ...

class NarrowTable(Module):
    def __init__(self, offset: int, length: int | None = ...) -> None: ...

class Normalize(Module):
    def __init__(self, p: float | None = ..., eps: float | None = ...) -> None: ...

class OneHot(Module):
    def __init__(self, outputSize: int) -> None: ...

class PReLU(Module):
    def __init__(self, nOutputPlane: int | None = ...) -> None: ...

class Padding(Module):
    def __init__(
        self, dim: int, pad: Any, nInputDim: int | None = ..., value: Any = ..., index: Any = ...
    ) -> None: ...

class PairwiseDistance(Module):
    def __init__(self, p: float | None = ...) -> None: ...

class Parallel(Container):
    def __init__(self, inputDimension: int, outputDimension: int) -> None: ...

class ParallelTable(Container):
    def __init__(self) -> None: ...

class PartialLinear(Module):
    def __init__(self, inputsize: int, outputsize: int, bias: bool | None = ...) -> None: ...

class PixelShuffle(Module):
    def __init__(self, upscaleFactor: int) -> None: ...

class Power(Module):
    def __init__(self, p: float) -> None: ...

class PrintSize(Module):
    def __init__(self, prefix: Any = ...) -> None: ...

class RReLU(Module):
    def __init__(self, l: float | None = ..., u: float | None = ..., ip: bool | None = ...) -> None: ...

class ReLU6(Module):
    def __init__(self, inplace: bool | None = ...) -> None: ...

class Replicate(Module):
    def __init__(self, nf: int, dim: int | None = ..., ndim: int | None = ...) -> None: ...

class Reshape(Module):
    def __init__(self, *sizes: Any) -> None: ...

class Select(Module):
    def __init__(self, dimension: int, index: Any) -> None: ...

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
    def __init__(self, beta: float | None = ...) -> None: ...

class SoftShrink(Module):
    def __init__(self, lam: float | None = ...) -> None: ...

class SoftSign(Module):
    def __init__(self) -> None: ...

class SparseLinear(Module):
    def __init__(self, inputSize: int, outputSize: int, doGradInput: bool | None = ...) -> None: ...

class SpatialAdaptiveAveragePooling(Module):
    def __init__(self, W: int, H: int) -> None: ...

class SpatialAdaptiveMaxPooling(Module):
    def __init__(self, W: int, H: int) -> None: ...

class SpatialAveragePooling(Module):
    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialContrastiveNormalization(Module):
    def __init__(
        self, nInputPlane: int, kernel: Any = ..., threshold: float | None = ..., thresval: float | None = ...
    ) -> None: ...

class SpatialConvolution(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialConvolutionLocal(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        iW: int,
        iH: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialConvolutionMM(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialConvolutionMap(Module):
    def __init__(
        self, conMatrix: Any, kW: int, kH: int, dW: int | None = ..., dH: int | None = ...
    ) -> None: ...

class SpatialCrossMapLRN(Module):
    def __init__(
        self, size: Any, alpha: float | None = ..., beta: float | None = ..., k: float | None = ...
    ) -> None: ...

class SpatialDepthWiseConvolution(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialDivisiveNormalization(Module):
    def __init__(
        self, nInputPlane: int, kernel: Any = ..., threshold: float | None = ..., thresval: float | None = ...
    ) -> None: ...

class SpatialDropout(Module):
    def __init__(self, p: float | None = ..., stochasticInference: bool | None = ...) -> None: ...

class SpatialFractionalMaxPooling(Module):
    def __init__(self, poolSizeW: int, poolSizeH: int, outW: int, outH: int) -> None: ...

class SpatialFullConvolution(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        adjW: int | None = ...,
        adjH: int | None = ...,
    ) -> None: ...

class SpatialFullConvolutionMap(Module):
    def __init__(
        self, conMatrix: Any, kW: int, kH: int, dW: int | None = ..., dH: int | None = ...
    ) -> None: ...

class SpatialLogSoftMax(Module):
    def __init__(self) -> None: ...

class SpatialMaxPooling(Module):
    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class SpatialMaxUnpooling(Module):
    def __init__(self, poolingModule: Any) -> None: ...

class SpatialReflectionPadding(Module):
    def __init__(
        self, pad_l: int, pad_r: int | None = ..., pad_t: int | None = ..., pad_b: int | None = ...
    ) -> None: ...

class SpatialReplicationPadding(Module):
    def __init__(
        self, pad_l: int, pad_r: int | None = ..., pad_t: int | None = ..., pad_b: int | None = ...
    ) -> None: ...

class SpatialSoftMax(Module):
    def __init__(self) -> None: ...

class SpatialSubSampling(Module):
    def __init__(
        self, nInputPlane: int, kW: int, kH: int, dW: int | None = ..., dH: int | None = ...
    ) -> None: ...

class SpatialSubtractiveNormalization(Module):
    def __init__(self, nInputPlane: int, kernel: Any = ...) -> None: ...

class SpatialUpSamplingBilinear(Module):
    def __init__(self, params: Any) -> None: ...

class SpatialUpSamplingNearest(Module):
    def __init__(self, scale: Any) -> None: ...

class SpatialZeroPadding(Module):
    def __init__(
        self, pad_l: int, pad_r: int | None = ..., pad_t: int | None = ..., pad_b: int | None = ...
    ) -> None: ...

class SplitTable(Module):
    def __init__(self, dimension: int, nInputDims: int | None = ...) -> None: ...

class Sqrt(Module):
    def __init__(self) -> None: ...

class Square(Module):
    def __init__(self) -> None: ...

class Squeeze(Module):
    def __init__(self, dim: int | None = ..., numInputDims: int | None = ...) -> None: ...

class Sum(Module):
    def __init__(
        self,
        dimension: int | None = ...,
        nInputDims: int | None = ...,
        sizeAverage: bool | None = ...,
        squeeze: bool | None = ...,
    ) -> None: ...

class Tanh(Module):
    def __init__(self) -> None: ...

class TanhShrink(Module):
    def __init__(self) -> None: ...

class TemporalConvolution(Module):
    def __init__(self, inputFrameSize: int, outputFrameSize: int, kW: int, dW: int | None = ...) -> None: ...

class TemporalDynamicKMaxPooling(Module):
    def __init__(self, minK: int, factor: float | None = ...) -> None: ...

class TemporalMaxPooling(Module):
    def __init__(self, kW: int, dW: int | None = ...) -> None: ...

class TemporalRowConvolution(Module):
    def __init__(
        self, inputFrameSize: int, kW: int, dW: int | None = ..., featFirst: bool | None = ...
    ) -> None: ...

class TemporalSubSampling(Module):
    def __init__(self, inputFrameSize: int, kW: int, dW: int | None = ...) -> None: ...

class Threshold(Module):
    def __init__(self, th: float | None = ..., v: float | None = ..., ip: bool | None = ...) -> None: ...

class Transpose(Module):
    def __init__(self, *permutations: Any) -> None: ...

class Unsqueeze(Module):
    def __init__(self, pos: Any, numInputDims: int | None = ...) -> None: ...

class UpSampling(Module):
    def __init__(self, scale_factor: Any, mode: Any = ...) -> None: ...

class View(Module):
    def __init__(self, *sizes: Any) -> None: ...

class VolumetricAveragePooling(Module):
    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class VolumetricConvolution(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class VolumetricDropout(Module):
    def __init__(self, p: float | None = ..., stochasticInference: bool | None = ...) -> None: ...

class VolumetricFractionalMaxPooling(Module):
    def __init__(
        self, poolSizeT: int, poolSizeW: int, poolSizeH: int, outT: int, outW: int, outH: int
    ) -> None: ...

class VolumetricFullConvolution(Module):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        adjT: int | None = ...,
        adjW: int | None = ...,
        adjH: int | None = ...,
    ) -> None: ...

class VolumetricMaxPooling(Module):
    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
    ) -> None: ...

class VolumetricMaxUnpooling(Module):
    def __init__(self, poolingModule: Any) -> None: ...

class VolumetricReplicationPadding(Module):
    def __init__(
        self,
        pleft: int,
        pright: int | None = ...,
        ptop: int | None = ...,
        pbottom: int | None = ...,
        pfront: int | None = ...,
        pback: int | None = ...,
    ) -> None: ...

class WeightedEuclidean(Module):
    def __init__(self, inputSize: int, outputSize: int) -> None: ...

class WhiteNoise(Module):
    def __init__(self, mean: float | None = ..., std: float | None = ...) -> None: ...

class ZeroGrad(Module):
    def __init__(self) -> None: ...

class ZipTable(Module):
    def __init__(self) -> None: ...

class ZipTableOneToMany(Module):
    def __init__(self) -> None: ...

class gModule(Container):
    def __init__(self, inputs: Any, outputs: Any) -> None: ...

class AbsCriterion(Criterion):
    def __init__(self, sizeAverage: bool | None = ...) -> None: ...

class BCECriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: bool | None = ...) -> None: ...

class ClassNLLCriterion(Criterion):
    def __init__(
        self, weights: Any = ..., sizeAverage: bool | None = ..., ignoreIndex: int | None = ...
    ) -> None: ...

class CosineEmbeddingCriterion(Criterion):
    def __init__(self, margin: float | None = ...) -> None: ...

class CrossEntropyCriterion(Criterion):
    def __init__(self, weights: Any = ..., sizeAverage: bool | None = ...) -> None: ...

class DistKLDivCriterion(Criterion):
    def __init__(self) -> None: ...

class DistanceRatioCriterion(Criterion):
    def __init__(self, sizeAverage: bool | None = ...) -> None: ...

class HingeEmbeddingCriterion(Criterion):
    def __init__(self, margin: float | None = ...) -> None: ...

class L1Cost(Criterion):
    def __init__(self) -> None: ...

class L1HingeEmbeddingCriterion(Criterion):
    def __init__(self, margin: float | None = ...) -> None: ...

class MSECriterion(Criterion):
    def __init__(self, sizeAverage: bool | None = ...) -> None: ...

class MarginCriterion(Criterion):
    def __init__(self, margin: float | None = ...) -> None: ...

class MarginRankingCriterion(Criterion):
    def __init__(self, margin: float | None = ...) -> None: ...

class ModuleCriterion(Criterion):
    def __init__(
        self, criterion: Any, inputModule: Any = ..., targetModule: Any = ..., castTarget: bool | None = ...
    ) -> None: ...

class MultiCriterion(Criterion):
    def __init__(self) -> None: ...

class MultiLabelMarginCriterion(Criterion):
    def __init__(self) -> None: ...

class MultiLabelSoftMarginCriterion(Criterion):
    def __init__(self, weights: Any = ...) -> None: ...

class MultiMarginCriterion(Criterion):
    def __init__(self, p: float | None = ..., weights: Any = ..., margin: float | None = ...) -> None: ...

class ParallelCriterion(Criterion):
    def __init__(self, repeatTarget: bool | None = ...) -> None: ...

class SmoothL1Criterion(Criterion):
    def __init__(self, sizeAverage: bool | None = ...) -> None: ...

class SoftMarginCriterion(Criterion):
    def __init__(self) -> None: ...

class SpatialClassNLLCriterion(Criterion):
    def __init__(
        self, weights: Any = ..., sizeAverage: bool | None = ..., ignoreIndex: int | None = ...
    ) -> None: ...

class Bottle(Decorator):
    def __init__(self, module: Any, nInputDim: int | None = ..., nOutputDim: int | None = ...) -> None: ...

class CReLU(Sequential):
    def __init__(self, nInputDims: int | None = ..., inplace: bool | None = ...) -> None: ...

class Clamp(HardTanh):
    def __init__(self, min_value: float | None = ..., max_value: float | None = ...) -> None: ...

class DepthConcat(Concat):
    def __init__(self, dimension: int) -> None: ...

class DontCast(Decorator):
    def __init__(
        self, module: Any, castin: bool | None = ..., castout: bool | None = ..., moduleType: Any = ...
    ) -> None: ...

class GPU(Decorator):
    def __init__(self, module: Any, device: Any, outdevice: Any = ...) -> None: ...

class LayerNormalization(Sequential):
    def __init__(
        self, nOutput: int, bias: bool | None = ..., eps: float | None = ..., affine: bool | None = ...
    ) -> None: ...

class LinearWeightNorm(Linear):
    def __init__(
        self, inputSize: int, outputSize: int, bias: bool | None = ..., eps: float | None = ...
    ) -> None: ...

class Maxout(Sequential):
    def __init__(self, inputSize: int, outputSize: int, maxoutNumber: int, preprocess: Any = ...) -> None: ...

class Mean(Sum):
    def __init__(self, dimension: int | None = ..., nInputDims: int | None = ...) -> None: ...

class NaN(Decorator):
    def __init__(self, module: Any, id: Any = ...) -> None: ...

class Profile(Decorator):
    def __init__(self, module: Any, print_interval: Any = ..., name: Any = ...) -> None: ...

class ReLU(Threshold):
    def __init__(self, p: float | None = ...) -> None: ...

class SpatialBatchNormalization(BatchNormalization):
    def __init__(
        self, nOutput: int, eps: float | None = ..., momentum: float | None = ..., affine: bool | None = ...
    ) -> None: ...

class SpatialDilatedConvolution(SpatialConvolution):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        dilationW: int | None = ...,
        dilationH: int | None = ...,
    ) -> None: ...

class SpatialDilatedMaxPooling(SpatialMaxPooling):
    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = ...,
        dH: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        dilationW: int | None = ...,
        dilationH: int | None = ...,
    ) -> None: ...

class SpatialLPPooling(Sequential):
    def __init__(
        self, nInputPlane: int, pnorm: float, kW: int, kH: int, dW: int | None = ..., dH: int | None = ...
    ) -> None: ...

class VolumetricBatchNormalization(BatchNormalization):
    def __init__(
        self, nOutput: int, eps: float | None = ..., momentum: float | None = ..., affine: bool | None = ...
    ) -> None: ...

class VolumetricDilatedConvolution(VolumetricConvolution):
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        dilationT: int | None = ...,
        dilationW: int | None = ...,
        dilationH: int | None = ...,
    ) -> None: ...

class VolumetricDilatedMaxPooling(VolumetricMaxPooling):
    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = ...,
        dW: int | None = ...,
        dH: int | None = ...,
        padT: int | None = ...,
        padW: int | None = ...,
        padH: int | None = ...,
        dilationT: int | None = ...,
        dilationW: int | None = ...,
        dilationH: int | None = ...,
    ) -> None: ...

class WeightNorm(Decorator):
    def __init__(self, module: Any, outputDim: int | None = ...) -> None: ...

class ClassSimplexCriterion(MSECriterion):
    def __init__(self, nClasses: int) -> None: ...

class SpatialAutoCropMSECriterion(MSECriterion):
    def __init__(self, sizeAverage: bool | None = ...) -> None: ...

class WeightedMSECriterion(MSECriterion):
    def __init__(self, w: Any) -> None: ...

Jacobian: Namespace
SparseJacobian: Namespace
hessian: Namespace
tables: Namespace
test: Namespace
testTHNN: Namespace
utils: Namespace
