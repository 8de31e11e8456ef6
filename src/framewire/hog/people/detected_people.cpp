#include "framewire/hog/people/detected_people.hpp"

#include "framewire/hog/people/grouping/suppression.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace framewire {
namespace {

constexpr std::int64_t downloaded_at_once = 1024;  // candidates that are copied before their number is known

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

// The list has room for every window, since any number of them may exceed the threshold.
DetectedPeople::DetectedPeople(std::shared_ptr<const WindowPlaces> places, const PeopleParameters& parameters,
                               Executor& executor)
    : places_(std::move(places)), parameters_(parameters), transfer_(executor) {
    const auto bytes = list_begin_bytes + static_cast<std::size_t>(places_->windows) * sizeof(WindowCandidate);
    found_ = cuda::Twin<BufferIn>(executor, bytes);
    detections_.resize(static_cast<std::size_t>(std::min<std::int64_t>(places_->windows, parameters.capacity)));
    if (parameters.group == PeopleGrouping::neighbours) neighbours_ = NeighbourGroups(detections_.size());
    if (executor.backend() == Backend::cpu) return;
    // Copies include entries that no candidate has used yet, so they must be initialised.
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

// Almost always one copy suffices. If there are more candidates, all of them are copied again.
void DetectedPeople::wait() {
    transfer_.wait();
    if (downloaded_ > 0 && candidates() > downloaded_) {
        download(candidates());
        transfer_.wait();
    }
    group();
}

// Converts candidates to detections: the best ones up to the capacity, then grouping.
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
    // Place and size were rounded independently of each other.
    for (auto& mean : windows.first(detection_count_)) {
        mean.x = std::min(mean.x, places_->frame.width - mean.width);
        mean.y = std::min(mean.y, places_->frame.height - mean.height);
    }
}

}  // namespace framewire
