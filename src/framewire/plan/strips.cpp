#include "framewire/plan/strips.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/plan/channel_weights.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace framewire {
namespace {

// Total size of all images of a strip: they stay in a core's L2 with what is read and written beside them.
constexpr std::int64_t strip_bytes = 192 * 1024, most_strip_bytes = 512 * 1024;

}  // namespace

std::optional<StripPass> StripPass::of(ChainPlan& plan, const YuvInfo& from, const YuvInfo& to,
                                       const ThreadPool& threads) {
    auto steps = plan.by_rows();
    const auto &image = plan.input_shape(), &result = plan.output_shape();
    const bool fits = from.frames == 1 && from.width == image.width && from.height == image.height && to.frames == 1 &&
                      to.width == result.width && to.height == result.height && to.format.bits == 8;
    if (steps.empty() != plan.empty() || !fits || image.channels != 3) return std::nullopt;
    StripPass pass(plan, std::move(steps), from, to, threads);
    if (pass.rows_each_ == 0) return std::nullopt;
    return pass;
}

StripPass::StripPass(ChainPlan& plan, std::vector<ChainPlan::RowStep> steps, const YuvInfo& from, const YuvInfo& to,
                     const ThreadPool& threads)
    : plan_(&plan), steps_(std::move(steps)), from_(from), to_(to), threads_(&threads) {
    shapes_.push_back(plan.input_shape());
    for (const auto& step : steps_) shapes_.push_back(step.output);
    if (!steps_.empty()) {
        if (const auto gray = steps_.front().filter->gray_needed()) {
            gray_ = channel_weights(*gray);
            shapes_.front().channels = 1;
        }
        if (steps_.back().filter->gives_equal_channels()) shapes_.back().channels = 1;
    }
    plan_strips();
}

void StripPass::plan_strips() {
    const int chroma_rows = to_.format.chroma == ChromaSampling::s420 ? 2 : 1;
    const int filter_rows = steps_.empty() ? 1 : std::min(steps_.back().filter->rows_together(), to_.height);
    const int together = filter_rows < to_.height ? std::lcm(filter_rows, chroma_rows) : to_.height;
    std::int64_t row_bytes = 0;  // of all images, for a row of the result
    for (const auto& shape : shapes_) row_bytes += shape.frame_bytes() / to_.height + 1;
    // Filters that make several rows at a time must not be asked for a row twice; and what leaves the cache
    // gains nothing.
    const ImageToYuv to_planes(to_, shapes_.back().channels, *threads_);
    if (filter_rows > 1 && (together * row_bytes > most_strip_bytes || to_planes.rows_needed({2, 4}).begin < 2)) return;
    rows_each_ = static_cast<int>(std::max<std::int64_t>(strip_bytes / row_bytes / together, 1)) * together;
    strips_ = (to_.height + rows_each_ - 1) / rows_each_;

    std::vector<RowRange> rows(shapes_.size());
    std::vector<int> most(shapes_.size());
    for (int strip = 0; strip < strips_; ++strip) {
        find_rows({strip * rows_each_, std::min((strip + 1) * rows_each_, to_.height)}, rows);
        for (std::size_t at = 0; at < rows.size(); ++at) most[at] = std::max(most[at], rows[at].count());
    }
    scratch_.resize(static_cast<std::size_t>(std::min(threads_->threads(), strips_)));
    for (auto& scratch : scratch_) {
        scratch.rows.resize(shapes_.size());
        for (std::size_t at = 0; at < shapes_.size(); ++at)
            scratch.images.emplace_back(static_cast<std::size_t>(shapes_[at].row_bytes() * most[at]));
    }
}

void StripPass::find_rows(const RowRange& made, std::vector<RowRange>& rows) const {
    rows.back() = ImageToYuv(to_, shapes_.back().channels, *threads_).rows_needed(made);
    for (auto at = steps_.size(); at-- > 0;) rows[at] = steps_[at].filter->rows_needed(rows[at + 1]);
}

RowRange StripPass::rows_of(int strip) const {
    return {strip * rows_each_, std::min((strip + 1) * rows_each_, to_.height)};
}

void StripPass::make_strip(int strip, const HostYuv<const std::uint8_t>& from, Scratch& scratch,
                           const HostYuv<std::uint8_t>& to) {
    const auto image = [&](std::size_t at) {
        const auto& rows = scratch.rows[at];
        const auto& shape = shapes_[at];
        return ImageRows<std::uint8_t>({scratch.images[at].data(), {1, rows.count(), shape.width, shape.channels}},
                                       rows.begin);
    };
    find_rows(rows_of(strip), scratch.rows);
    const YuvToImage to_image(from.info, 3, *threads_);
    gray_ ? to_image.run_rows(from, image(0), *gray_) : to_image.run_rows(from, image(0));
    for (std::size_t step = 0; step < steps_.size(); ++step)
        steps_[step].filter->run_rows(image(step), image(step + 1));
    ImageToYuv(to_, plan_->output_shape().channels, *threads_).run_rows(image(steps_.size()), rows_of(strip), to);
}

void StripPass::run(const HostYuv<const std::uint8_t>& from, const HostYuv<std::uint8_t>& to) {
    validate(from, from_, "the picture to filter");
    validate(to, to_, "the filtered picture");
    plan_->begin_rows();
    std::atomic<int> next{0};
    threads_->for_chunks(static_cast<std::int64_t>(scratch_.size()), 1,
                         [&](std::int64_t slot, std::int64_t, std::int64_t) {
                             auto& scratch = scratch_[static_cast<std::size_t>(slot)];
                             for (int strip = next++; strip < strips_; strip = next++)
                                 make_strip(strip, from, scratch, to);
                         });
}

}  // namespace framewire
