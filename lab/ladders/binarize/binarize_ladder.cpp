#include "framewire/core/error.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/binarize_ref.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "ladders/binarize/binarize_kernels.hpp"
#include "ladders/gray/gray_kernels.hpp"
#include "ladders/kit/filter_ladder.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace framewire::bench {
namespace binarize_ladder {

// Repeats section 8 of the streaming and filters report of 2022. Its figures 52 to 61 plot the times; its text has no
// numbers. Each figure adds one step: gray and histogram, the two fullest bins, black and white.

// A frame, and the expected result of each step.
struct Scene {
    HostImage in, gray, want;
    Histogram histogram{};
    int threshold = 0;

    explicit Scene(const Shape& shape) : in(shape), gray(shape), want(shape) {
        fill_scene(in.view(), 1);
        gray_reference(GrayMethod::weighted, in.view(), gray.view());
        binarize_reference(
            [this](const Histogram& found) {
                histogram = found;
                return threshold = two_max_threshold(found);
            },
            in.view(), want.view());
    }

    void check_histogram(const Histogram& got, const std::string& operation) const {
        if (got != histogram) fail(ErrorCode::internal, "{}: the histogram differs from the reference", operation);
    }
    void check_threshold(int got, const std::string& operation) const {
        if (got != threshold) fail(ErrorCode::internal, "{}: the threshold is {}, not {}", operation, got, threshold);
    }
};

void gray_loop(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto* from = in.data();
    auto* to = out.data();
    for (std::int64_t i = 0; i < in.shape().bytes(); i += 3) {
        const int sum = 3735 * from[i] + 19235 * from[i + 1] + 9798 * from[i + 2] + 16384;
        const auto gray = static_cast<std::uint8_t>(sum >> 15);
        to[i] = gray;
        to[i + 1] = gray;
        to[i + 2] = gray;
    }
}

// Computes the histogram as in section 8.2.1.
Histogram histogram_loop(HostView<const std::uint8_t> gray) {
    Histogram histogram{};
    for (std::int64_t i = 0; i < gray.shape().bytes(); i += 3) ++histogram[gray.data()[i]];
    return histogram;
}

// Finds the threshold as in section 8.3.1. Among equally full bins the report takes the brighter one; when it finds a
// fuller bin, it keeps the previous maximum as the second one.
int two_max_loop(const Histogram& histogram) {
    std::int64_t most = -1, second = -1;
    int most_bin = 0, second_bin = 0;
    for (int bin = 0; bin < 256; ++bin) {
        const std::int64_t count = histogram[static_cast<std::size_t>(bin)];
        if (count > most) {
            second = most;
            second_bin = most_bin;
            most = count;
            most_bin = bin;
        } else if (count > second) {
            second = count;
            second_bin = bin;
        }
    }
    return std::clamp((most_bin + second_bin) / 2, 50, 200);
}

// Binarizes as in section 8.5.1.
void black_or_white_loop(int threshold, HostView<const std::uint8_t> gray, HostView<std::uint8_t> out) {
    for (std::int64_t i = 0; i < gray.shape().bytes(); ++i) out.data()[i] = gray.data()[i] > threshold ? 255 : 0;
}

void run_loops(FilterLadder& ladder, const Scene& scene) {
    HostImage gray(scene.in.shape());
    Histogram histogram{};
    int threshold = 0;
    const auto make_histogram = [&] {
        gray_loop(scene.in.view(), gray.view());
        histogram = histogram_loop(gray.view());
    };
    ladder.cpu_step({.operation = "loop: gray, histogram"}, make_histogram,
                    [&] { scene.check_histogram(histogram, "loop"); });
    ladder.cpu_step(
        {.operation = "loop: gray, histogram, two fullest bins", .note = "fixed: uses the second bin's own count"},
        [&] {
            make_histogram();
            threshold = two_max_loop(histogram);
        },
        [&] { scene.check_threshold(threshold, "loop"); });
    ladder.cpu(
        {.operation = "loop: all", .note = "fixed: uses the second fullest bin's own count"},
        [](auto in, auto out) {
            HostImage own_gray(in.shape());
            gray_loop(in, own_gray.view());
            black_or_white_loop(two_max_loop(histogram_loop(own_gray.view())), own_gray.view(), out);
        },
        image_is(scene.want.view()));
}

#if FRAMEWIRE_BENCHES_ON_GPU
// The kernels used for the histogram and for the result.
struct Kernels {
    bool shared = false;
    int chunk_bytes = 0;  // 0: byte by byte
    LadderGrid grid{};
};

void run_kernels(const Kernels& kernels, FilterLadder& ladder, const Scene& scene, const cuda::Stream& stream) {
    const auto shape = scene.in.shape();
    const auto pixels = shape.bytes() / 3;
    const cuda::DeviceBuffer gray(static_cast<std::size_t>(shape.bytes()) + 64), bins(sizeof(Histogram)), threshold(1);
    const BinarizeJob job{gray.data(), ladder.device_out(), pixels, bins.as<std::uint32_t>(), threshold.data()};
    const std::vector<LadderStep> steps{
        {"kernel gray",
         [&] {
             gray_by_chunks({ladder.device_in(), gray.data(), pixels, 1024}, 16, LadderGray::weighted_integers, stream);
         }},
        {"memset", [&] { cuda::fill(bins.data(), 0, bins.bytes(), stream); }},
        {"kernel histogram",
         [&] {
             (kernels.shared ? histogram_in_shared_memory : histogram_in_global_memory)(job, kernels.grid, stream);
         }},
        {"kernel two max", [&] { two_max_by_reduction(job, stream); }},
        {"kernel binarize",
         [&] {
             if (kernels.chunk_bytes == 0)
                 binarize_by_bytes(job, kernels.grid, stream);
             else
                 binarize_by_chunks(job, kernels.chunk_bytes, kernels.grid, stream);
         }},
    };
    const auto operation =
        fmt::format("{} atomics, {}", kernels.shared ? "shared" : "global",
                    kernels.chunk_bytes ? fmt::format("chunks of {} bytes", kernels.chunk_bytes) : "by bytes");
    ladder.gpu({.operation = operation,
                .details = {{"blocks", std::to_string(kernels.grid.blocks)},
                            {"threads", std::to_string(kernels.grid.threads)}},
                .note = "fixed: each block's bins start at 0, and the two fullest bins are found instead of the "
                        "fullest even and odd ones"},
               steps, [&](HostView<const std::uint8_t> got, const std::string& what) {
                   Histogram histogram{};
                   std::uint8_t found = 0;
                   cuda::download(bins.data(), histogram.data(), sizeof histogram, stream);
                   cuda::download(threshold.data(), &found, 1, stream);
                   stream.synchronize();
                   scene.check_histogram(histogram, what);
                   scene.check_threshold(found, what);
                   Session::require_equal(got, scene.want.view(), what);
               });
}

// Checks histograms whose two fullest bins are hard to find: both even, both odd, equally full, a single value.
void check_two_max(const cuda::Stream& stream) {
    const cuda::DeviceBuffer bins(sizeof(Histogram)), threshold(1);
    const BinarizeJob job{nullptr, nullptr, 0, bins.as<std::uint32_t>(), threshold.data()};
    const std::vector<std::pair<int, int>> fullest{{100, 102}, {101, 103}, {7, 8},     {90, 90},  {0, 0},
                                                   {255, 255}, {0, 255},   {254, 255}, {128, 64}, {60, 200}};
    for (const auto& [first, second] : fullest)
        for (const std::uint32_t more : {0u, 5u}) {
            Histogram histogram{};
            histogram[static_cast<std::size_t>(second)] = 50;
            histogram[static_cast<std::size_t>(first)] = 50 + more;
            cuda::upload(histogram.data(), bins.data(), sizeof histogram, stream);
            two_max_by_reduction(job, stream);
            std::uint8_t got = 0;
            cuda::download(threshold.data(), &got, 1, stream);
            stream.synchronize();
            if (got != two_max_threshold(histogram))
                fail(ErrorCode::internal, "bins {} and {}: the reduction's threshold is {}, not {}", first, second, got,
                     two_max_threshold(histogram));
        }
}
#endif

void run_binarize(Session& session) {
    // A check uses a frame whose size is not a multiple of the chunk size or the number of threads.
    const Scene scene(session.check_only() ? Shape{1, 181, 317, 3} : bench_frame);
    FilterLadder ladder(session, "binarize", scene.in.view(), scene.in.shape());
    run_loops(ladder, scene);
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu()) {
        const auto& stream = session.gpu()->stream();
        session.attempt("binarize: two fullest bins by reduction", [&] { check_two_max(stream); });
        // Chunk sizes are measured with the report's grid and with a common one, which is enough for a profiler.
        const std::vector<LadderGrid> two{{1, 1024}, {256, 256}};
        const std::vector<LadderGrid> others{{1, 256}, {32, 256}, {1024, 256}};
        for (const bool shared : {false, true}) {
            for (const auto grid : two)
                for (const int chunk_bytes : {0, 4, 16, 32})
                    run_kernels({shared, chunk_bytes, grid}, ladder, scene, stream);
            if (session.once()) continue;
            for (const auto grid : others) run_kernels({shared, 16, grid}, ladder, scene, stream);
        }
        ladder.transfers();
    }
#endif
    const auto info = binarize_info();
    ladder.framewire({.operation = "framewire, two-max"}, info, with_defaults(info, {{"method", "two-max"}}),
                     image_is(scene.want.view()));
}

const SuiteEntry binarize_ladder_suite{"ladders", "binarize", run_binarize};

}  // namespace binarize_ladder
}  // namespace framewire::bench
