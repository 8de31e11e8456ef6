#include "framewire/cuda/executor.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>

namespace framewire {
namespace {

Backend choose(BackendChoice choice) {
    if (choice == BackendChoice::cpu) return Backend::cpu;
    const auto reason = cuda::why_no_device();
    if (reason.empty()) return Backend::cuda;
    if (choice == BackendChoice::cuda)
        fail(ErrorCode::config, "the cuda backend cannot run here: {}; cpu and auto can", reason);
    return Backend::cpu;
}

// Says it when it is new: a process may have an executor for each of many files.
void log_backend(const std::string& text) {
    static std::mutex mutex;
    static std::string last;
    const std::lock_guard lock(mutex);
    if (text == last) return;
    last = text;
    log_info("backend: {}", text);
}

}  // namespace

std::string_view to_string(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

BackendChoice parse_backend(std::string_view text) {
    if (text == "auto") return BackendChoice::automatic;
    if (text == "cpu") return BackendChoice::cpu;
    if (text == "cuda") return BackendChoice::cuda;
    fail(ErrorCode::usage, "no backend '{}'; allowed are auto, cpu, cuda", text);
}

Executor::Executor(BackendChoice choice, int threads) : backend_(choose(choice)), pool_(threads) {
    if (backend_ == Backend::cuda) {
        streams_.emplace();
        shared_memory_ = cuda::shared_memory();
        log_backend(fmt::format("cuda ({})", cuda::devices().front().name));
    } else {
        log_backend(fmt::format("cpu ({} threads)", pool_.threads()));
    }
}

const Executor::Streams& Executor::streams() const {
    if (!streams_) fail(ErrorCode::internal, "a stream was asked of the cpu backend");
    return *streams_;
}

void Executor::synchronize() const {
    if (streams_) streams_->work.synchronize();
}

void Executor::refuse_space(const char* who) const {
    fail(ErrorCode::internal, "memory of the {} for {} on the {} backend", backend_ == Backend::cuda ? "host" : "GPU",
         who, to_string(backend_));
}

void Executor::limit_shared_memory(const cuda::SharedMemory& most) {
    shared_memory_ = {std::min(shared_memory_.block_bytes, most.block_bytes),
                      std::min(shared_memory_.multiprocessor_bytes, most.multiprocessor_bytes)};
}

HostMemory& Executor::frame_memory() const { return backend_ == Backend::cuda ? cuda::pinned_memory() : heap_memory(); }

}  // namespace framewire
