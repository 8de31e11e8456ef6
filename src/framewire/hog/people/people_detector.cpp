#include "framewire/hog/people/people_detector.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/branches.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people/candidates.hpp"
#include "framewire/hog/people/pyramid/pyramid.hpp"
#include "framewire/hog/people/window_scores/window_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

// People detection on both backends. Per frame:
//
//     GrayPyramid::run_octaves()       gray, and halved copies
//     per level: pyramid level         bilinear interpolation from an octave
//                Hog                   descriptors with overlapping blocks
//                WindowScores          one score per window, in the common array window_scores
//     candidates                       windows above the threshold; the GPU collects them with an atomic counter
//
// DetectedPeople then brings the candidates to the host and groups them.

namespace framewire {
namespace {

constexpr int most_capacity = 1 << 16;
constexpr std::size_t descriptors_alignment = 256;

// Resolves 0, which means the height of the model.
int least_height_px(const WindowModel& model, const PeopleParameters& parameters) {
    return parameters.least_height_px == 0 ? model.height_px : parameters.least_height_px;
}

// Returns the frame pixels per level pixel of all levels that a window fits into.
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
        parameter_field(&P::group, people_grouping_names,
                        {.name = "group",
                         .help = "of windows that show one person: the best of those that overlap stays, or the mean "
                                 "of those that have neighbours, as OpenCV's, with fewer false alarms"}),
        parameter_field(&P::overlap,
                        {.name = "overlap",
                         .help = "intersection over union above which the worse of two goes; --group overlap",
                         .maximum = 1,
                         .unit = "IOU"}),
        parameter_field(&P::neighbours, {.name = "neighbours",
                                         .help = "a group of no more windows than these goes; --group neighbours",
                                         .maximum = 1000,
                                         .unit = "N"}),
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

// Names the size of the smallest window and how small windows may become.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame) {
    if (!scales_of(model, parameters, frame).empty()) return {};
    const int least = least_height_px(model, parameters);
    const auto width = std::lround(static_cast<double>(model.width_px) * least / model.height_px);
    return fmt::format(
        "a frame of {} is smaller than the smallest window, {}x{} pixels; windows may be as small as half of the "
        "model's, {}x{}",
        to_string(frame), width, least, (model.width_px + 1) / 2, (model.height_px + 1) / 2);
}

// Plans and memory of a detector.
struct PeopleDetector::State {
    // Windows of one size.
    struct Level {
        Level(Hog hog_, std::int64_t first_window_, std::size_t descriptors_begin_)
            : hog(std::move(hog_)), first_window(first_window_), descriptors_begin(descriptors_begin_) {}

        Hog hog;
        std::int64_t first_window;      // index among all windows
        std::size_t descriptors_begin;  // in bytes; on the CPU all levels share the same memory
    };

    State(const WindowModel& model_, const PeopleParameters& parameters_, const Shape& frame_, Executor& executor_)
        : parameters(parameters_),
          executor(&executor_),
          scales(scales_of(model_, parameters_, frame_)),
          pyramid(scales, frame_, executor_),
          scores(model_, executor_) {
        WindowPlaces windows{
            .cell = model_.hog.cell, .width_px = model_.width_px, .height_px = model_.height_px, .frame = frame_};
        // On CUDA the levels run in parallel, so each has its own memory for descriptors.
        const bool side_by_side = executor_.backend() == Backend::cuda;
        std::size_t begin = 0, end = 0;  // of the descriptors' memory
        levels.reserve(scales.size());
        for (int level = 0; level < pyramid.levels(); ++level) {
            Hog hog(model_.hog, pyramid.level_shape(level), executor_);
            const auto shape = hog.output_shape();
            const auto grid = scores.grid(shape);
            levels.emplace_back(std::move(hog), windows.windows, begin);
            end = std::max(end, begin + shape.bytes());
            if (side_by_side) begin = (end + descriptors_alignment - 1) / descriptors_alignment * descriptors_alignment;
            windows.levels.push_back({scales[static_cast<std::size_t>(level)], grid.columns, windows.windows});
            windows.windows += grid.count();
        }
        descriptors = BackendBuffer(end + window_scores_margin_bytes, executor_);
        descriptors.fill(0);  // including what is read after the last value
        window_scores = BackendBuffer(static_cast<std::size_t>(windows.windows) * sizeof(float), executor_);
        places = std::make_shared<WindowPlaces>(std::move(windows));
        if constexpr (cuda::compiled)
            if (side_by_side) all_levels = executor_.record([&] { record_levels(); });
    }

