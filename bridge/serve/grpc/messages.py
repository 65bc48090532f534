"""The messages of the Open Inference Protocol and of gRPC's health check, made from a table when this is imported.

Names and numbers are those of the public protocol, with Triton's additions. Only field numbers and types are sent, so
the table simplifies some declarations without changing the bytes: a message inside another one is declared beside it, a
map is a list of entries, an enumeration is a number. The descriptors have a pool of their own, because a program may
also import a client's messages with the same names.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

TABLE: dict[str, str] = {
    "ServerLiveRequest": "",
    "ServerLiveResponse": "bool live = 1",
    "ServerReadyRequest": "",
    "ServerReadyResponse": "bool ready = 1",
    "ModelReadyRequest": "string name = 1; string version = 2",
    "ModelReadyResponse": "bool ready = 1",
    "ServerMetadataRequest": "",
    "ServerMetadataResponse": "string name = 1; string version = 2; repeated string extensions = 3",
    "ModelMetadataRequest": "string name = 1; string version = 2",
    "ModelMetadataResponse": """
        string name = 1; repeated string versions = 2; string platform = 3;
        repeated TensorMetadata inputs = 4; repeated TensorMetadata outputs = 5""",
    "TensorMetadata": "string name = 1; string datatype = 2; repeated int64 shape = 3",
    "ModelInferRequest": """
        string model_name = 1; string model_version = 2; string id = 3; repeated InferParameterEntry parameters = 4;
        repeated InferInputTensor inputs = 5; repeated InferRequestedOutputTensor outputs = 6;
        repeated bytes raw_input_contents = 7""",
    "InferInputTensor": """
        string name = 1; string datatype = 2; repeated int64 shape = 3; repeated InferParameterEntry parameters = 4;
        InferTensorContents contents = 5""",
    "InferRequestedOutputTensor": "string name = 1; repeated InferParameterEntry parameters = 2",
    "ModelInferResponse": """
        string model_name = 1; string model_version = 2; string id = 3; repeated InferParameterEntry parameters = 4;
        repeated InferOutputTensor outputs = 5; repeated bytes raw_output_contents = 6""",
    "InferOutputTensor": """
        string name = 1; string datatype = 2; repeated int64 shape = 3; repeated InferParameterEntry parameters = 4;
        InferTensorContents contents = 5""",
    "ModelStreamInferResponse": "string error_message = 1; ModelInferResponse infer_response = 2",
    "InferParameterEntry": "string key = 1; InferParameter value = 2",
    "InferParameter": """
        bool bool_param = 1; int64 int64_param = 2; string string_param = 3; double double_param = 4;
        uint64 uint64_param = 5""",
    "InferTensorContents": """
        repeated bool bool_contents = 1; repeated int32 int_contents = 2; repeated int64 int64_contents = 3;
        repeated uint32 uint_contents = 4; repeated uint64 uint64_contents = 5; repeated float fp32_contents = 6;
        repeated double fp64_contents = 7; repeated bytes bytes_contents = 8""",
    "ModelConfigRequest": "string name = 1; string version = 2",
    "ModelConfigResponse": "ModelConfig config = 1",
    "ModelConfig": """
        string name = 1; string platform = 2; ModelVersionPolicy version_policy = 3; int32 max_batch_size = 4;
        repeated ModelInput input = 5; repeated ModelOutput output = 6; repeated ModelInstanceGroup instance_group = 7;
        string default_model_filename = 8; ModelDynamicBatching dynamic_batching = 11; string backend = 17""",
    "ModelVersionPolicy": "All all = 2",
    "All": "",
    "ModelInput": "string name = 1; int32 data_type = 2; repeated int64 dims = 4",
    "ModelOutput": "string name = 1; int32 data_type = 2; repeated int64 dims = 3",
    "ModelInstanceGroup": "string name = 1; int32 count = 2; int32 kind = 4",
    "ModelDynamicBatching": "uint64 max_queue_delay_microseconds = 2",
    "ModelStatisticsRequest": "string name = 1; string version = 2",
    "ModelStatisticsResponse": "repeated ModelStatistics model_stats = 1",
    "ModelStatistics": """
        string name = 1; string version = 2; uint64 last_inference = 3; uint64 inference_count = 4;
        uint64 execution_count = 5; InferStatistics inference_stats = 6""",
    "InferStatistics": """
        StatisticDuration success = 1; StatisticDuration fail = 2; StatisticDuration queue = 3;
        StatisticDuration compute_input = 4; StatisticDuration compute_infer = 5;
        StatisticDuration compute_output = 6; StatisticDuration cache_hit = 7; StatisticDuration cache_miss = 8""",
    "StatisticDuration": "uint64 count = 1; uint64 ns = 2",
    "RepositoryIndexRequest": "string repository_name = 1; bool ready = 2",
    "RepositoryIndexResponse": "repeated ModelIndex models = 1",
    "ModelIndex": "string name = 1; string version = 2; string state = 3; string reason = 4",
    "RepositoryModelLoadRequest": """
        string repository_name = 1; string model_name = 2; repeated RepositoryParameterEntry parameters = 3""",
    "RepositoryModelLoadResponse": "",
    "RepositoryModelUnloadRequest": """
        string repository_name = 1; string model_name = 2; repeated RepositoryParameterEntry parameters = 3""",
    "RepositoryModelUnloadResponse": "",
    "RepositoryParameterEntry": "string key = 1; ModelRepositoryParameter value = 2",
    "ModelRepositoryParameter": """
        bool bool_param = 1; int64 int64_param = 2; string string_param = 3; bytes bytes_param = 4""",
    "HealthCheckRequest": "string service = 1",
    "HealthCheckResponse": "int32 status = 1",
}
# Messages with a `oneof`: only one field is set, which is also sent if its value is 0.
CHOICES = {"InferParameter", "ModelRepositoryParameter"}
FIELD = re.compile(r"(repeated )?(\w+) (\w+) = (\d+)")


def descriptor(name: str, fields: str) -> DescriptorProto:
    """Return the descriptor of a message, from its row in the table.

    Raises
    ------
    ValueError
        The row does not have the table's form.
    """
    made = DescriptorProto(name=name)
    if name in CHOICES:
        made.oneof_decl.add(name="choice")
    for text in filter(None, (one.strip() for one in fields.split(";"))):
        found = FIELD.fullmatch(text)
        if found is None:
            raise ValueError(f"{name} has a field {text!r}")
        repeated, kind, field, number = found.groups()
        row = made.field.add(
            name=field,
            number=int(number),
            label=FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL,
        )
        if kind in TABLE:
            row.type, row.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".inference.{kind}"
        else:
            row.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
        if name in CHOICES:
            row.oneof_index = 0
    return made


def messages() -> dict[str, Any]:
    """Return the classes of all messages by name."""
    rows = [descriptor(name, fields) for name, fields in TABLE.items()]
    pool = DescriptorPool()
    file = FileDescriptorProto(name="moontide.proto", package="inference", syntax="proto3", message_type=rows)
    pool.AddSerializedFile(file.SerializeToString())
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"inference.{name}")) for name in TABLE}


MESSAGES = messages()
