#include "framewire/hog/people/people_detector.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/build.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people/candidates.hpp"
#include "framewire/hog/people/pyramid.hpp"
#include "framewire/hog/people/suppression.hpp"
#include "framewire/hog/people/window_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

namespace framewire {
namespace {

constexpr int most_capacity = 1 << 16;
constexpr std::int64_t fetched_at_once = 1024;  // candidates that travel before it is known how many there are

// In place of the 0 that stands for the model's own.
int least_height_px(const WindowModel& model, const PeopleParameters& parameters) {
    return parameters.least_height_px == 0 ? model.height_px : parameters.least_height_px;
}

// Frame pixels a level's pixel, for all levels that a window fits into.
std::vector<double> scales_of(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame) {
    validate(model, parameters);
    validate(frame, "the frame");
    const int least = least_height_px(model, parameters);
    const double first = static_cast<double>(least) / model.height_px;
    const double most = (parameters.most_height_px == 0 ? max_side_px : parameters.most_height_px) + 0.5;
    std::vector<double> scales;
    for (double scale = first; scale * model.height_px < most && std::floor(frame.width / scale) >= model.width_px &&
                               std::floor(frame.height / scale) >= model.height_px;
         scale *= parameters.scale_step)
        scales.push_back(scale);
    return scales;
}

}  // namespace

const ParameterFields<PeopleParameters>& people_fields() {
    using P = PeopleParameters;
    constexpr double any = std::numeric_limits<double>::infinity();
    static const ParameterFields<P> fields = {
        parameter_field(&P::threshold,
                        {.name = "threshold", .help = "windows that score more", .minimum = -any, .maximum = any}),
        parameter_field(&P::scale_step,
                        {.name = "scale-step", .help = "from one size to the next", .minimum = 1.05, .maximum = 2}),
        parameter_field(&P::overlap, {.name = "overlap",
                                      .help = "intersection over union above which the worse of two goes",
                                      .maximum = 1,
                                      .unit = "IOU"}),
        parameter_field(&P::least_height_px, {.name = "min-height",
                                              .help = "of windows, from half of the model's; 0 is the model's",
                                              .maximum = max_side_px,
                                              .unit = "PX"}),
        parameter_field(
            &P::most_height_px,
            {.name = "max-height", .help = "of windows; 0 is the frame's", .maximum = max_side_px, .unit = "PX"}),
    };
    return fields;
}

void validate(const WindowModel& model, const PeopleParameters& p) {
    validate(model);
    people_fields().check(p, "people");
    const int least = least_height_px(model, p), half = (model.height_px + 1) / 2;
    if (least < half || least > max_side_px)
        fail(ErrorCode::usage, "windows from {} pixels height on; allowed are {} (half of the model's) to {}", least,
             half, max_side_px);
    if (p.most_height_px != 0 && (p.most_height_px < least || p.most_height_px > max_side_px))
        fail(ErrorCode::usage, "windows up to {} pixels height; allowed are {} (the least) to {}", p.most_height_px,
             least, max_side_px);
    if (p.capacity < 1 || p.capacity > most_capacity)
        fail(ErrorCode::usage, "room for {} windows above the threshold; allowed are 1 to {}", p.capacity,
             most_capacity);
}

std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame) {
    if (!scales_of(model, parameters, frame).empty()) return {};
    const int least = least_height_px(model, parameters);
    const auto width = std::lround(static_cast<double>(model.width_px) * least / model.height_px);
    return fmt::format(
        "a frame of {} is smaller than the smallest window, {}x{} pixels; windows may be as small as half of the "
        "model's, {}x{}",
        to_string(frame), width, least, (model.width_px + 1) / 2, (model.height_px + 1) / 2);
}

struct PeopleDetector::State {
    // The windows of one level.
    struct Level {
        Level(Hog hog_, WindowGrid grid_, std::int64_t first_window_)
            : hog(std::move(hog_)), grid(grid_), first_window(first_window_) {}

        Hog hog;
        WindowGrid grid;
        std::int64_t first_window;  // its number among all
    };
    // What comes from the GPU: how many candidates there are, and behind it the candidates.
    static constexpr std::size_t candidates_begin_bytes = 16;
    static std::size_t fetched_bytes(std::int64_t candidates) {
        return candidates_begin_bytes + static_cast<std::size_t>(candidates) * sizeof(WindowCandidate);
    }

