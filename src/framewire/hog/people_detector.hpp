#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace framewire {

/// A window whose score exceeds the threshold.
struct WindowCandidate {
    std::int32_t window;  ///< index among the windows of all levels
    float score;

    friend constexpr bool operator==(const WindowCandidate&, const WindowCandidate&) = default;
};

/// Queues a kernel that fills `candidates` with the windows whose score exceeds the threshold, in any order,
/// and sets `*count`. Both are in device memory; there must be room for `windows` candidates.
void collect_candidates(const float* scores, std::int32_t windows, float threshold, WindowCandidate* candidates,
                        std::int32_t* count, const cuda::Stream& stream);

/// A detected box inside the frame, in pixels, with its score.
struct Detection {
    std::int32_t x, y, width, height;
    float score;

    friend constexpr bool operator==(const Detection&, const Detection&) = default;
};

/// Returns true if two boxes are neighbours in the sense of OpenCV's SimilarRects: the positions of each of their four
/// sides differ by at most a fifth of the mean of the smaller width and the smaller height.
bool are_neighbours(const Detection& a, const Detection& b);

/// Merges boxes that are neighbours, directly or through a chain of neighbours, into one box per group, like OpenCV's
/// HOGDescriptor::groupRectangles. Allocates all memory in the constructor. One call at a time.
class NeighbourGroups {
public:
    /// Makes room for `most` boxes.
    explicit NeighbourGroups(std::size_t most);

    /// Replaces each group of more than `neighbours` boxes by their mean, with each number rounded to nearest (half to
    /// even) and the best score of the group, and drops smaller groups. Also drops a group if its box is inside the box
    /// of another group, extended by a fifth of its sides, provided that the other group has more than three boxes and
    /// more than this group, or that this group has fewer than three. Moves the resulting boxes to the front, best
    /// first (see detection_rank()), and returns their number. The order of the input does not matter. The time is
    /// quadratic in the number of boxes, which must not exceed the room.
    std::size_t operator()(std::span<Detection> detections, int neighbours);

private:
    // Sums over the boxes of a group.
    struct Group {
        std::int64_t x, y, width, height, count;  // sums
        float score;
    };

    std::int32_t leader(std::int32_t member);
    void join(std::span<const Detection> detections);

    std::vector<std::int32_t> leaders_;  // for each box, another box of its group or itself
    std::vector<std::int32_t> groups_;   // for each leader, the index of its group
    std::vector<Group> sums_;
    std::vector<Detection> means_;
};

/// Methods to combine windows above the threshold that show the same person.
enum class PeopleGrouping {
    overlap,     ///< keeps the best of overlapping windows: suppress_overlapping()
    neighbours,  ///< replaces adjacent windows by one box, their mean: NeighbourGroups
};

/// Names of the methods on the command line and in messages.
inline constexpr NamedValue<PeopleGrouping> people_grouping_names[] = {{"overlap", PeopleGrouping::overlap},
                                                                       {"neighbours", PeopleGrouping::neighbours}};

/// Parameters of PeopleDetector.
struct PeopleParameters {
    float threshold = 0;       ///< finite score above which windows become candidates
    double scale_step = 1.05;  ///< ratio of one window size to the next, 1.05 to 2
    PeopleGrouping group = PeopleGrouping::neighbours;
    /// Intersection over union above which the worse of two detections is dropped, 0 to 1. Only for
    /// PeopleGrouping::overlap.
    double overlap = 0.3;
    /// Size up to which groups of windows are dropped, 0 to 1000. Only for PeopleGrouping::neighbours.
    int neighbours = 3;
    /// Smallest window height in frame pixels, at least half of the model's height; 0: the model's height.
    int least_height_px = 0;
    /// Largest window height in frame pixels, at least the smallest height; 0: limited only by the frame.
    int most_height_px = 0;
    int capacity = 4096;  ///< maximum number of candidates, the best ones, that are grouped, 1 to 65536
};

template <class Aggregate>
class ParameterFields;

/// Returns the names, ranges and help texts of all parameters except the capacity.
const ParameterFields<PeopleParameters>& people_fields();

/// Makes the parameters from validated values of people_fields(). An overlap implies PeopleGrouping::overlap. Throws
/// Error{usage} if a given value would have no effect with the grouping.
PeopleParameters people_parameters(const ParameterValues& given);

/// Parses the parameters as "threshold=0.5:group=overlap"; an empty text gives the defaults. Throws Error{usage} if a
/// name or a value is not allowed, and as above.
PeopleParameters parse_people(std::string_view text);

/// Positions in the frame of a detector's windows, by index: level by level, each in raster order.
struct WindowPlaces {
    /// One size of windows.
    struct Level {
        double scale;  ///< pixels of the frame per pixel of the level
        int columns;
        std::int64_t first_window;
    };
    std::vector<Level> levels{};
    std::int64_t windows = 0;
    int cell = 0, width_px = 0, height_px = 0;  ///< the model's cell and window size
    Shape frame{};

