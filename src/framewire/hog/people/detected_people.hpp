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

/// Where the windows of a detector lie in the frame, by their numbers: level by level, each in raster order.
struct WindowPlaces {
    struct Level {
        double scale;  ///< pixels of the frame to one of the level's
        int columns;
        std::int64_t first_window;
    };
    std::vector<Level> levels{};
    std::int64_t windows = 0;
    int cell = 0, width_px = 0, height_px = 0;  ///< the model's
    Shape frame{};

    /// The window of a candidate, as a box in the frame.
    Detection of(const WindowCandidate& candidate) const;
};

/// Who a detector finds in one frame: the windows above its threshold, on their way to the host, and of these the ones
/// that stay, or the means of groups of them. Several may be on their way while the detector goes on. Made by
/// PeopleDetector::make_people(). Move-only.
class DetectedPeople {
public:
    DetectedPeople() = default;

    /// Queues what a run found for the host, as the work queued so far on the executor's stream leaves it.
    void download();
    /// Returns when what download() queued is there; throws what finding it failed with. Only windows above the
    /// threshold travel.
    void wait();
    /// Best first.
    std::span<const Detection> detections() const { return std::span(detections_).first(detection_count_); }
    /// How many windows were above the threshold.
    std::int64_t candidates() const;

private:
    friend class PeopleDetector;
    DetectedPeople(std::shared_ptr<const WindowPlaces> places, const PeopleParameters& parameters, Executor& executor);

    // How many candidates there are, and behind it the candidates.
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
    std::vector<Detection> detections_;  // the first detection_count_ of them
    std::size_t detection_count_ = 0;
    cuda::Transfer transfer_;  // last: it is over before the candidates go
};

}  // namespace framewire
