// A device of torch whose tensors have no memory that the CPU can read: their addresses are none of a process, so what
// uses them must copy, as with a GPU. Operators run on copies on the CPU.
#include <cstdint>
#include <cstdlib>

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_cpu_dispatch.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace {

constexpr uintptr_t far_away = uintptr_t(1) << 62; // no address of a process on today's processors has this bit
constexpr auto far = c10::DeviceType::PrivateUse1;

void *near(const void *pointer) { return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(pointer) & ~far_away); }

void release(void *pointer) { std::free(near(pointer)); }

struct Allocator final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override {
        void *memory = bytes ? std::malloc(bytes) : nullptr;
        void *away = memory ? reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(memory) | far_away) : nullptr;
        return {away, away, release, c10::Device(far, 0)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return release; }
    void copy_data(void *to, const void *from, size_t bytes) const override {
        default_copy_data(near(to), near(from), bytes);
    }
};

Allocator allocator;

// The same elements as a tensor of the CPU.
at::Tensor on_host(const at::Tensor &tensor) {
    if (tensor.device().type() != far) return tensor;
    return at::from_blob(near(tensor.data_ptr()), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
    return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                     c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
    return at::detail::empty_strided_generic(
        size, stride, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype));
}

at::Tensor copy_from(const at::Tensor &from, const at::Tensor &to, bool) {
    on_host(to).copy_(on_host(from));
    return to;
}

at::Tensor copy_from_and_resize(const at::Tensor &from, const at::Tensor &to) {
    to.resize_(from.sizes());
    return copy_from(from, to, false);
}

struct Hooks final : at::PrivateUse1HooksInterface {
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

void on_copies(const c10::OperatorHandle &op, torch::jit::Stack *stack) { at::native::cpu_fallback(op, stack); }

// There is one device, with one stream, on which everything has ended when a call returns.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<far> {
    c10::Device exchangeDevice(c10::Device) const override { return device; }
    c10::Device getDevice() const override { return device; }
    c10::Stream getStream(c10::Device) const noexcept override { return stream; }
    c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream; }
    void record(void **, const c10::Stream &, c10::DeviceIndex, c10::EventFlag) const override {}
    void block(void *, const c10::Stream &) const override {}
    bool queryEvent(void *) const override { return true; }

    const c10::Device device{far, 0};
    const c10::Stream stream{c10::Stream::DEFAULT, device};
};

const bool has_hooks = [] {
    static Hooks hooks;
    at::RegisterPrivateUse1HooksInterface(&hooks);
    return true;
}();

} // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

TORCH_LIBRARY_IMPL(_, PrivateUse1, operators) {
    operators.fallback(torch::CppFunction::makeFromBoxedFunction<&on_copies>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, operators) {
    operators.impl("empty.memory_format", empty);
    operators.impl("empty_strided", empty_strided);
    operators.impl("_copy_from", copy_from);
    operators.impl("_copy_from_and_resize", copy_from_and_resize);
    operators.impl("resize_", at::native::resize_);
    operators.impl("as_strided", at::cpu::as_strided);
    operators.impl("view", at::native::view);
    operators.impl("_reshape_alias", at::native::_reshape_alias);
    operators.impl("set_.source_Storage_storage_offset",
                   static_cast<at::Tensor &(*)(at::Tensor &, at::Storage, int64_t, c10::IntArrayRef, c10::IntArrayRef)>(
                       at::cpu::set_));
}
