#include "framewire/cuda/stream.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

// Streams and events. Every handle is resolved at the time of a call, since a recording replaces it.

namespace framewire::cuda {

Stream::Stream(Priority priority) : device_(current_device()) {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    // Non-blocking: the stream does not synchronize with the default stream.
    check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking, priority == Priority::high ? highest : lowest));
}

Stream::~Stream() {
    if (handle_) cudaStreamDestroy(handle_);
}

CUstream_st* Stream::target(CallPlace where) const {
    use_device(device_);
    // A recording applies to the current thread only.
    const auto* recording = Graph::Recording::current();
    return recording ? recording->target_of(handle_, where) : handle_;
}

void Stream::confirm(CallPlace where) {
    if (auto* recording = Graph::Recording::current()) recording->confirm(where);
}

void Stream::synchronize() const {
    if (Graph::Recording::current())
        fail(ErrorCode::internal, "cannot wait for a stream while a graph is being recorded");
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

// CUDA graphs by stream capture. Commands are captured on a private stream, so work that other threads queue on
// the recorded stream is not affected. Two mistakes are detected while recording: work on another stream, and
// work queued on a handle that was kept from before (the number of nodes does not grow).

namespace framewire::cuda {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

// State of a stream's capture.
struct Capture {
    bool active = false;
    Nodes last;             // nodes that the next captured command would depend on
    std::size_t nodes = 0;  // number of nodes captured so far
};

Capture capture_of(cudaStream_t stream) {
    Capture capture;
    auto status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* last = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count));
#else
    check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &last, &count));
#endif
    if (status == cudaStreamCaptureStatusInvalidated) check(cudaErrorStreamCaptureInvalidated);
    capture.active = status == cudaStreamCaptureStatusActive;
    if (!capture.active) return capture;
    capture.last.assign(last, last + count);
    check(cudaGraphGetNodes(graph, nullptr, &capture.nodes));
    return capture;
}

// Replaces the dependencies of the next captured command.
void let_next_wait_for(cudaStream_t stream, Nodes nodes) {
#if CUDART_VERSION >= 13000
    check(cudaStreamUpdateCaptureDependencies(stream, nodes.data(), nullptr, nodes.size(),
                                              cudaStreamSetCaptureDependencies));
#else
    check(cudaStreamUpdateCaptureDependencies(stream, nodes.data(), nodes.size(), cudaStreamSetCaptureDependencies));
#endif
}

}  // namespace

Graph::Recording*& Graph::Recording::current() {
    thread_local Recording* recording = nullptr;
    return recording;
}

// Capture mode "thread local": CUDA calls of other threads neither fail nor get into the graph.
Graph::Recording::Recording(const Stream& stream) : recorded_((use_device(stream.device_), stream.handle_)) {
    if (current()) fail(ErrorCode::internal, "cannot record a graph while another is being recorded");
    check(cudaStreamBeginCapture(capture_.handle_, cudaStreamCaptureModeThreadLocal));
    capturing_ = true;
    current() = this;
}

// Reached with `capturing_` set only if the body threw. Ending the capture makes the stream usable again.
Graph::Recording::~Recording() {
    if (!capturing_) return;
    current() = nullptr;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(capture_.handle_, &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
}

CUstream_st* Graph::Recording::target_of(CUstream_st* handle, CallPlace where) const {
    if (handle != recorded_)
        fail(ErrorCode::internal, "CUDA: work is queued on a stream other than the one being recorded, at {}",
             place(where.file, where.line));
    return capture_.handle_;
}

// Called after each queue(). A command that kept an old stream handle would run at once and be missing from
// every replay, so its absence is an error now, when its place in the sources is still known.
void Graph::Recording::confirm(CallPlace where) {
    const auto nodes = capture_of(capture_.handle_).nodes;
    if (nodes <= nodes_)
        fail(ErrorCode::internal, "CUDA: work queued at {} is missing from the graph that is being recorded",
             place(where.file, where.line));
    nodes_ = nodes;
}

CUgraphExec_st* Graph::Recording::finish() {
    const auto nodes = capture_of(capture_.handle_).nodes;
    // Work that was queued outside of queue() would be in the graph without having been counted.
    if (nodes == 0 || nodes != nodes_)
        fail(ErrorCode::internal, "CUDA: a recorded graph has {} nodes, but {} were queued", nodes, nodes_);
    cudaGraph_t graph = nullptr;
    capturing_ = false;
    current() = nullptr;
    check(cudaStreamEndCapture(capture_.handle_, &graph));
    CUgraphExec_st* made = nullptr;
    const auto status = cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    check(status);
    return made;
}

Graph::~Graph() {
    if (handle_) cudaGraphExecDestroy(handle_);
}

void Graph::launch(const Stream& stream) const {
    stream.queue([&](CUstream_st* handle) { check(cudaGraphLaunch(handle_, handle)); });
}

bool is_recording(const Stream& stream) { return capture_of(stream.target()).active; }

// The capture is sequential, but its dependencies can be set: each branch starts from the same nodes, and the
// last nodes of all branches together become the dependencies of whatever follows.
void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body) {
    const auto handle = stream.target();
    const auto fork = capture_of(handle).last;
    Nodes ends;
    for (int branch = 0; branch < count; ++branch) {
        let_next_wait_for(handle, fork);
        body(branch);
        const auto last = capture_of(handle).last;
        ends.insert(ends.end(), last.begin(), last.end());
    }
    // Branches may end in the same nodes, and dependencies must be unique.
    std::ranges::sort(ends);
    ends.erase(std::ranges::unique(ends).begin(), ends.end());
    let_next_wait_for(handle, std::move(ends));
}

}  // namespace framewire::cuda
