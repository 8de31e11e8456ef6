#include "framewire/core/error.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/filters/mosaic_ref.hpp"
#include "ladders/kit/filter_ladder.hpp"
#include "ladders/mosaic/mosaic_kernels.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace framewire::bench {
namespace mosaic_ladder {

// Repeats the mosaic report: its first strategy, in which every pixel's thread adds to its cell in global memory, and
// its second, in which a block sums its cell in shared memory.

// Measurements of one program run in the report's tables 1 and 2.
struct Measured {
    int width, height, cell_px;
    double global_us, shared_us;  // 0: not measured
};
constexpr Measured report[] = {
    {2048, 2048, 32, 18339.296, 5934.784},  {2048, 2048, 64, 18536.064, 0},  {2048, 2048, 128, 20188.0, 0},
    {6000, 4000, 32, 98181.763, 30585.665}, {6000, 4000, 128, 103302.91, 0}, {6000, 4000, 256, 98186.012, 0},
    {6000, 4000, 512, 123042.62, 0},        {1920, 1080, 32, 0, 0},
};

// Runs the first strategy as a loop: adds each pixel to its cell, then sets each pixel to its cell's mean.
void mosaic_loop(int cell_px, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int columns = (shape.width + cell_px - 1) / cell_px, rows = (shape.height + cell_px - 1) / cell_px;
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(columns * rows * 3)),
        counts(static_cast<std::size_t>(columns * rows));
    const auto cell_of = [&](int y, int x) { return static_cast<std::size_t>(y / cell_px * columns + x / cell_px); };
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const auto cell = cell_of(y, x);
            for (std::size_t channel = 0; channel < 3; ++channel)
                sums[cell * 3 + channel] += in.row(0, y)[static_cast<std::size_t>(x) * 3 + channel];
            ++counts[cell];
        }
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const auto cell = cell_of(y, x);
            for (std::size_t channel = 0; channel < 3; ++channel)
                out.row(0, y)[static_cast<std::size_t>(x) * 3 + channel] =
                    static_cast<std::uint8_t>((2 * sums[cell * 3 + channel] + counts[cell]) / (2 * counts[cell]));
        }
}

#if FRAMEWIRE_BENCHES_ON_GPU
std::optional<Reported> reported(const char* where, double us) {
    if (us == 0) return {};
    return Reported{where, "Quadro P4000", us};
}

enum class Strategy { global, shared };

constexpr const char* name_of(Strategy strategy) {
    return strategy == Strategy::global ? "atomics in global memory" : "atomics in shared memory";
}

constexpr const char* mended(Strategy strategy) {
    if (strategy == Strategy::global) return "fixed: 64-bit totals, rounded means";
    return "fixed: at most 1024 threads per block for every cell, no pixel skipped, 64-bit totals, rounded means";
}

// Buffers for the sums of both strategies on the GPU, for cells down to one pixel.
class Sums {
public:
    Sums(const Shape& shape, int cell_px, const FilterLadder& ladder, const cuda::Stream& stream) : stream_(&stream) {
        job_.width = shape.width;
        job_.height = shape.height;
        job_.cell_px = cell_px;
        job_.in = ladder.device_in();
        job_.out = ladder.device_out();
        const auto cells = static_cast<std::size_t>(job_.columns()) * static_cast<std::size_t>(job_.rows());
        buffer_ = cuda::DeviceBuffer(totals_bytes + cells * 4 * sizeof(std::uint32_t));
        job_.totals = buffer_.as<unsigned long long>();
        job_.sums = reinterpret_cast<std::uint32_t*>(buffer_.data() + totals_bytes);
        job_.counts = job_.sums + cells * 3;
    }

    std::vector<LadderStep> steps(Strategy strategy, int threads) const {
        const auto add = strategy == Strategy::global ? mosaic_add_in_global_memory : mosaic_add_in_shared_memory;
        return {{"memset", [this] { cuda::fill(buffer_.data(), 0, buffer_.bytes(), *stream_); }},
                {"kernel add_up", [this, add, threads] { add(job_, threads, *stream_); }},
                {"kernel avg", [this, threads] { mosaic_write_means(job_, threads, *stream_); }}};
    }

    // Throws unless the frame's totals, which the report shows, are correct.
    void check_totals(const std::array<std::uint64_t, 3>& want, const std::string& operation) const {
        std::array<std::uint64_t, 3> got{};
        cuda::download(job_.totals, got.data(), sizeof got, *stream_);
        stream_->synchronize();
        if (got != want) fail(ErrorCode::internal, "{}: the frame's sums differ from the reference", operation);
    }

private:
    static constexpr std::size_t totals_bytes = 64;
    const cuda::Stream* stream_;
    cuda::DeviceBuffer buffer_;
    MosaicJob job_;
};