    /// Returns the window of a candidate as a box in the frame.
    Detection of(const WindowCandidate& candidate) const;
};

/// Detections of one frame: the windows above the threshold, on their way to the host, and the result of grouping them.
/// Several objects may be in flight while the detector continues. PeopleDetector::make_people() makes them. Move-only.
class DetectedPeople {
public:
    DetectedPeople() = default;

    /// Queues the copy of a run's candidates to the host, after the work that is already queued on the executor's
    /// stream.
    void download();
    /// Blocks until the copy that download() queued is done, then groups the candidates. Throws if finding them failed.
    /// Copies only windows above the threshold.
    void wait();
    /// Returns the detections, best first.
    std::span<const Detection> detections() const { return std::span(detections_).first(detection_count_); }
    /// Returns the number of windows above the threshold.
    std::int64_t candidates() const;

private:
    friend class PeopleDetector;
    DetectedPeople(std::shared_ptr<const WindowPlaces> places, const PeopleParameters& parameters, Executor& executor);

    // Returns the start of the memory: it holds the number of candidates, then the candidates.
    template <MemorySpace space>
    std::int32_t* count() const {
        return reinterpret_cast<std::int32_t*>(data<space>());
    }
    template <MemorySpace space>
    WindowCandidate* list() const {
        return reinterpret_cast<WindowCandidate*>(data<space>() + list_begin_bytes);
    }
    template <MemorySpace space>
    std::uint8_t* data() const {
        return found_.in<space>().data();
    }
    void download(std::int64_t first);
    void group();

    static constexpr std::size_t list_begin_bytes = 16;

    std::shared_ptr<const WindowPlaces> places_;
    PeopleParameters parameters_{};
    NeighbourGroups neighbours_{0};
    cuda::MirroredBuffer<BufferIn> found_;
    std::int64_t downloaded_ = 0;
    std::vector<Detection> detections_;  // the first detection_count_ are valid
    std::size_t detection_count_ = 0;
    cuda::Transfer transfer_;  // last member, so that it waits before the candidates are destroyed
};

/// Throws Error{usage} if the model or the parameters are not allowed.
void validate(const WindowModel& model, const PeopleParameters& parameters);

/// Returns a message with the reason why no window fits into such a frame, or an empty text if one fits. Throws the
/// errors of validate(), and Error{usage} if the frame is not allowed.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame);

/// Finds the objects that a linear model of a window was trained to find, at all positions and sizes (Dalal and Triggs
/// 2005):
///
///     frame -> ImagePyramid -> Hog per level -> WindowScores, one window per cell -> windows above the threshold
///           -> suppress_overlapping() or NeighbourGroups
///
/// Windows lie inside the frame: people who are cut off by its border are found only as far as the model's windows have
/// a margin around what they show. CPU and CUDA differ only by the rounding of descriptors and scores; each always
/// finds the same in the same frame. One run at a time.
class PeopleDetector {
public:
    /// Prepares detection in frames of shape `frame`: one frame with 1 or 3 channels. Throws Error{usage} if the model
    /// or the parameters are not allowed or if the frame is smaller than the smallest window, Error{config} if there is
    /// not enough memory.
    PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                   Executor& executor);
    ~PeopleDetector();
    PeopleDetector(PeopleDetector&&) noexcept;
    PeopleDetector& operator=(PeopleDetector&&) noexcept;

    /// Returns the parameters passed to the constructor.
    const PeopleParameters& parameters() const;
    /// Returns the number of window sizes that are scored.
    int levels() const;
    /// Returns the number of windows that are scored in each frame.
    std::int64_t windows() const;

    /// Returns memory for the detections of one frame.
    DetectedPeople make_people() const;

    /// Processes the next frame, which may have any strides, and returns when done. The detections are in `people`
    /// after its download() and wait(). Allocates nothing.
    void run(HostView<const std::uint8_t> frame, DetectedPeople& people);
    /// Queues the processing of a frame in device memory on the executor's stream.
    void run(DeviceView<const std::uint8_t> frame, DetectedPeople& people);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns the rank of a detection; the better of two has the lower rank. The higher score is better, then the upper
/// one, then the left one, then the smaller one.
constexpr auto detection_rank(const Detection& d) { return std::tuple(-d.score, d.y, d.x, d.height, d.width); }

/// Returns the intersection of two boxes over their union: 0 to 1.
double intersection_over_union(const Detection& a, const Detection& b);

/// Applies greedy non-maximum suppression: keeps the best detection and drops those that overlap it by more than
/// `overlap` (intersection over union), then keeps the best of the remaining ones, and so on. Moves the kept detections
/// to the front, best first, and returns their number. The order of the input does not matter. Allocates nothing; the
/// time is proportional to the number of detections times the number of kept ones.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap);

}  // namespace framewire
