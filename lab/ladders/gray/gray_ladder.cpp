#include "framewire/core/error.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "ladders/gray/gray_kernels.hpp"
#include "ladders/kit/filter_ladder.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace framewire::bench {
namespace gray_ladder {

// Repeats section 7 of the streaming and filters report of 2022. Its figures 42 to 49 plot the times; its text has no
// numbers.

// Computes the average as in section 7.1.
void average_loop(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto* from = in.data();
    auto* to = out.data();
    for (std::int64_t i = 0; i < in.shape().bytes(); i += 3) {
        const int sum = from[i] + from[i + 1] + from[i + 2];
        to[i] = static_cast<std::uint8_t>(sum / 3);
        to[i + 1] = static_cast<std::uint8_t>(sum / 3);
        to[i + 2] = static_cast<std::uint8_t>(sum / 3);
    }
}

// Computes section 7's second formula in the same loop. Rounds to nearest; the report truncates.
void weighted_loop(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto* from = in.data();
    auto* to = out.data();
    for (std::int64_t i = 0; i < in.shape().bytes(); i += 3) {
        const auto gray = static_cast<std::uint8_t>(0.114 * from[i] + 0.587 * from[i + 1] + 0.299 * from[i + 2] + 0.5);
        to[i] = gray;
        to[i + 1] = gray;
        to[i + 2] = gray;
    }
}

// Throws unless each value is nearest to the formula with three decimals; of two equally near values either is
// accepted.
ImageCheck nearest_to_formula(HostView<const std::uint8_t> in) {
    return [=](HostView<const std::uint8_t> got, const std::string& operation) {
        for (int y = 0; y < in.shape().height; ++y)
            for (int x = 0; x < in.shape().width; ++x) {
                const auto* pixel = in.row(0, y) + 3 * x;
                const auto* gray = got.row(0, y) + 3 * x;
                const double formula = (114 * pixel[0] + 587 * pixel[1] + 299 * pixel[2]) / 1000.0;
                if (std::abs(gray[0] - formula) > 0.5001 || gray[1] != gray[0] || gray[2] != gray[0])
                    fail(ErrorCode::internal, "{}: pixel {},{} differs from the formula; not timed", operation, x, y);
            }
    };
}

#if FRAMEWIRE_BENCHES_ON_GPU
struct Checks {
    ImageCheck average, weighted, formula;
};

void run_kernels(FilterLadder& ladder, std::int64_t pixels, const cuda::Stream& stream, const Checks& checks) {
    const auto job = [&](int threads) { return GrayJob{ladder.device_in(), ladder.device_out(), pixels, threads}; };
    constexpr const char* whole_pixels = "fixed: each thread processes whole pixels";
    for (const int threads : {32, 64, 128, 256, 512, 1024})
        for (const bool pageable : {true, false})
            ladder.gpu({.operation = pageable ? "average, one block" : "average, asynchronous",
                        .details = {{"threads", std::to_string(threads)}},
                        .note = whole_pixels,
                        .pageable = pageable},
                       {{"kernel", [&, threads] { gray_by_bytes(job(threads), stream); }}}, checks.average);
    const auto chunked = [&](const char* name, LadderGray way, int chunk_bytes, const char* note,
                             const ImageCheck& check) {
        ladder.gpu({.operation = fmt::format("{}, chunks of {} bytes", name, chunk_bytes),
                    .details = {{"threads", "1024"}, {"chunk", std::to_string(chunk_bytes)}},
                    .note = note},
                   {{"kernel", [&, way, chunk_bytes] { gray_by_chunks(job(1024), chunk_bytes, way, stream); }}}, check);
    };
    for (const int chunk_bytes : {4, 16, 32})
        chunked("average", LadderGray::average, chunk_bytes, whole_pixels, checks.average);
    for (const int chunk_bytes : {4, 16, 32}) {
        chunked("weighted in doubles", LadderGray::weighted_doubles, chunk_bytes,
                "fixed: each thread processes whole pixels and rounds to nearest", checks.formula);
        chunked("weighted in integers", LadderGray::weighted_integers, chunk_bytes,
                "fixed: each thread processes whole pixels; OpenCV's integers instead of doubles", checks.weighted);
    }
    ladder.transfers();
}
#endif

void run_gray(Session& session) {
    // A check uses a frame whose size is not a multiple of the chunk size or the number of threads.
    const Shape shape = session.check_only() ? Shape{1, 181, 317, 3} : bench_frame;
    HostImage in(shape), average(shape), weighted(shape);
    fill_scene(in.view(), 1);
    gray_reference(GrayMethod::average, in.view(), average.view());
    gray_reference(GrayMethod::weighted, in.view(), weighted.view());
    const auto is_average = image_is(average.view()), is_weighted = image_is(weighted.view());
    const auto is_formula = nearest_to_formula(in.view());
    FilterLadder ladder(session, "gray", in.view(), shape);
    ladder.cpu({.operation = "average, loop"}, average_loop, is_average);
    ladder.cpu({.operation = "weighted in doubles, loop", .note = "rounds to nearest; the report truncates"},
               weighted_loop, is_formula);
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu())
        run_kernels(ladder, shape.bytes() / 3, session.gpu()->stream(), {is_average, is_weighted, is_formula});
#endif
    const auto info = gray_info();
    ladder.framewire({.operation = "framewire, average"}, info, with_defaults(info, {{"method", "average"}}),
                     is_average);
    ladder.framewire({.operation = "framewire, weighted"}, info, with_defaults(info, {}), is_weighted);
}

const SuiteEntry gray_ladder_suite{"ladders", "gray", run_gray};

}  // namespace gray_ladder
}  // namespace framewire::bench