    State(const WindowModel& model_, const PeopleParameters& parameters_, const Shape& frame_, Executor& executor_)
        : parameters(parameters_),
          cell(model_.hog.cell),
          window_width(model_.width_px),
          window_height(model_.height_px),
          scales(scales_of(model_, parameters_, frame_)),
          frame(frame_),
          executor(&executor_),
          pyramid(scales, frame_, executor_),
          scores(model_, executor_) {
        std::size_t descriptor_bytes = 0;
        levels.reserve(scales.size());
        for (int level = 0; level < pyramid.levels(); ++level) {
            Hog hog(model_.hog, pyramid.level_shape(level), executor_);
            const auto shape = hog.output_shape();
            descriptor_bytes = std::max(descriptor_bytes, shape.bytes());
            levels.emplace_back(std::move(hog), scores.grid(shape), windows);
            windows += levels.back().grid.count();
        }
        const auto score_bytes = static_cast<std::size_t>(windows) * sizeof(float);
        candidates.resize(static_cast<std::size_t>(windows));
        detections.resize(static_cast<std::size_t>(std::min<std::int64_t>(windows, parameters.capacity)));
        if (executor_.backend() == Backend::cpu) {
            descriptors = HostBuffer(descriptor_bytes + window_scores_margin_bytes);
            std::memset(descriptors.data(), 0, descriptors.bytes());
            window_scores = HostBuffer(score_bytes);
            return;
        }
        if constexpr (cuda::compiled) {
            device_descriptors = cuda::DeviceBuffer(descriptor_bytes);
            device_scores = cuda::DeviceBuffer(score_bytes);
            device_candidates = cuda::DeviceBuffer(fetched_bytes(windows));
            fetched = HostBuffer(fetched_bytes(windows), cuda::pinned_memory());
            // fetch() copies places that no candidate may have taken yet.
            cuda::fill(device_candidates.data(), 0, device_candidates.bytes(), executor_.stream());
        }
    }

    Detection detection_of(const WindowCandidate& candidate) const {
        const auto next = std::ranges::upper_bound(levels, candidate.window, {}, &Level::first_window);
        const auto level = static_cast<std::size_t>(next - levels.begin()) - 1;
        const double scale = scales[level];
        const auto of_level = candidate.window - levels[level].first_window;
        const auto side = [&](int pixels) { return static_cast<std::int32_t>(std::lround(pixels * scale)); };
        const auto place = [&](std::int64_t cells, int window, int pixels) {
            return std::min(static_cast<std::int32_t>(std::lround(static_cast<double>(cells) * cell * scale)),
                            pixels - window);
        };
        const int width = side(window_width), height = side(window_height);
        return {place(of_level % levels[level].grid.columns, width, frame.width),
                place(of_level / levels[level].grid.columns, height, frame.height), width, height, candidate.score};
    }

    // From `found` candidates to detections.
    void suppress() {
        const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(found);
        const auto kept = std::min<std::int64_t>(found, parameters.capacity);
        const auto best_end = candidates.begin() + static_cast<std::ptrdiff_t>(kept);
        if (best_end != end)
            std::nth_element(candidates.begin(), best_end, end, [](const auto& a, const auto& b) {
                return std::tuple(-a.score, a.window) < std::tuple(-b.score, b.window);
            });
        std::transform(candidates.begin(), best_end, detections.begin(),
                       [&](const WindowCandidate& candidate) { return detection_of(candidate); });
        detection_count =
            suppress_overlapping(std::span(detections).first(static_cast<std::size_t>(kept)), parameters.overlap);
    }

    PeopleParameters parameters;
    int cell, window_width, window_height;
    std::vector<double> scales;
    Shape frame;
    Executor* executor;
    GrayPyramid pyramid;
    WindowScores scores;
    std::vector<Level> levels;
    std::int64_t windows = 0;
    HostBuffer descriptors, window_scores;                                    // CPU: of a level; of all windows
    cuda::DeviceBuffer device_descriptors, device_scores, device_candidates;  // CUDA: likewise
    HostBuffer fetched;                                                       // CUDA
    std::vector<WindowCandidate> candidates;                                  // `found` of them
    std::int64_t found = 0;
    std::vector<Detection> detections;  // the first `detection_count` of them
    std::size_t detection_count = 0;
};