std::array<std::uint64_t, 3> totals_of(HostView<const std::uint8_t> image) {
    std::array<std::uint64_t, 3> totals{};
    for (int y = 0; y < image.shape().height; ++y)
        for (std::int64_t x = 0; x < image.shape().row_bytes(); ++x)
            totals[static_cast<std::size_t>(x % 3)] += image.row(0, y)[x];
    return totals;
}

void run_strategies(const Measured& measured, FilterLadder& ladder, HostView<const std::uint8_t> in,
                    HostView<const std::uint8_t> want, const Session& session, const cuda::Stream& stream) {
    const Sums sums(in.shape(), measured.cell_px, ladder, stream);
    const auto totals = totals_of(in);
    const auto check = [&](HostView<const std::uint8_t> got, const std::string& operation) {
        Session::require_equal(got, want, operation);
        sums.check_totals(totals, operation);
    };
    const bool sweep = measured.width == 2048 && measured.cell_px == 32 && !session.once();
    for (const auto strategy : {Strategy::global, Strategy::shared})
        for (const int threads : sweep ? std::vector{64, 128, 256, 512, 1024} : std::vector{1024}) {
            const bool is_global = strategy == Strategy::global;
            const auto us = threads < 1024 ? 0 : is_global ? measured.global_us : measured.shared_us;
            ladder.gpu(
                {.operation = fmt::format("{}, cell {}", name_of(strategy), measured.cell_px),
                 .details = {{"threads", std::to_string(threads)}},
                 .note = mended(strategy),
                 .reported = reported(is_global && measured.cell_px != 32 ? "mosaic, table 1" : "mosaic, table 2", us)},
                sums.steps(strategy, threads), check);
        }
}

// Checks both strategies with every cell size from 1 to 512 pixels, on a frame whose size is not a multiple of the cell
// size.
void check_every_cell(Session& session) {
    HostImage in({1, 517, 530, 3}), want(in.shape()), out(in.shape());
    fill_scene(in.view(), 5);
    const auto totals = totals_of(in.view());
    const auto& stream = session.gpu()->stream();
    const FilterLadder ladder(session, "mosaic", in.view(), in.shape());
    for (int cell_px = 1; cell_px <= 512; ++cell_px) {
        mosaic_reference({.cell_px = cell_px}, in.view(), want.view());
        const Sums sums(in.shape(), cell_px, ladder, stream);
        for (const auto strategy : {Strategy::global, Strategy::shared}) {
            const auto operation = fmt::format("{}, cell {} of 530x517", name_of(strategy), cell_px);
            cuda::fill(ladder.device_out(), 0x5A, static_cast<std::size_t>(in.shape().bytes()), stream);
            for (const auto& step : sums.steps(strategy, 1024)) step.queue();
            cuda::download(ladder.device_out(), out.view().data(), static_cast<std::size_t>(in.shape().bytes()),
                           stream);
            stream.synchronize();
            Session::require_equal(out.view(), want.view(), operation);
            sums.check_totals(totals, operation);
        }
    }
    fmt::print("mosaic: both strategies match the reference for every cell size from 1 to 512 pixels\n");
}
#endif

void run_size(Session& session, const Measured& measured) {
    // A check uses a smaller frame, whose size is not a multiple of the cell size.
    const Shape shape = session.check_only() ? Shape{1, 217, 331, 3} : Shape{1, measured.height, measured.width, 3};
    HostImage in(shape), want(shape);
    fill_scene(in.view(), 1);
    mosaic_reference({.cell_px = measured.cell_px}, in.view(), want.view());
    const auto check = image_is(want.view());
    FilterLadder ladder(session, "mosaic", in.view(), shape, {{"cell", std::to_string(measured.cell_px)}});
    ladder.cpu(
        {.operation = fmt::format("loop, cell {}", measured.cell_px)},
        [&](auto from, auto to) { mosaic_loop(measured.cell_px, from, to); }, check);
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu()) {
        run_strategies(measured, ladder, in.view(), want.view(), session, session.gpu()->stream());
        ladder.transfers();
    }
#endif
    const auto info = mosaic_info();
    ladder.framewire({.operation = fmt::format("framewire, cell {}", measured.cell_px)}, info,
                     with_defaults(info, {{"cell", std::to_string(measured.cell_px)}}), check);
}

void run_mosaic(Session& session) {
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu() && session.check_only())
        session.attempt("mosaic: every cell size from 1 to 512 pixels", [&] { check_every_cell(session); });
#endif
    // A quick run has each size once, with the cell size for which the report measured both strategies.
    for (const auto& measured : report)
        if (session.once()    ? measured.width == report[0].width
            : session.quick() ? measured.cell_px == report[0].cell_px
                              : true)
            run_size(session, measured);
}

const SuiteEntry mosaic_ladder_suite{"ladders", "mosaic", run_mosaic};

}  // namespace mosaic_ladder
}  // namespace framewire::bench