    // Computes the descriptors of one level and scores its windows.
    template <MemorySpace space>
    void score_level(int number) {
        auto& level = levels[static_cast<std::size_t>(number)];
        const auto& shape = level.hog.output_shape();
        auto* values = reinterpret_cast<float*>(descriptors.data() + level.descriptors_begin);
        level.hog.run(pyramid.level<space>(number), HogView<float, space>(values, shape));
        scores.run(HogView<const float, space>(values, shape), window_scores.as<float>() + level.first_window);
    }

    // On the CPU levels are processed one after another and share the memory of the descriptors.
    void score(HostView<const std::uint8_t> frame) {
        pyramid.run(frame);
        for (int number = 0; number < pyramid.levels(); ++number) score_level<MemorySpace::host>(number);
    }

    // The kernels of a small level leave most of a GPU idle, so the levels run in parallel.
    void record_levels() {
        cuda::record_branches(executor->stream(), pyramid.levels(), [&](int number) {
            pyramid.run_level(number);
            score_level<MemorySpace::device>(number);
        });
    }

    // The octaves depend on the address of the frame, so they are launched each time. The levels do not and are
    // one graph, or part of the caller's graph if that is being recorded.
    void score(DeviceView<const std::uint8_t> frame) {
        pyramid.run_octaves(frame);
        const auto& stream = executor->stream();
        if (cuda::is_recording(stream))
            record_levels();
        else
            all_levels->launch(stream);
    }

    PeopleParameters parameters;
    Executor* executor;
    std::vector<double> scales;
    GrayPyramid pyramid;
    WindowScores scores;
    std::vector<Level> levels;
    std::shared_ptr<const WindowPlaces> places;
    BackendBuffer descriptors, window_scores;  // of all windows
    std::optional<cuda::Graph> all_levels;     // CUDA: what runs after the octaves
};

PeopleDetector::PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                               Executor& executor) {
    // Checked before anything is allocated.
    if (const auto reason = without_windows(model, parameters, frame); !reason.empty())
        fail(ErrorCode::usage, "{}", reason);
    state_ = std::make_unique<State>(model, parameters, frame, executor);
}
PeopleDetector::~PeopleDetector() = default;
PeopleDetector::PeopleDetector(PeopleDetector&&) noexcept = default;
PeopleDetector& PeopleDetector::operator=(PeopleDetector&&) noexcept = default;

const PeopleParameters& PeopleDetector::parameters() const { return state_->parameters; }
int PeopleDetector::levels() const { return state_->pyramid.levels(); }
std::int64_t PeopleDetector::windows() const { return state_->places->windows; }

DetectedPeople PeopleDetector::make_people() const {
    const auto& parameters = state_->parameters;
    return {state_->places, parameters, *state_->executor};
}

// Candidates come in the order of their windows; on the GPU in any order.
void PeopleDetector::run(HostView<const std::uint8_t> frame, DetectedPeople& people) {
    auto& state = *state_;
    state.executor->require_space<MemorySpace::host>("a detector");
    validate(frame, state.places->frame, "the detector's frame");
    state.score(frame);
    const auto* scores = state.window_scores.as<float>();
    // All windows are scanned on the calling thread: it reads one float per window.
    std::int32_t found = 0;
    for (std::int32_t window = 0; window < windows(); ++window)
        if (scores[window] > state.parameters.threshold)
            people.list<MemorySpace::host>()[found++] = {window, scores[window]};
    *people.count<MemorySpace::host>() = found;
}

void PeopleDetector::run(DeviceView<const std::uint8_t> frame, DetectedPeople& people) {
    auto& state = *state_;
    state.executor->require_space<MemorySpace::device>("a detector");
    validate(frame, state.places->frame, "the detector's frame");
    if constexpr (cuda::compiled) {
        state.score(frame);
        collect_candidates(state.window_scores.as<float>(), static_cast<std::int32_t>(windows()),
                           state.parameters.threshold, people.list<MemorySpace::device>(),
                           people.count<MemorySpace::device>(), state.executor->stream());
    }
}

}  // namespace framewire
