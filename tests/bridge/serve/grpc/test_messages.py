"""The messages are those of the public protocol: their names, numbers and types are Triton's."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from tritonclient.grpc import model_config_pb2, service_pb2

from bridge.serve.grpc.messages import MESSAGES, descriptor
from bridge.serve.grpc.servicer import METHODS

# What stands inside another message there, or is a map's entry.
INSIDE = {
    "TensorMetadata": "ModelMetadataResponse.TensorMetadata",
    "InferInputTensor": "ModelInferRequest.InferInputTensor",
    "InferRequestedOutputTensor": "ModelInferRequest.InferRequestedOutputTensor",
    "InferOutputTensor": "ModelInferResponse.InferOutputTensor",
    "ModelIndex": "RepositoryIndexResponse.ModelIndex",
    "InferParameterEntry": "ModelInferRequest.ParametersEntry",
    "RepositoryParameterEntry": "RepositoryModelLoadRequest.ParametersEntry",
    "All": "ModelVersionPolicy.All",
}
THEIRS = {**model_config_pb2.DESCRIPTOR.message_types_by_name, **service_pb2.DESCRIPTOR.message_types_by_name}
# Messages of which some fields are enough.
PARTS = {
    "ModelStatistics",
    "ModelConfig",
    "ModelVersionPolicy",
    "ModelInput",
    "ModelOutput",
    "ModelInstanceGroup",
    "ModelDynamicBatching",
}
OWN = {"HealthCheckRequest", "HealthCheckResponse"}  # of another package


def fields(descriptor: Any) -> dict[str, tuple[int, int, bool]]:
    numbers = {FieldDescriptorProto.TYPE_ENUM: FieldDescriptorProto.TYPE_INT32}  # which travel alike
    return {
        one.name: (one.number, numbers.get(one.type, one.type), one.is_repeated) for one in descriptor.fields
    }


@pytest.mark.parametrize("name", sorted(set(MESSAGES) - OWN))
def test_fields_have_the_protocol_s_numbers_and_types(name: str) -> None:
    inner = INSIDE.get(name, name).split(".")
    theirs = THEIRS[inner[0]]
    for part in inner[1:]:
        theirs = theirs.nested_types_by_name[part]
    ours = fields(MESSAGES[name].DESCRIPTOR)
    assert ours == {field: told for field, told in fields(theirs).items() if field in ours}
    assert (set(fields(theirs)) == set(ours)) == (name not in PARTS)


def test_methods_are_the_protocol_s() -> None:
    theirs = service_pb2.DESCRIPTOR.services_by_name["GRPCInferenceService"]
    for service, method, taken, _ in METHODS:
        if service == theirs.full_name:
            assert theirs.methods_by_name[method].input_type.name == taken


def test_a_request_of_the_client_s_classes_is_read_as_it_was_written() -> None:
    written = service_pb2.ModelInferRequest(model_name="m", id="7", raw_input_contents=[b"\x01"])
    written.parameters["flag"].bool_param = False
    written.inputs.add(name="x", datatype="INT8", shape=[1, -2])
    read = MESSAGES["ModelInferRequest"].FromString(written.SerializeToString())
    assert (read.model_name, read.id, list(read.raw_input_contents)) == ("m", "7", [b"\x01"])
    assert list(read.inputs[0].shape) == [1, -2]
    (entry,) = read.parameters
    assert (entry.key, entry.value.WhichOneof("choice"), entry.value.bool_param) == (
        "flag",
        "bool_param",
        False,
    )
    assert service_pb2.ModelInferRequest.FromString(read.SerializeToString()) == written


def test_a_row_that_is_written_wrongly_is_an_error() -> None:
    with pytest.raises(ValueError, match="Row has a field 'string name'"):
        descriptor("Row", "string name; int64 number = 2")
