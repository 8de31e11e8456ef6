#include "peers/gpu/npp_steps.hpp"

#include "framewire/core/error.hpp"

#if FRAMEWIRE_NPP
#include "framewire/core/dynamic_library.hpp"
#include "framewire/cuda/buffer.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#endif

namespace framewire::bench::npp {

#if FRAMEWIRE_NPP
namespace {

// NPP's types and functions, as CUDA 12 and 13 define them; this program is built without NPP's headers.
struct Size {
    int width, height;
};
struct Point {
    int x, y;
};
struct Rect {
    int x, y, width, height;
};
struct Context {
    cudaStream_t stream;
    int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
    std::size_t shared_memory_per_block;
    int major, minor;
    unsigned stream_flags;
    int reserved;
};
using Byte = std::uint8_t;
constexpr int replicate = 2;                  // NPP_BORDER_REPLICATE
constexpr int linear = 2, supersampling = 8;  // NPPI_INTER_LINEAR, NPPI_INTER_SUPER
constexpr int eight_neighbours = 0;           // nppiNormInf

using ToGray = int(const Byte*, int, Byte*, int, Size, const float*, Context);
using Box = int(const Byte*, int, Size, Point, Byte*, int, Size, Size, Point, int, Context);
using Gauss = int(const Byte*, int, Size, Point, Byte*, int, Size, int, const float*, int, Context);
using MedianBytes = int(Size, Size, std::uint32_t*, Context);
using Median = int(const Byte*, int, Byte*, int, Size, Size, Point, Byte*, Context);
using Morphology = int(const Byte*, int, Size, Point, Byte*, int, Size, const Byte*, Size, Point, int, Context);
using Resize = int(const Byte*, int, Size, Rect, Byte*, int, Size, Rect, int, Context);
using LabelsBytes = int(Size, int*);
using LabelMarkers = int(Byte*, int, std::uint32_t*, int, Size, int, Byte*, Context);

// Opens one of NPP's libraries, such as "if" (filters), and the library that all of them need.
DynamicLibrary library(const char* part) {
    std::string complaint;
    for (const int version : {13, 12})
        for (const char* folder : {"", "/usr/local/cuda/lib64/"}) try {
                const DynamicLibrary common(fmt::format("{}libnppc.so.{}", folder, version));
                return DynamicLibrary(fmt::format("{}libnpp{}.so.{}", folder, part, version));
            } catch (const Error& error) {
                complaint = complaint.empty() ? error.what() : complaint;
            }
    fail(ErrorCode::config, "NPP is not available: {}", complaint);
}

template <class Function>
std::add_pointer_t<Function> function(const char* part, const char* name) {
    return library(part).function<Function>(name);
}

void check(int status, const char* what) {
    if (status < 0) fail(ErrorCode::internal, "NPP's {} failed with status {}", what, status);
}

// Returns NPP's context for the current GPU, without a stream, which each call sets.
Context context_of_gpu() {
    Context context{nullptr, 0, 0, 0, 0, 0, 0, 0, cudaStreamNonBlocking, 0};
    int shared = 0;
    const auto ask = [&](int& value, cudaDeviceAttr attribute) {
        if (cudaDeviceGetAttribute(&value, attribute, context.device) != cudaSuccess)
            fail(ErrorCode::internal, "cannot query attribute {} of the GPU", static_cast<int>(attribute));
    };
    if (cudaGetDevice(&context.device) != cudaSuccess) fail(ErrorCode::config, "there is no GPU");
    ask(context.multiprocessors, cudaDevAttrMultiProcessorCount);
    ask(context.threads_per_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor);
    ask(context.threads_per_block, cudaDevAttrMaxThreadsPerBlock);
    ask(shared, cudaDevAttrMaxSharedMemoryPerBlock);
    ask(context.major, cudaDevAttrComputeCapabilityMajor);
    ask(context.minor, cudaDevAttrComputeCapabilityMinor);
    context.shared_memory_per_block = static_cast<std::size_t>(shared);
    return context;
}

// Calls call(context) to queue a step on the stream.
template <class Call>
void queue(const cuda::Stream& stream, Context context, Call&& call) {
    stream.queue([&](cudaStream_t handle) {
        context.stream = handle;
        call(context);
    });
}

Size size_of(const Shape& shape) { return {shape.width, shape.height}; }
int step_of(const Shape& shape) { return static_cast<int>(shape.row_bytes()); }

// Copies the values that a step reads to the GPU. The copy lives as long as the step.
template <class T>
std::shared_ptr<cuda::DeviceBuffer> on_device(const std::vector<T>& numbers, const cuda::Stream& stream) {
    const auto bytes = numbers.size() * sizeof(T);
    auto buffer = std::make_shared<cuda::DeviceBuffer>(bytes);
    cuda::upload(numbers.data(), buffer->data(), bytes, stream);
    stream.synchronize();
    return buffer;
}

Step morphology(const char* name, const std::vector<Byte>& mask, int size) {
    return [=](const Shape& in, const Shape&, const cuda::Stream& stream) -> DeviceStep {
        const auto run = function<Morphology>("im", name);
        return [=, &stream, device = on_device(mask, stream), settled = context_of_gpu()](auto from, auto to) {
            queue(stream, settled, [&](const Context& context) {
                check(run(from.data(), step_of(in), size_of(in), {0, 0}, to.data(), step_of(in), size_of(in),
                          device->data(), {size, size}, {size / 2, size / 2}, replicate, context),
                      name);
            });
        };
    };
}

Step resize(int interpolation) {
    return [=](const Shape& in, const Shape& out, const cuda::Stream& stream) -> DeviceStep {
        const auto run = function<Resize>("ig", "nppiResize_8u_C3R_Ctx");
        return [=, &stream, settled = context_of_gpu()](auto from, auto to) {
            queue(stream, settled, [&](const Context& context) {
                check(run(from.data(), step_of(in), size_of(in), {0, 0, in.width, in.height}, to.data(), step_of(out),
                          size_of(out), {0, 0, out.width, out.height}, interpolation, context),
                      "resize");
            });
        };
    };
}

}  // namespace

Step gray() {
    return [](const Shape& in, const Shape& out, const cuda::Stream& stream) -> DeviceStep {
        const auto run = function<ToGray>("icc", "nppiColorToGray_8u_C3C1R_Ctx");
        return [=, &stream, settled = context_of_gpu()](auto from, auto to) {
            constexpr float weights[] = {0.114f, 0.587f, 0.299f};
            queue(stream, settled, [&](const Context& context) {
                check(run(from.data(), step_of(in), to.data(), step_of(out), size_of(in), weights, context), "gray");
            });
        };
    };
}

Step mean(int size) {
    return [=](const Shape& in, const Shape&, const cuda::Stream& stream) -> DeviceStep {
        const auto run = function<Box>("if", "nppiFilterBoxBorder_8u_C3R_Ctx");
        return [=, &stream, settled = context_of_gpu()](auto from, auto to) {
            queue(stream, settled, [&](const Context& context) {
                check(run(from.data(), step_of(in), size_of(in), {0, 0}, to.data(), step_of(in), size_of(in),
                          {size, size}, {size / 2, size / 2}, replicate, context),
                      "box filter");
            });
        };
    };
}

// NPP writes eight bytes at once, and faults on dense rows that are not aligned accordingly.
Step gaussian(int size) {
    return [=](const Shape& in, const Shape&, const cuda::Stream& stream) -> DeviceStep {
        if (step_of(in) % 8 != 0)
            fail(ErrorCode::config, "NPP's Gaussian does not support dense rows of {} bytes: they are not aligned to 8",
                 step_of(in));
        const double sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
        std::vector<float> weights;
        double sum = 0;
        for (int at = -(size / 2); at <= size / 2; ++at) sum += std::exp(-at * at / (2 * sigma * sigma));
        for (int at = -(size / 2); at <= size / 2; ++at)
            weights.push_back(static_cast<float>(std::exp(-at * at / (2 * sigma * sigma)) / sum));
        const auto run = function<Gauss>("if", "nppiFilterGaussAdvancedBorder_8u_C3R_Ctx");
        return [=, &stream, device = on_device(weights, stream), settled = context_of_gpu()](auto from, auto to) {
            queue(stream, settled, [&](const Context& context) {
                check(run(from.data(), step_of(in), size_of(in), {0, 0}, to.data(), step_of(in), size_of(in), size,
                          device->template as<float>(), replicate, context),
                      "Gaussian");
            });
        };
    };
}

// NPP does not extend the image here: it computes only pixels whose window lies inside the frame.
Step median(int size) {
    return [=](const Shape& in, const Shape&, const cuda::Stream& stream) -> DeviceStep {
        const int radius = size / 2;
        const Size inner{in.width - 2 * radius, in.height - 2 * radius};
        const auto settled = context_of_gpu();
        std::uint32_t bytes = 0;
        check(function<MedianBytes>("if", "nppiFilterMedianGetBufferSize_8u_C3R_Ctx")(inner, {size, size}, &bytes,
                                                                                      settled),
              "median's memory");
        const auto scratch = std::make_shared<cuda::DeviceBuffer>(bytes + std::size_t{1});
        const auto run = function<Median>("if", "nppiFilterMedian_8u_C3R_Ctx");
        return [=, &stream](auto from, auto to) {
            queue(stream, settled, [&](const Context& context) {
                check(run(from.row(0, radius) + 3 * radius, step_of(in), to.row(0, radius) + 3 * radius, step_of(in),
                          inner, {size, size}, {radius, radius}, scratch->data(), context),
                      "median");
            });
        };
    };
}

Step dilate(const std::vector<Byte>& mask, int size) { return morphology("nppiDilateBorder_8u_C3R_Ctx", mask, size); }

Step erode(const std::vector<Byte>& mask, int size) { return morphology("nppiErodeBorder_8u_C3R_Ctx", mask, size); }

Step area() { return resize(supersampling); }
Step bilinear() { return resize(linear); }

Labels labels(const Shape& mask, const cuda::Stream& stream) {
    int bytes = 0;
    check(function<LabelsBytes>("if", "nppiLabelMarkersUFGetBufferSize_32u_C1R")(size_of(mask), &bytes),
          "labels' memory");
    const auto scratch = std::make_shared<cuda::DeviceBuffer>(static_cast<std::size_t>(bytes));
    const auto run = function<LabelMarkers>("if", "nppiLabelMarkersUF_8u32u_C1R_Ctx");
    return [=, &stream, settled = context_of_gpu()](DeviceView<std::uint8_t> from, std::uint32_t* to) {
        queue(stream, settled, [&](const Context& context) {
            check(run(from.data(), step_of(mask), to, static_cast<int>(sizeof(std::uint32_t)) * mask.width,
                      size_of(mask), eight_neighbours, scratch->data(), context),
                  "labels");
        });
    };
}
#else
Step gray() { return {}; }
Step mean(int) { return {}; }
Step gaussian(int) { return {}; }
Step median(int) { return {}; }
Step dilate(const std::vector<std::uint8_t>&, int) { return {}; }
Step erode(const std::vector<std::uint8_t>&, int) { return {}; }
Step area() { return {}; }
Step bilinear() { return {}; }
Labels labels(const Shape&, const cuda::Stream&) { fail(ErrorCode::config, "this build has no CUDA support"); }
#endif

}  // namespace framewire::bench::npp
