#include "framewire/hog/people_detector.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/pyramid.hpp"
#include "framewire/hog/window_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Number of candidates that are copied before the actual number is known.
constexpr std::int64_t downloaded_at_once = 1024;

}  // namespace

// Finds the level by a binary search over the first windows of the levels, then row and column within it.
Detection WindowPlaces::of(const WindowCandidate& candidate) const {
    const auto next = std::ranges::upper_bound(levels, candidate.window, {}, &Level::first_window);
    const auto& level = *std::prev(next);
    const auto of_level = candidate.window - level.first_window;
    const auto side = [&](int pixels) { return static_cast<std::int32_t>(std::lround(pixels * level.scale)); };
    const auto place = [&](std::int64_t cells, int window, int pixels) {
        return std::min(static_cast<std::int32_t>(std::lround(static_cast<double>(cells) * cell * level.scale)),
                        pixels - window);
    };
    const int width = side(width_px), height = side(height_px);
    return {place(of_level % level.columns, width, frame.width), place(of_level / level.columns, height, frame.height),
            width, height, candidate.score};
}

// The list has room for all windows, because any number of them may exceed the threshold.
DetectedPeople::DetectedPeople(std::shared_ptr<const WindowPlaces> places, const PeopleParameters& parameters,
                               Executor& executor)
    : places_(std::move(places)), parameters_(parameters), transfer_(executor) {
    const auto bytes = list_begin_bytes + static_cast<std::size_t>(places_->windows) * sizeof(WindowCandidate);
    found_ = cuda::MirroredBuffer<BufferIn>(executor, bytes);
    detections_.resize(static_cast<std::size_t>(std::min<std::int64_t>(places_->windows, parameters.capacity)));
    if (parameters.group == PeopleGrouping::neighbours) neighbours_ = NeighbourGroups(detections_.size());
    if (executor.backend() == Backend::cpu) return;
    // Copies include entries without a candidate, so all entries must be initialised.
    cuda::fill(data<MemorySpace::device>(), 0, bytes, executor.stream());
}

std::int64_t DetectedPeople::candidates() const { return *count<MemorySpace::host>(); }

void DetectedPeople::download(std::int64_t first) {
    downloaded_ = first;
    transfer_.down([&](const cuda::Stream& stream) {
        cuda::download(data<MemorySpace::device>(), data<MemorySpace::host>(),
                       list_begin_bytes + static_cast<std::size_t>(first) * sizeof(WindowCandidate), stream);
    });
}

void DetectedPeople::download() { download(std::min(downloaded_at_once, places_->windows)); }

// One copy is almost always sufficient. If there are more candidates, all of them are copied again.
void DetectedPeople::wait() {
    transfer_.wait();
    if (downloaded_ > 0 && candidates() > downloaded_) {
        download(candidates());
        transfer_.wait();
    }
    group();
}

// Converts candidates to detections: takes the best ones up to the capacity and groups them.
void DetectedPeople::group() {
    const std::span found(list<MemorySpace::host>(), static_cast<std::size_t>(candidates()));
    const auto kept = std::min(found.size(), detections_.size());
    if (kept < found.size())
        std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(kept), {},
                                 [](const auto& candidate) { return std::tuple(-candidate.score, candidate.window); });
    std::ranges::transform(found.first(kept), detections_.begin(),
                           [&](const WindowCandidate& candidate) { return places_->of(candidate); });
    const auto windows = std::span(detections_).first(kept);
    if (parameters_.group == PeopleGrouping::overlap) {
        detection_count_ = suppress_overlapping(windows, parameters_.overlap);
        return;
    }
    detection_count_ = neighbours_(windows, parameters_.neighbours);
    // Position and size were rounded independently, so the box may exceed the frame.
    for (auto& mean : windows.first(detection_count_)) {
        mean.x = std::min(mean.x, places_->frame.width - mean.width);
        mean.y = std::min(mean.y, places_->frame.height - mean.height);
    }
}

}  // namespace framewire

// People detection on both backends. Per frame:
//
//     ImagePyramid::run_octaves()      gray or colour planes, and halved copies
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

