#pragma once

#include "framewire/media/live_video.hpp"
#include "framewire/media/sound.hpp"
#include "framewire/service/live_camera.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service {

/// A smaller or slower copy of a camera's video. The default is the picture that viewers see, with all frames.
struct VideoVariant {
    /// Width in pixels, even; the height keeps the aspect ratio.
    std::optional<int> width{};
    /// Frames per second at most.
    std::optional<double> max_rate{};

    /// Parses the values of `width` and `max-rate` in a query; other names are ignored. Throws Error{usage} if a value
    /// is not allowed.
    static VideoVariant parse(const std::map<std::string, std::string, std::less<>>& query);
    /// Parses the text after "?" in an address, such as "width=640&max-rate=15", which must not be percent-encoded.
    /// Throws Error{usage} as the function above does.
    static VideoVariant parse(std::string_view query);

    friend auto operator<=>(const VideoVariant&, const VideoVariant&) = default;
};

/// Returns false if a query has `audio=0`. Throws Error{usage} if the value is neither 0 nor 1.
bool parse_audio(const std::map<std::string, std::string, std::less<>>& query);
/// Returns false if the text after "?" in an address has `audio=0`. Throws Error{usage} as the function above does.
bool parse_audio(std::string_view query);

/// Returns "width=640&max-rate=15", or an empty text for the default.
std::string to_string(const VideoVariant& variant);

/// Standard video of a server.
struct VideoOptions {
    /// Settings of the encoders; empty: the server offers no video.
    std::optional<LiveVideoSettings> encoder{};
};

/// Counters of a camera's video, over all encoders since the start.
struct VideoStatistics {
    /// Subscribers now.
    int subscribers = 0;
    /// Encoders now. At most one per variant.
    int encoders = 0;
    /// FFmpeg's name of the encoder that was opened last; empty before the first one.
    std::string encoder{};
    /// Access units and key pictures, and their bytes.
    std::int64_t frames = 0, keyframes = 0, bytes = 0;
    /// Access units that slow subscribers skipped.
    std::int64_t skipped = 0;
    /// Error message of the encoder that failed last; empty if the newest one works.
    std::string failure{};
};

/// H.264 video of a served camera, encoded once for all subscribers of all protocols, and only while there are any.
///
/// The pictures are those that viewers see: filtered, with privacy masks. Access units of pictures that a completed
/// request withdrew (LiveCamera::oldest_picture_version()) are never delivered after the request; the next access unit
/// is then a keyframe. If the camera delivers no new picture for 0.4 s, the last one is encoded again. Thread-safe.
class CameraVideo {
    struct State;

public:
    /// Counters that several videos share. Their type is internal.
    struct Counters;

    /// Starts a thread, which sleeps while there is no subscriber. Shares ownership of the camera. If `counters` is
    /// null, the video has its own.
    CameraVideo(std::shared_ptr<LiveCamera> camera, LiveVideoSettings settings, const VideoVariant& variant = {},
                std::shared_ptr<Counters> counters = {});
    /// Ends all subscriptions.
    ~CameraVideo();
    CameraVideo(const CameraVideo&) = delete;
    CameraVideo& operator=(const CameraVideo&) = delete;

    /// One subscriber. Its queue is bounded: if it falls behind by more than queue_limit or queue_limit_bytes, the
    /// queue is cleared and continues with the next keyframe. Destroying it unsubscribes. It may outlive the
    /// CameraVideo.
    class Subscription {
    public:
        /// Unsubscribes. The `wake` function is not called afterwards; do not destroy the object in that function.
        ~Subscription();
        Subscription(const Subscription&) = delete;
        Subscription& operator=(const Subscription&) = delete;

