#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/foreign.hpp"
#include "framewire/cuda/stream.hpp"

// Replaces every other source of this folder in a build without CUDA: there are no GPUs, and every attempt to
// use one throws an Error that says why.

namespace framewire::cuda {
namespace {

constexpr auto reason = "this build has no CUDA support";

[[noreturn]] void absent() { fail(ErrorCode::config, "no CUDA GPU: {}", reason); }

}  // namespace

std::vector<DeviceInfo> devices() { return {}; }
void use_device(int) { absent(); }
int current_device() { absent(); }
std::string why_failed(int) { return reason; }
std::string why_no_device() { return reason; }
std::string toolkit_version() { return {}; }
std::string driver_version() { return {}; }
GpuLimits limits() { absent(); }
void lower_limits(const std::optional<GpuLimits>&) {}
ForeignHandles foreign_handles(const Stream&) { absent(); }
void ForeignOrder::enter(void*, const Stream&) { absent(); }
void ForeignOrder::leave(const Stream&, void*) { absent(); }
bool is_device_memory(const void*, int) { return false; }

Stream::Stream(Priority) { absent(); }
Stream::~Stream() = default;
void Stream::synchronize() const { absent(); }

Event::Event(Timing) { absent(); }
Event::~Event() = default;
void Event::record(const Stream&) { absent(); }
void Event::make_wait(const Stream&) const { absent(); }
void Event::synchronize() const { absent(); }
float Event::milliseconds_since(const Event&) const { absent(); }

Graph::Recording::Recording(const Stream&) { absent(); }
Graph::Recording::~Recording() = default;
CUgraphExec_st* Graph::Recording::finish() { absent(); }
Graph::~Graph() = default;
void Graph::launch(const Stream&) const { absent(); }
bool is_recording(const Stream&) { absent(); }
void record_branches(const Stream&, int, const std::function<void(int)>&) { absent(); }

HostMemory& pinned_memory() { absent(); }
DeviceBuffer::DeviceBuffer(std::size_t) { absent(); }
DeviceBuffer::~DeviceBuffer() = default;

void upload(HostView<const std::uint8_t>, DeviceView<std::uint8_t>, const Stream&) { absent(); }
void download(DeviceView<const std::uint8_t>, HostView<std::uint8_t>, const Stream&) { absent(); }
void copy(DeviceView<const std::uint8_t>, DeviceView<std::uint8_t>, const Stream&) { absent(); }
void upload(const void*, void*, std::size_t, const Stream&) { absent(); }
void download(const void*, void*, std::size_t, const Stream&) { absent(); }
void copy(const void*, void*, std::size_t, const Stream&) { absent(); }
void fill(void*, int, std::size_t, const Stream&) { absent(); }

}  // namespace framewire::cuda
