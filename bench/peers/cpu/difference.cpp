#include "framewire/codec/delta.hpp"
#include "framewire/core/error.hpp"
#include "peers/others.hpp"

#include <fmt/format.h>

#include <utility>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace difference_contest {

constexpr int threshold = 20;

// Returns the index of a turn's frame. The difference needs two frames, even if a table's frames stay in a cache.
int frame_of(const Setting& setting, int turn) { return turn % setting.count(); }

// Does the same with OpenCV: finds the bytes that changed and by how much, and updates the reference.
#if FRAMEWIRE_OPENCV
struct Peer {
    HostImage reference;
    cv::Mat distance{}, changed{};
    std::vector<cv::Point> positions{};
    std::vector<std::uint8_t> differences{};

    void run(HostView<std::uint8_t> frame) {
        const auto& shape = frame.shape();
        const cv::Mat current(shape.height, shape.width * shape.channels, CV_8UC1, frame.data());
        cv::Mat held(current.size(), CV_8UC1, reference.view().data());
        cv::absdiff(current, held, distance);
        cv::threshold(distance, changed, threshold, 255, cv::THRESH_BINARY);
        positions.clear();
        cv::findNonZero(changed, positions);
        differences.resize(positions.size());
        for (std::size_t index = 0; index < positions.size(); ++index)
            differences[index] = static_cast<std::uint8_t>(current.at<std::uint8_t>(positions[index]) -
                                                           held.at<std::uint8_t>(positions[index]));
        current.copyTo(held, changed);
    }
};

std::string agreement_of(const Peer& peer, const codec::ChangesView<MemorySpace::host>& changes, const Shape& shape) {
    const auto count = changes.summaries->count;
    if (peer.positions.size() != count)
        fail(ErrorCode::internal, "OpenCV finds {} changes, framewire {}; not timed", peer.positions.size(), count);
    for (std::uint32_t index = 0; index < count; ++index) {
        const auto& at = peer.positions[index];
        if (at.y * shape.row_bytes() + at.x != changes.positions[index] ||
            peer.differences[index] != changes.differences[index])
            fail(ErrorCode::internal, "change {} differs from OpenCV's in position or value; not timed", index);
    }
    return fmt::format("equal, {:.1f} % of bytes", 100.0 * count / static_cast<double>(shape.bytes()));
}
#endif

}  // namespace difference_contest

void hold_difference_contest(Session& session, const Setting& setting) {
    using namespace difference_contest;
    const auto shape = setting.pictures->frame();
    const auto first = std::as_const(setting.pictures->room).view();
    codec::Encoder encoder({.threshold = threshold}, shape, session.cpu());
    codec::HostChanges changes(shape);
    HostImage reference(shape);
    copy(first, reference.view());
    std::vector<Contestant> contestants{
        {"framewire cpu",
         [&](int turn) { encoder.encode(setting.frame(frame_of(setting, turn)), reference.view(), changes.view()); }}};
#if FRAMEWIRE_OPENCV
    Peer peer{HostImage(shape)};
    copy(first, peer.reference.view());
    contestants.push_back({"OpenCV", [&](int turn) { peer.run(setting.frame(frame_of(setting, turn))); },
                           [&] {
                               auto text = agreement_of(peer, changes.view(), shape);
                               agreement(peer.reference.view(), reference.view(), {}, "OpenCV's reference");
                               return text;
                           },
                           "OpenCV has no function that gathers differences, so the benchmark does it in a loop."});
#endif
    // Factor 2: both the frame and the reference are read.
    hold_contest(session, setting, "difference", 2.0 * static_cast<double>(shape.bytes()), std::move(contestants));
}

}  // namespace framewire::bench
