"""Caffe's messages, made with the protobuf package: an account of the format that owes nothing to our reader."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

Field = descriptor_pb2.FieldDescriptorProto
KINDS = {
    "int": Field.TYPE_UINT32,
    "int64": Field.TYPE_INT64,
    "bool": Field.TYPE_BOOL,
    "float": Field.TYPE_FLOAT,
    "string": Field.TYPE_STRING,
}
ENUMS = {
    "V1LayerParameter.LayerType": {
        "NONE": 0,
        "CONVOLUTION": 4,
        "DATA": 5,
        "DROPOUT": 6,
        "INNER_PRODUCT": 14,
        "LRN": 15,
        "POOLING": 17,
        "RELU": 18,
        "SOFTMAX": 20,
        "TANH": 23,
    },
    "PoolingParameter.PoolMethod": {"MAX": 0, "AVE": 1, "STOCHASTIC": 2},
}
# (number, name, kind, "*" for a repeated field, "p" for a packed one)
PARAMETERS = [
    (10, 106, "convolution_param", "ConvolutionParameter"),
    (12, 108, "dropout_param", "DropoutParameter"),
    (17, 117, "inner_product_param", "InnerProductParameter"),
    (18, 118, "lrn_param", "LRNParameter"),
    (19, 121, "pooling_param", "PoolingParameter"),
    (30, 123, "relu_param", "ReLUParameter"),
]
MESSAGES: dict[str, list[tuple[Any, ...]]] = {
    "BlobShape": [(1, "dim", "int64", "p")],
    "BlobProto": [
        (1, "num", "int"),
        (2, "channels", "int"),
        (3, "height", "int"),
        (4, "width", "int"),
        (5, "data", "float", "p"),
        (6, "diff", "float", "p"),
        (7, "shape", "BlobShape"),
    ],
    "ConvolutionParameter": [
        (1, "num_output", "int"),
        (2, "bias_term", "bool"),
        (3, "pad", "int", "*"),
        (4, "kernel_size", "int", "*"),
        (5, "group", "int"),
        (6, "stride", "int", "*"),
        (9, "pad_h", "int"),
        (10, "pad_w", "int"),
        (11, "kernel_h", "int"),
        (12, "kernel_w", "int"),
        (13, "stride_h", "int"),
        (14, "stride_w", "int"),
    ],
    "PoolingParameter": [
        (1, "pool", "PoolingParameter.PoolMethod"),
        (2, "kernel_size", "int"),
        (3, "stride", "int"),
        (4, "pad", "int"),
        (12, "global_pooling", "bool"),
    ],
    "InnerProductParameter": [(1, "num_output", "int"), (2, "bias_term", "bool")],
    "LRNParameter": [
        (1, "local_size", "int"),
        (2, "alpha", "float"),
        (3, "beta", "float"),
        (5, "k", "float"),
    ],
    "DropoutParameter": [(1, "dropout_ratio", "float")],
    "ReLUParameter": [(1, "negative_slope", "float")],
    "V1LayerParameter": [
        (2, "bottom", "string", "*"),
        (3, "top", "string", "*"),
        (4, "name", "string"),
        (5, "type", "V1LayerParameter.LayerType"),
        (6, "blobs", "BlobProto", "*"),
        *((old, name, kind) for old, _, name, kind in PARAMETERS),
    ],
    "LayerParameter": [
        (1, "name", "string"),
        (2, "type", "string"),
        (3, "bottom", "string", "*"),
        (4, "top", "string", "*"),
        (7, "blobs", "BlobProto", "*"),
        *((new, name, kind) for _, new, name, kind in PARAMETERS),
    ],
    "NetParameter": [
        (1, "name", "string"),
        (2, "layers", "V1LayerParameter", "*"),
        (3, "input", "string", "*"),
        (4, "input_dim", "int", "*"),
        (100, "layer", "LayerParameter", "*"),
    ],
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for path, values in ENUMS.items():
            owner, enum = path.split(".")
            if owner == name:
                entry = message.enum_type.add(name=enum)
                for title, number in values.items():
                    entry.value.add(name=title, number=number)
        for number, title, kind, *many in fields:
            field = message.field.add(
                name=title,
                number=number,
                label=Field.LABEL_REPEATED if many else Field.LABEL_OPTIONAL,
            )
            if many == ["p"]:
                field.options.packed = True
            if kind in KINDS:
                field.type = KINDS[kind]
            else:
                field.type = Field.TYPE_ENUM if kind in ENUMS else Field.TYPE_MESSAGE
                field.type_name = f".caffe.{kind}"
    return file


_POOL = descriptor_pool.DescriptorPool()
_POOL.Add(_file())
Net: Any = message_factory.GetMessageClass(_POOL.FindMessageTypeByName("caffe.NetParameter"))


def net(text: str) -> Any:
    """Return the network that a prototxt describes."""
    return text_format.Parse(text, Net())
