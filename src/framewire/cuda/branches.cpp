#include "framewire/cuda/branches.hpp"

#include "framewire/cuda/device/check.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire::cuda {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

struct Capture {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    Nodes last;  // what the next command would wait for
};

Capture capture_of(const Stream& stream) {
    Capture capture;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    check(cudaStreamGetCaptureInfo(stream.handle(), &capture.status, nullptr, nullptr, &nodes, nullptr, &count));
#else
    check(cudaStreamGetCaptureInfo_v2(stream.handle(), &capture.status, nullptr, nullptr, &nodes, &count));
#endif
    if (capture.status == cudaStreamCaptureStatusActive) capture.last.assign(nodes, nodes + count);
    return capture;
}

void let_next_wait_for(const Stream& stream, Nodes nodes) {
#if CUDART_VERSION >= 13000
    check(cudaStreamUpdateCaptureDependencies(stream.handle(), nodes.data(), nullptr, nodes.size(),
                                              cudaStreamSetCaptureDependencies));
#else
    check(cudaStreamUpdateCaptureDependencies(stream.handle(), nodes.data(), nodes.size(),
                                              cudaStreamSetCaptureDependencies));
#endif
}

}  // namespace

bool is_recording(const Stream& stream) { return capture_of(stream).status == cudaStreamCaptureStatusActive; }

void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body) {
    const auto fork = capture_of(stream).last;
    Nodes ends;
    for (int branch = 0; branch < count; ++branch) {
        let_next_wait_for(stream, fork);
        body(branch);
        const auto last = capture_of(stream).last;
        ends.insert(ends.end(), last.begin(), last.end());
    }
    std::ranges::sort(ends);
    ends.erase(std::ranges::unique(ends).begin(), ends.end());
    let_next_wait_for(stream, std::move(ends));
}

}  // namespace framewire::cuda
