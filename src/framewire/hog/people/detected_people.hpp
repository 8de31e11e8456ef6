#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"
#include "framewire/hog/people/candidates.hpp"
#include "framewire/hog/people/detection.hpp"
#include "framewire/hog/people/grouping/neighbours.hpp"
#include "framewire/hog/people/people_parameters.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire {

/// Positions in the frame of a detector's windows, by index: level by level, each in raster order.
struct WindowPlaces {
    // One size of windows.
    struct Level {
        double scale;  ///< pixels of the frame per pixel of the level
        int columns;
        std::int64_t first_window;
    };
    std::vector<Level> levels{};
    std::int64_t windows = 0;
    int cell = 0, width_px = 0, height_px = 0;  ///< of the model
    Shape frame{};

    /// Returns the window of a candidate as a box in the frame.
    Detection of(const WindowCandidate& candidate) const;
};

/// The detections of one frame: the windows above the threshold, on their way to the host, and the result of
/// grouping them. Several objects may be in flight while the detector continues. Made by
/// PeopleDetector::make_people(). Move-only.
class DetectedPeople {
public:
    DetectedPeople() = default;

    /// Queues the copy of a run's candidates to the host, in order with the work queued so far on the
    /// executor's stream.
    void download();
    /// Blocks until the copy that download() queued is done, then groups the candidates; throws if finding them
    /// failed. Only windows above the threshold are copied.
    void wait();
    /// Returns the detections, best first.
    std::span<const Detection> detections() const { return std::span(detections_).first(detection_count_); }
    /// Returns how many windows were above the threshold.
    std::int64_t candidates() const;

private:
    friend class PeopleDetector;
    DetectedPeople(std::shared_ptr<const WindowPlaces> places, const PeopleParameters& parameters, Executor& executor);

    // Memory: the number of candidates, then the candidates.
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
    cuda::Twin<BufferIn> found_;
    std::int64_t downloaded_ = 0;
    std::vector<Detection> detections_;  // the first detection_count_ are valid
    std::size_t detection_count_ = 0;
    cuda::Transfer transfer_;  // last member: it waits before the candidates are destroyed
};

}  // namespace framewire
