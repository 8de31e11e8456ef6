#include "framewire/cuda/executor.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/buffer.hpp"

#include <fmt/ranges.h>

#include <vector>

// Copies on separate streams, ordered with events:
//
//     up():    upload stream:   copy --end-->  work stream: later work
//     down():  work stream:  earlier work --begin-->  download stream: copy --end-->  wait()

namespace framewire::cuda {

// `begin` marks the point of the executor's stream that downloads wait for, `end` the end of the copies.
struct Transfer::Events {
    Event begin{Event::Timing::none}, end{Event::Timing::none};
    bool under_way = false;
};

Transfer::Transfer() = default;

Transfer::Transfer(const Executor& executor)
    : executor_(&executor), events_((executor.use_gpu(), executor.gpu()) ? std::make_unique<Events>() : nullptr) {}

Transfer::Transfer(Transfer&&) noexcept = default;

Transfer& Transfer::operator=(Transfer&& other) noexcept {
    std::swap(executor_, other.executor_);
    std::swap(events_, other.events_);
    return *this;
}

Transfer::~Transfer() {
    try {
        wait();
    } catch (const Error&) {
        // The caller that asked for the copies has seen the error, or will see it on its next call.
    }
}

void Transfer::finish_up() {
    events_->end.record(executor_->uploads());
    events_->under_way = true;
}

void Transfer::join_up() {
    if (events_) events_->end.make_wait(executor_->stream());
}

void Transfer::begin_down() {
    events_->begin.record(executor_->stream());
    events_->begin.make_wait(executor_->downloads());
}

void Transfer::finish_down() {
    events_->end.record(executor_->downloads());
    events_->under_way = true;
}

void Transfer::wait() {
    if (!events_ || !events_->under_way) return;
    events_->end.synchronize();
    events_->under_way = false;
}

}  // namespace framewire::cuda

// The choice of the backend, and what plans share: threads, streams and limits.

namespace framewire {
namespace {

// Chooses the backend. `automatic` falls back to the CPU; an explicit `cuda` never does.
Backend choose(BackendChoice choice) {
    if (choice == BackendChoice::cpu) return Backend::cpu;
    const auto reason = cuda::why_no_device();
    if (reason.empty()) return Backend::cuda;
    if (choice == BackendChoice::cuda)
        fail(ErrorCode::config, "the cuda backend is not available here: {}; use cpu or auto", reason);
    return Backend::cpu;
}

// Returns the GPU with this index.
cuda::DeviceInfo gpu_at(int index) {
    const auto all = cuda::devices();
    for (const auto& gpu : all)
        if (gpu.index == index) return gpu;
    std::vector<int> allowed;
    for (const auto& gpu : all) allowed.push_back(gpu.index);
    fail(ErrorCode::config, "there is no GPU {}; allowed: {}", index, fmt::join(allowed, ", "));
}

}  // namespace

std::string_view to_string(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

BackendChoice parse_backend(std::string_view text) {
    if (text == "auto") return BackendChoice::automatic;
    if (text == "cpu") return BackendChoice::cpu;
    if (text == "cuda") return BackendChoice::cuda;
    fail(ErrorCode::usage, "unknown backend '{}'; allowed: auto, cpu, cuda", text);
}

Executor::Executor(BackendChoice choice, int threads, int gpu) : backend_(choose(choice)), pool_(threads) {
    if (backend_ == Backend::cuda) {
        const auto chosen = gpu_at(gpu);
        cuda::use_device(gpu);
        streams_.emplace();
        log_debug("backend: cuda (GPU {}, {})", gpu, chosen.name);
    } else {
        log_debug("backend: cpu ({} threads)", pool_.threads());
    }
}

const Executor::Streams& Executor::streams() const {
    if (!streams_) fail(ErrorCode::internal, "the cpu backend has no CUDA stream");
    return *streams_;
}

void Executor::use_gpu() const {
    if (streams_) cuda::use_device(streams_->work.device());
}

void Executor::synchronize() const {
    // Operations of the CPU backend are done when they return.
    if (streams_) streams_->work.synchronize();
}

void Executor::refuse_space(const char* who) const {
    fail(ErrorCode::internal, "{} cannot use {} memory on the {} backend", who,
         backend_ == Backend::cuda ? "host" : "GPU", to_string(backend_));
}

// Pinned memory is made in the context of a GPU, which must not be one that has failed.
HostMemory& Executor::frame_memory() const {
    use_gpu();
    return backend_ == Backend::cuda ? cuda::pinned_memory() : heap_memory();
}

// Uploads come first, because work waits for them, and downloads wait for work.
void Executor::wait_for_all() const {
    if (!streams_) return;
    streams_->up.synchronize();
    streams_->work.synchronize();
    streams_->down.synchronize();
}

bool& Executor::in_step() {
    // Steps are only nested within one thread.
    thread_local bool within = false;
    return within;
}

}  // namespace framewire
