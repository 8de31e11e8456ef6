#include "framewire/jobs/job.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace framewire::jobs {

// Reports conflicts between files before the statistics file is opened.
Job::Job(const JobOptions& options, const JobFiles& files)
    : options_(options),
      on_stop_(options_.stop, [this] { stop_.request_stop(); }),
      statistics_file_((files.require_different(), options_.statistics_path), options_.replace),
      statistics_(options_.statistics ? options_.statistics : std::make_shared<Statistics>()) {}

SinkOptions Job::sink_options(const SourceInfo& source) const {
    return {.stop = stop(),
            .live = source.live,
            .replace = options_.replace,
            .once_only = source.live,
            .facts = source.facts};
}

FrameRingOptions Job::frame_ring_options(const SourceInfo& source, const Shape& sent, Backend backend) const {
    FrameRingOptions frame_ring;
    frame_ring.let_wait(frames_under_way(backend));
    frame_ring.raw_frame_bytes = sent.frame_bytes();
    frame_ring.drop_when_late = source.live;
    frame_ring.max_frames = options_.frames;
    frame_ring.stop = stop_;
    return frame_ring;
}

void Job::begin_run() {
    if (std::exchange(ran_, true)) fail(ErrorCode::internal, "a job can run only once");
}

namespace {

// Returns true for standard output and for existing paths that are neither a file nor a folder, whose names say nothing
// about the format.
bool is_special_file(const std::string& path) {
    std::error_code unknown;
    return is_standard_output(path) || std::filesystem::is_other(path, unknown);
}

}  // namespace

JobFiles& JobFiles::source(const std::string& text) {
    for (auto& path : files_read_by(text)) inputs_.push_back({"-i", std::move(path)});
    for (auto& path : files_written_by(text)) output("truth", path, json_lines_format);
    return *this;
}

JobFiles& JobFiles::input(const std::string& option, const std::string& path) {
    if (!path.empty()) inputs_.push_back({option, path});
    return *this;
}

JobFiles& JobFiles::sink(const std::string& option, const std::string& text) {
    for (auto& path : files_of_sink(text)) {
        if (path == "-") bytes_to_standard_output_ = option;
        outputs_.push_back({option, std::move(path)});
    }
    return *this;
}

JobFiles& JobFiles::bytes(const std::string& option, const std::string& path, const FileFormat& format) {
    if (path == "-") bytes_to_standard_output_ = option;
    return output(option, path, format);
}

JobFiles& JobFiles::output(const std::string& option, const std::string& path, const FileFormat& format) {
    const auto lower = lower_case(path);
    const auto has_ending = [&](std::string_view ending) { return lower.ends_with(ending); };
    if (ending_problem_.empty() && !path.empty() && !is_special_file(path) &&
        std::ranges::none_of(format.endings, has_ending))
        ending_problem_ = fmt::format("{} {}: {} need a file name that ends in {}", option, path, format.name,
                                      fmt::join(format.endings, " or "));
    add_output(option, path);
    return *this;
}

JobFiles& JobFiles::statistics(const std::string& path) { return output("--stats", path, {"statistics", {".json"}}); }

void JobFiles::add_output(const std::string& option, const std::string& path) {
    if (!path.empty()) outputs_.push_back({option, path});
}

JobFiles& JobFiles::outputs(const std::string& option, const std::string& folder, const std::string& source,
                            std::string_view ending) {
    for (const auto& path : outputs_of(image_paths(source), folder, ending)) add_output(option, path);
    return *this;
}

JobFiles& JobFiles::add(const JobFiles& others) {
    inputs_.insert(inputs_.end(), others.inputs_.begin(), others.inputs_.end());
    outputs_.insert(outputs_.end(), others.outputs_.begin(), others.outputs_.end());
    if (ending_problem_.empty()) ending_problem_ = others.ending_problem_;
    return *this;
}

void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names) {
    const auto count =
        std::ranges::count_if(outputs, [](std::string_view text) { return text == "-" || text.starts_with("-:"); });
    if (count > 1) fail(ErrorCode::usage, "{} of {} write to standard output; only one of them can", count, names);
}

void JobFiles::require_different() const {
    require_different_files(inputs_, outputs_);
    if (!ending_problem_.empty()) fail(ErrorCode::usage, "{}", ending_problem_);
}

bool JobFiles::reads_standard_input() const {
    return std::ranges::any_of(inputs_, [](const RunFile& file) { return file.path == "-"; });
}

namespace {

// Returns true if the values differ by at most 0.5 %. Scaled frames have whole pixels, so their ratios are inexact.
bool is_about(double value, double other) { return std::abs(value - other) <= 0.005 * other; }

// Returns the closest fraction whose denominator is at most 1000.
Rational nearest_ratio(double value) {
    constexpr std::int64_t largest = 1000;
    Rational best{1, 1};
    for (std::int64_t denominator = 1; denominator <= largest; ++denominator) {
        const Rational ratio{std::max<std::int64_t>(1, std::llround(value * static_cast<double>(denominator))),
                             denominator};
        if (std::abs(ratio.value() - value) < std::abs(best.value() - value)) best = ratio;
    }
    return best;
}

}  // namespace

std::optional<Rational> aspect_after(const PlaneMap& placement, Rational aspect) {
    if (aspect.numerator == aspect.denominator) return aspect;
    const bool upright = placement.xy == 0 && placement.yx == 0;
    const bool turned = placement.xx == 0 && placement.yy == 0;
    if (!upright && !turned) return std::nullopt;
    // Width and height of a result pixel, in pixels of the frame before the filters.
    const Rational before = turned ? Rational{aspect.denominator, aspect.numerator} : aspect;
    const double value = before.value() * std::abs(upright ? placement.yy / placement.xx : placement.yx / placement.xy);
    if (!(value > 1e-3 && value < 1e3)) return std::nullopt;
    if (is_about(value, 1)) return Rational{1, 1};
    return is_about(value, before.value()) ? before : nearest_ratio(value);
}

}  // namespace framewire::jobs