// Resolves a height of 0, which means the height of the model.
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
        parameter_field(
            &P::threshold,
            {.name = "threshold", .help = "detect windows that score more than this", .minimum = -any, .maximum = any}),
        parameter_field(&P::scale_step, {.name = "scale-step",
                                         .help = "scale factor between successive window sizes",
                                         .minimum = 1.05,
                                         .maximum = 2}),
        parameter_field(
            &P::group, people_grouping_names,
            {.name = "group",
             .help = "how to group windows on the same person: overlap keeps the best of overlapping windows; "
                     "neighbours averages groups, as OpenCV does, with fewer false alarms"}),
        parameter_field(
            &P::overlap,
            {.name = "overlap",
             .help = "intersection over union above which the worse of two windows is dropped; for --group overlap",
             .maximum = 1,
             .unit = "IOU"}),
        parameter_field(&P::neighbours, {.name = "neighbours",
                                         .help = "drop groups with this many windows or fewer; for --group neighbours",
                                         .maximum = 1000,
                                         .unit = "N"}),
        parameter_field(&P::least_height_px,
                        {.name = "min-height",
                         .help = "smallest window height, at least half the model's; 0: the model's height",
                         .maximum = max_side_px,
                         .unit = "PX"}),
        parameter_field(&P::most_height_px, {.name = "max-height",
                                             .help = "largest window height; 0: the frame's height",
                                             .maximum = max_side_px,
                                             .unit = "PX"}),
    };
    return fields;
}

// `overlap` and `neighbours` each belong to one method of grouping.
PeopleParameters people_parameters(const ParameterValues& given) {
    auto parameters = people_fields().from(given);
    if (given.is_given("overlap") && !given.is_given("group")) parameters.group = PeopleGrouping::overlap;
    const auto goes_with = [&](const char* name, PeopleGrouping group) {
        if (given.is_given(name) && parameters.group != group)
            fail(ErrorCode::usage, "{} requires group {}, but windows are grouped by {}", name,
                 name_of(people_grouping_names, group), name_of(people_grouping_names, parameters.group));
    };
    goes_with("overlap", PeopleGrouping::overlap);
    goes_with("neighbours", PeopleGrouping::neighbours);
    return parameters;
}

PeopleParameters parse_people(std::string_view text) {
    return people_parameters(parse_given_parameters(text, {.who = "people", .parameters = people_fields().infos()}));
}

void validate(const WindowModel& model, const PeopleParameters& p) {
    validate(model);
    people_fields().check(p, "people");
    const int least = least_height_px(model, p), half = (model.height_px + 1) / 2;
    if (least < half || least > max_side_px)
        fail(ErrorCode::usage, "the minimum window height is {} pixels; allowed: {} (half the model's) to {}", least,
             half, max_side_px);
    if (p.most_height_px != 0 && (p.most_height_px < least || p.most_height_px > max_side_px))
        fail(ErrorCode::usage, "the maximum window height is {} pixels; allowed: {} (the minimum) to {}",
             p.most_height_px, least, max_side_px);
    if (p.capacity < 1 || p.capacity > most_capacity)
        fail(ErrorCode::usage, "the capacity is {} windows above the threshold; allowed: 1 to {}", p.capacity,
             most_capacity);
}

// Returns a message with the size of the smallest window and the smallest size that windows may have.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame) {
    if (!scales_of(model, parameters, frame).empty()) return {};
    const int least = least_height_px(model, parameters);
    const auto width = std::lround(static_cast<double>(model.width_px) * least / model.height_px);
    return fmt::format(
        "a frame of {} is smaller than the smallest window, {}x{} pixels; windows may be as small as half the "
        "model's, {}x{}",
        to_string(frame), width, least, (model.width_px + 1) / 2, (model.height_px + 1) / 2);
}

// Plans and memory of a detector.
struct PeopleDetector::State {
    // One size of windows.
    struct Level {
        Level(Hog hog_, std::int64_t first_window_, std::size_t descriptors_begin_)
            : hog(std::move(hog_)), first_window(first_window_), descriptors_begin(descriptors_begin_) {}

        Hog hog;
        std::int64_t first_window;      // index among all windows
        std::size_t descriptors_begin;  // offset in bytes; on the CPU all levels share the same memory
    };