        /// Result of take().
        struct Taken {
            /// Sound in order, from the first of `units` on; empty if the subscription is without sound. A subscriber
            /// that skips access units skips their sound.
            std::vector<SoundUnit> sound{};
            /// Format of the sound that can be expected; null if the source has had none. Units of another format may
            /// precede a change. The format stays while the sound pauses, and silence takes the place of the sound.
            std::shared_ptr<const SoundFormat> sound_format{};
            /// Access units in order, all of one format.
            std::vector<std::shared_ptr<const AccessUnit>> units;
            /// Format of `units`; null if there are none. A new format has a new object.
            std::shared_ptr<const VideoFormat> format;
            /// True if access units before `units` were skipped or withdrawn; `units` then begin with a keyframe.
            bool lost = false;
            /// True if no more access units will follow.
            bool ended = false;
            /// Why it ended: the encoder's error message. Empty if the camera's server stops.
            std::string failure{};
        };
        /// Removes and returns all queued access units up to the next change of format. The first access unit of a
        /// subscription is a keyframe.
        Taken take();
        /// Waits for the first keyframe and returns the format of the access unit that take() returns next; null if
        /// there is none within `limit` or the subscription ended.
        std::shared_ptr<const VideoFormat> format(std::chrono::milliseconds limit = std::chrono::seconds(5));

    private:
        friend class CameraVideo;
        struct Queue;
        explicit Subscription(std::shared_ptr<State> video, std::shared_ptr<Queue> queue);
        std::shared_ptr<State> video_;
        std::shared_ptr<Queue> queue_;
    };

    /// Bounds of a subscriber's queue.
    static constexpr std::chrono::seconds queue_limit{4};
    /// Bounds of a subscriber's queue.
    static constexpr std::size_t queue_limit_bytes = std::size_t{16} << 20;
    /// Minimum time from one keyframe to a requested one.
    static constexpr std::chrono::milliseconds keyframe_pause{500};
    /// Silence takes the place of sound that is behind its pictures by this, or by this more than it usually is.
    /// Players would stop the pictures until there is sound again.
    static constexpr std::chrono::milliseconds sound_patience{500};
    /// Minimum time from the failure of an encoder to the next attempt.
    static constexpr std::chrono::seconds retry_pause{3};

    /// Adds a subscriber, and opens the encoder if it is the first one. Its first access unit is the newest keyframe if
    /// that is younger than keyframe_pause, and otherwise a new one. `wake` is called, on any thread, when access units
    /// arrive in an empty queue or the subscription ends. It is called with a mutex held, so it must not call the
    /// subscription or this object. With `sound`, the subscription also has the source's sound, if the camera has any.
    std::unique_ptr<Subscription> subscribe(std::function<void()> wake, bool sound = false);
    /// Makes a picture a keyframe, at the earliest keyframe_pause after the last one.
    void request_keyframe();
    /// Returns the counters.
    VideoStatistics statistics() const;
    /// Returns why new subscriptions end at once: the error message of an encoder that failed less than retry_pause
    /// ago. Otherwise empty.
    std::string failure() const;
    /// Returns the variant.
    const VideoVariant& variant() const;
    /// Returns the camera.
    const LiveCamera& camera() const;

private:
    std::shared_ptr<State> state_;
};

/// Throws Error{config} if there is nothing to show yet, or if the encoder has just failed.
void check_video(const CameraVideo& video);

/// All variants of one camera's video. Thread-safe.
class CameraVideos {
public:
    /// Maximum number of variants that are in use at the same time.
    static constexpr std::size_t most_variants = 4;

    /// Shares ownership of the camera.
    CameraVideos(std::shared_ptr<LiveCamera> camera, LiveVideoSettings settings);

    /// Returns the video of a variant, which is in use as long as the caller keeps it. A width or rate that does not
    /// make the picture smaller or slower is ignored. Throws Error{config} if most_variants other ones are in use.
    std::shared_ptr<CameraVideo> variant(const VideoVariant& wanted);
    /// Returns the counters of all variants since the start.
    VideoStatistics statistics() const;
    /// Returns the camera.
    const std::shared_ptr<LiveCamera>& camera() const { return camera_; }

private:
    std::shared_ptr<LiveCamera> camera_;
    LiveVideoSettings settings_;
    std::shared_ptr<CameraVideo::Counters> counters_;
    std::mutex mutex_;
    std::map<VideoVariant, std::weak_ptr<CameraVideo>> variants_;
};

}  // namespace framewire::service
