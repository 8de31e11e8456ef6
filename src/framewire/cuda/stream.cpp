#include "framewire/cuda/stream.hpp"

#include "framewire/cuda/device/check.hpp"

namespace framewire::cuda {

Stream::Stream(Priority priority) {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking, priority == Priority::high ? highest : lowest));
}

Stream::~Stream() {
    if (handle_) cudaStreamDestroy(handle_);
}

void Stream::synchronize() const { check(cudaStreamSynchronize(handle_)); }

Event::Event(Timing timing) {
    check(cudaEventCreateWithFlags(&handle_, timing == Timing::kept ? cudaEventDefault : cudaEventDisableTiming));
}

Event::~Event() {
    if (handle_) cudaEventDestroy(handle_);
}

void Event::record(const Stream& stream) { check(cudaEventRecord(handle_, stream.handle())); }
void Event::make_wait(const Stream& stream) const { check(cudaStreamWaitEvent(stream.handle(), handle_, 0)); }
void Event::synchronize() const { check(cudaEventSynchronize(handle_)); }

float Event::milliseconds_since(const Event& begin) const {
    float elapsed_ms = 0;
    check(cudaEventElapsedTime(&elapsed_ms, begin.handle_, handle_));
    return elapsed_ms;
}

void Graph::begin(const Stream& stream) {
    check(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeThreadLocal));
}

void Graph::abandon(const Stream& stream) noexcept {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream.handle(), &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
}

void Graph::end(const Stream& stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.handle(), &graph));
    const auto status = cudaGraphInstantiate(&handle_, graph, 0);
    cudaGraphDestroy(graph);
    check(status);
}

Graph::~Graph() {
    if (handle_) cudaGraphExecDestroy(handle_);
}

void Graph::launch(const Stream& stream) const { check(cudaGraphLaunch(handle_, stream.handle())); }

}  // namespace framewire::cuda