PeopleDetector::PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                               Executor& executor) {
    if (const auto reason = without_windows(model, parameters, frame); !reason.empty())
        fail(ErrorCode::usage, "{}", reason);
    state_ = std::make_unique<State>(model, parameters, frame, executor);
}
PeopleDetector::~PeopleDetector() = default;
PeopleDetector::PeopleDetector(PeopleDetector&&) noexcept = default;
PeopleDetector& PeopleDetector::operator=(PeopleDetector&&) noexcept = default;

const PeopleParameters& PeopleDetector::parameters() const { return state_->parameters; }
int PeopleDetector::levels() const { return state_->pyramid.levels(); }
std::int64_t PeopleDetector::windows() const { return state_->windows; }

void PeopleDetector::run(HostView<const std::uint8_t> frame) {
    auto& state = *state_;
    if (state.executor->backend() != Backend::cpu) fail(ErrorCode::internal, "host frames for a detector on a GPU");
    validate(frame, state.frame, "the detector's frame");
    state.pyramid.run(frame);
    for (int number = 0; number < levels(); ++number) {
        auto& level = state.levels[static_cast<std::size_t>(number)];
        const auto& shape = level.hog.output_shape();
        auto* values = state.descriptors.as<float>();
        level.hog.run(state.pyramid.level_on_host(number), HogView<float, MemorySpace::host>(values, shape));
        state.scores.run(HogView<const float, MemorySpace::host>(values, shape),
                         state.window_scores.as<float>() + level.first_window);
    }
}

void PeopleDetector::run(DeviceView<const std::uint8_t> frame) {
    auto& state = *state_;
    if (state.executor->backend() != Backend::cuda)
        fail(ErrorCode::internal, "device frames for a detector on the CPU");
    if constexpr (cuda::compiled) {
        validate(frame, state.frame, "the detector's frame");
        state.pyramid.run(frame);
        for (int number = 0; number < levels(); ++number) {
            auto& level = state.levels[static_cast<std::size_t>(number)];
            const auto& shape = level.hog.output_shape();
            auto* values = state.device_descriptors.as<float>();
            level.hog.run(state.pyramid.level_on_device(number), HogView<float, MemorySpace::device>(values, shape));
            state.scores.run(HogView<const float, MemorySpace::device>(values, shape),
                             state.device_scores.as<float>() + level.first_window);
        }
        auto* to = state.device_candidates.data();
        collect_candidates(state.device_scores.as<float>(), static_cast<std::int32_t>(state.windows),
                           state.parameters.threshold,
                           reinterpret_cast<WindowCandidate*>(to + State::candidates_begin_bytes),
                           reinterpret_cast<std::int32_t*>(to), state.executor->stream());
    }
}

void PeopleDetector::fetch() {
    auto& state = *state_;
    state.found = 0;
    if (state.executor->backend() == Backend::cpu) {
        const float threshold = state.parameters.threshold;
        const auto* scores = state.window_scores.as<float>();
        for (std::int32_t window = 0; window < state.windows; ++window)
            if (scores[window] > threshold)
                state.candidates[static_cast<std::size_t>(state.found++)] = {window, scores[window]};
    } else if constexpr (cuda::compiled) {
        const auto& stream = state.executor->stream();
        const auto download = [&](std::int64_t first) {
            cuda::download(state.device_candidates.data(), state.fetched.data(), State::fetched_bytes(first), stream);
            stream.synchronize();
        };
        const auto at_once = std::min(fetched_at_once, state.windows);
        download(at_once);
        state.found = *state.fetched.as<std::int32_t>();
        if (state.found > at_once) download(state.found);
        std::copy_n(reinterpret_cast<const WindowCandidate*>(state.fetched.data() + State::candidates_begin_bytes),
                    state.found, state.candidates.begin());
    }
    state.suppress();
}

std::span<const Detection> PeopleDetector::detections() const {
    return std::span(state_->detections).first(state_->detection_count);
}

std::int64_t PeopleDetector::candidates() const { return state_->found; }

}  // namespace framewire
