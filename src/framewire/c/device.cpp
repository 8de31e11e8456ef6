// fw_image_copy(), fw_buffer and fw_stream_order().

#include "framewire/cuda/device.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/image.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/foreign.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <memory>

using namespace framewire;

namespace {

using Bytes = std::uint8_t;

// Copies in any direction on `own`, which is in order with the caller's stream.
void copy_with(const cuda::Stream& own, const c::CallerImage& from, const c::CallerImage& to) {
    constexpr auto host = MemorySpace::host, device = MemorySpace::device;
    if (!from.on_device())
        c::for_planes(from.view<const Bytes, host>(), to.view<Bytes, device>(),
                      [&](const auto& one, const auto& other) { cuda::upload(one, other, own); });
    else if (!to.on_device())
        c::for_planes(from.view<const Bytes, device>(), to.view<Bytes, host>(),
                      [&](const auto& one, const auto& other) { cuda::download(one, other, own); });
    else
        c::for_planes(from.view<const Bytes, device>(), to.view<Bytes, device>(),
                      [&](const auto& one, const auto& other) { cuda::copy(one, other, own); });
}

}  // namespace

fw_status fw_image_copy(const fw_image* from, const fw_image* to, void* stream) {
    return c::guard(__func__, [&] {
        const c::CallerImage source(from, "from"), result(to, source.format(), "to");
        source.require_apart(result);
        if (!source.on_device() && !result.on_device())
            return c::copy_on_host(source.view<const Bytes, MemorySpace::host>(),
                                   result.view<Bytes, MemorySpace::host>());
        const int device = source.on_device() ? source.device() : result.device();
        c::keep_current_gpu();
        cuda::use_device(device);
        source.require_on(device);
        result.require_on(device);
        const cuda::Stream own;
        cuda::ForeignOrder order;
        order.enter(stream, own);
        copy_with(own, source, result);
        order.leave(own, stream);
        if (!source.on_device() || !result.on_device()) own.synchronize();
    });
}

struct fw_buffer {
    explicit fw_buffer(std::size_t bytes) : memory(bytes) {}
    static bool uses_gpu() { return true; }

    cuda::DeviceBuffer memory;
};

fw_status fw_buffer_create(fw_buffer** buffer, size_t bytes, int32_t device) {
    return c::create(__func__, buffer, "buffer", [&] {
        c::check_range<size_t>(bytes, 1, std::size_t{1} << 40, "bytes");
        c::keep_current_gpu();
        cuda::use_device(device);
        return std::make_unique<fw_buffer>(bytes);
    });
}

void fw_buffer_destroy(fw_buffer* buffer) { c::destroy(__func__, buffer); }

void* fw_buffer_data(const fw_buffer* buffer) { return buffer ? buffer->memory.data() : nullptr; }

fw_status fw_stream_order(int32_t device, void* before, void* after) {
    return c::guard(__func__, [&] {
        c::keep_current_gpu();
        cuda::use_device(device);
        const cuda::Stream own;
        cuda::ForeignOrder order;
        order.enter(before, own);
        order.leave(own, after);
    });
}
