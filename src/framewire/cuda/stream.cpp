#include "framewire/cuda/stream.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/check.hpp"

// Streams and events. Every handle is resolved at the time of a call, since a recording replaces it.

namespace framewire::cuda {

Stream::Stream(Priority priority) {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    // Non-blocking: the stream does not synchronize with the default stream.
    check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking, priority == Priority::high ? highest : lowest));
}

Stream::~Stream() {
    if (handle_) cudaStreamDestroy(handle_);
}

CUstream_st* Stream::target(CallPlace where) const {
    // A recording applies to the current thread only.
    const auto* recording = Graph::Recording::current();
    return recording ? recording->target_of(handle_, where) : handle_;
}

void Stream::confirm(CallPlace where) {
    if (auto* recording = Graph::Recording::current()) recording->confirm(where);
}

void Stream::synchronize() const {
    if (Graph::Recording::current()) fail(ErrorCode::internal, "a stream is waited for while a graph is recorded");
    check(cudaStreamSynchronize(handle_));
}

Event::Event(Timing timing) {
    // Events without a time stamp are cheaper to record.
    check(cudaEventCreateWithFlags(&handle_, timing == Timing::kept ? cudaEventDefault : cudaEventDisableTiming));
}

Event::~Event() {
    if (handle_) cudaEventDestroy(handle_);
}

void Event::record(const Stream& stream) { check(cudaEventRecord(handle_, stream.target())); }
void Event::make_wait(const Stream& stream) const { check(cudaStreamWaitEvent(stream.target(), handle_, 0)); }
void Event::synchronize() const { check(cudaEventSynchronize(handle_)); }

float Event::milliseconds_since(const Event& begin) const {
    float elapsed_ms = 0;
    check(cudaEventElapsedTime(&elapsed_ms, begin.handle_, handle_));
    return elapsed_ms;
}

}  // namespace framewire::cuda