    State(const WindowModel& model_, const PeopleParameters& parameters_, const Shape& frame_, Executor& executor_)
        : parameters(parameters_),
          executor(&executor_),
          scales(scales_of(model_, parameters_, frame_)),
          pyramid(scales, frame_, executor_, hog_planes(model_.hog, frame_.channels)),
          scores(model_, executor_) {
        WindowPlaces windows{
            .cell = model_.hog.cell, .width_px = model_.width_px, .height_px = model_.height_px, .frame = frame_};
        // On CUDA the levels run in parallel, so each has separate memory for its descriptors.
        const bool side_by_side = executor_.backend() == Backend::cuda;
        std::size_t begin = 0, end = 0;  // range of the descriptors' memory
        levels.reserve(scales.size());
        for (int level = 0; level < pyramid.levels(); ++level) {
            const auto image = pyramid.level_shape(level);
            Hog hog(model_.hog, {1, image.height, image.width, image.frames}, executor_);
            const auto shape = hog.output_shape();
            const auto grid = scores.grid(shape);
            levels.emplace_back(std::move(hog), windows.windows, begin);
            end = std::max(end, begin + shape.bytes());
            if (side_by_side) begin = (end + descriptors_alignment - 1) / descriptors_alignment * descriptors_alignment;
            windows.levels.push_back({scales[static_cast<std::size_t>(level)], grid.columns, windows.windows});
            windows.windows += grid.count();
        }
        descriptors = BackendBuffer(end + window_scores_margin_bytes, executor_);
        descriptors.fill(0);  // includes the bytes that are read after the last value
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

    // Processes the levels one after another on the CPU; they share the memory of the descriptors.
    void score(HostView<const std::uint8_t> frame) {
        pyramid.run(frame);
        for (int number = 0; number < pyramid.levels(); ++number) score_level<MemorySpace::host>(number);
    }

    // Records the levels to run in parallel, because the kernels of a small level leave most of a GPU idle.
    void record_levels() {
        cuda::record_branches(executor->stream(), pyramid.levels(), [&](int number) {
            pyramid.run_level(number);
            score_level<MemorySpace::device>(number);
        });
    }

    // The octaves depend on the address of the frame, so they are launched for each frame. The levels do not depend on
    // it: they are one graph, or part of the caller's graph while that is being recorded.
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
    ImagePyramid pyramid;
    WindowScores scores;
    std::vector<Level> levels;
    std::shared_ptr<const WindowPlaces> places;
    BackendBuffer descriptors, window_scores;  // for all windows
    std::optional<cuda::Graph> all_levels;     // CUDA only: the work after the octaves
};

PeopleDetector::PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                               Executor& executor) {
    // Check before anything is allocated.
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

// The candidates are in the order of their windows on the CPU, and in any order on the GPU.
void PeopleDetector::run(HostView<const std::uint8_t> frame, DetectedPeople& people) {
    auto& state = *state_;
    state.executor->require_space<MemorySpace::host>("a detector");
    validate(frame, state.places->frame, "the detector's frame");
    state.score(frame);
    const auto* scores = state.window_scores.as<float>();
    // The calling thread scans all windows; it reads only one float per window.
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

namespace {

constexpr double likeness = 0.2;  // OpenCV's `eps`, as a share of the sides

// Applies OpenCV's rules for boxes inside others.
bool gives_way(const Detection& box, std::int64_t boxes, const Detection& other, std::int64_t others) {
    const auto dx = std::lrint(other.width * likeness), dy = std::lrint(other.height * likeness);
    return box.x >= other.x - dx && box.y >= other.y - dy && box.x + box.width <= other.x + other.width + dx &&
           box.y + box.height <= other.y + other.height + dy &&
           (others > std::max<std::int64_t>(3, boxes) || boxes < 3);
}

}  // namespace

// Implements OpenCV's SimilarRects with the eps that groupRectangles() uses by default.
bool are_neighbours(const Detection& a, const Detection& b) {
    const double most = likeness * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
    return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most &&
           std::abs(a.x + a.width - b.x - b.width) <= most && std::abs(a.y + a.height - b.y - b.height) <= most;
}

NeighbourGroups::NeighbourGroups(std::size_t most) : leaders_(most), groups_(most), sums_(most), means_(most) {}

// Returns the leader of a box's group.
std::int32_t NeighbourGroups::leader(std::int32_t member) {
    auto& leaders = leaders_;
    const auto of = [&](std::int32_t box) -> std::int32_t& { return leaders[static_cast<std::size_t>(box)]; };
    while (of(member) != member) member = of(member) = of(of(member));  // halves the path for the next search
    return member;
}

// Applies union-find to all pairs of neighbouring boxes.
void NeighbourGroups::join(std::span<const Detection> detections) {
    const auto count = static_cast<std::int32_t>(detections.size());
    const auto box = [&](std::int32_t number) -> const Detection& {
        return detections[static_cast<std::size_t>(number)];
    };
    for (std::int32_t i = 0; i < count; ++i) {
        leaders_[static_cast<std::size_t>(i)] = i;
        for (std::int32_t j = 0; j < i; ++j)
            if (are_neighbours(box(i), box(j))) leaders_[static_cast<std::size_t>(leader(j))] = i;
    }
}

// Adds up the groups, drops small ones, averages the others, and drops boxes inside others.
std::size_t NeighbourGroups::operator()(std::span<Detection> detections, int neighbours) {
    if (detections.size() > leaders_.size())
        fail(ErrorCode::internal, "{} boxes to group; the limit is {}", detections.size(), leaders_.size());
    join(detections);
    std::size_t groups = 0;
    std::fill_n(groups_.begin(), detections.size(), -1);
    for (std::size_t i = 0; i < detections.size(); ++i) {
        const auto& box = detections[i];
        auto& group = groups_[static_cast<std::size_t>(leader(static_cast<std::int32_t>(i)))];
        if (group < 0) {
            group = static_cast<std::int32_t>(groups);
            sums_[groups++] = {0, 0, 0, 0, 0, box.score};
        }
        auto& sum = sums_[static_cast<std::size_t>(group)];
        sum = {sum.x + box.x,           sum.y + box.y, sum.width + box.width,
               sum.height + box.height, sum.count + 1, std::max(sum.score, box.score)};
    }
    // A group needs more than `neighbours` boxes.
    const auto too_small = [&](const Group& sum) { return sum.count <= neighbours; };
    groups = static_cast<std::size_t>(
        std::remove_if(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(groups), too_small) - sums_.begin());
    for (std::size_t i = 0; i < groups; ++i) {
        const auto& sum = sums_[i];
        const auto mean = [&](std::int64_t of) {
            return static_cast<std::int32_t>(
                std::lrint(static_cast<double>(of) * (1.0 / static_cast<double>(sum.count))));
        };
        means_[i] = {mean(sum.x), mean(sum.y), mean(sum.width), mean(sum.height), sum.score};
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < groups; ++i) {
        bool stays = true;
        for (std::size_t j = 0; j < groups && stays; ++j)
            stays = i == j || !gives_way(means_[i], sums_[i].count, means_[j], sums_[j].count);
        if (stays) detections[kept++] = means_[i];
    }
    std::ranges::sort(detections.first(kept), {}, detection_rank);
    return kept;
}

// Products are 64 bits wide, because boxes can be as large as a frame.
double intersection_over_union(const Detection& a, const Detection& b) {
    const auto common = [](std::int64_t first, std::int64_t first_size, std::int64_t second, std::int64_t second_size) {
        return std::max<std::int64_t>(std::min(first + first_size, second + second_size) - std::max(first, second), 0);
    };
    const auto area = [](const Detection& box) { return std::int64_t{box.width} * box.height; };
    const auto both = common(a.x, a.width, b.x, b.width) * common(a.y, a.height, b.y, b.height);
    return static_cast<double>(both) / static_cast<double>(area(a) + area(b) - both);
}

// Moves the kept detections to the front, in place.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap) {
    std::ranges::sort(detections, {}, detection_rank);
    auto kept = detections.begin();
    for (const auto& detection : detections)
        if (std::none_of(detections.begin(), kept,
                         [&](const Detection& better) { return intersection_over_union(better, detection) > overlap; }))
            *kept++ = detection;
    return static_cast<std::size_t>(kept - detections.begin());
}

}  // namespace framewire
