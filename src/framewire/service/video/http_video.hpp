#pragma once

#include "framewire/media/fragmented_mp4.hpp"
#include "framewire/net/http.hpp"
#include "framewire/service/video/camera_video.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::service {

/// Limits of HLS. The defaults suit players with low latency.
struct HlsLimits {
    /// A keyframe is requested when a segment is this long. The first segments are shorter, so that players start soon.
    std::chrono::milliseconds segment{2000}, first_segment{600};
    /// Duration of a part (EXT-X-PART). No part is longer, unless encoding is late.
    std::chrono::milliseconds part{500};
    /// Segments in the playlist, and segments kept in memory for slow clients.
    std::size_t listed = 6, kept = 8;
    /// Bytes kept in memory. The oldest segments are dropped first; the newest two always stay.
    std::size_t kept_bytes = std::size_t{64} << 20;
    /// Requests that may wait for a part at the same time. Further ones are answered at once.
    std::size_t waiting = 64;
    /// Maximum time that a request waits.
    std::chrono::milliseconds wait{6000};
    /// The encoder stops this long after the last request.
    std::chrono::milliseconds idle{15'000};
};

/// HLS playlist with low-latency parts, as a growing window of segments (RFC 8216, and its second edition,
/// draft-pantos-hls-rfc8216bis). Knows nothing about time, threads or connections. Not thread-safe.
class HlsWindow {
public:
    /// One file of the playlist.
    using File = std::shared_ptr<const std::string>;

    /// `query` is appended to all addresses in the playlist, such as "width=640"; empty: nothing. Segments are numbered
    /// from `first_number` on.
    HlsWindow(const HlsLimits& limits, std::string query, std::uint64_t first_number);

    /// Starts a new timeline with another header. Earlier segments are dropped.
    void begin(std::string header);
    /// Adds a fragment. A keyframe after limits.segment starts the next segment. The first fragment of a timeline must
    /// be a keyframe.
    void add(const Mp4Fragment& fragment, bool key, std::uint64_t version);
    /// Completes the segment that grows. The next fragment, which must be a keyframe, starts another one.
    void cut();
    /// Drops segments with pictures older than `oldest`, and all earlier ones.
    void withdraw(std::uint64_t oldest);

    /// Returns true if the next fragment starts a segment, so that it must be a keyframe.
    bool starts_segment() const;
    /// Returns true if a keyframe should start the next segment now.
    bool wants_key() const;
    /// Returns true if the playlist has a complete segment. Players without low latency need one.
    bool has_segment() const;
    /// Returns true if the playlist contains a segment, or part `part` of it. Also true for what it will never contain,
    /// because it is older.
    bool has(std::uint64_t number, std::optional<std::uint64_t> part) const;
    /// Returns the number of the segment that grows now, or that starts with the next fragment.
    std::uint64_t number() const;
    /// Returns the number of complete parts in that segment.
    std::size_t parts() const;
    /// Returns the oldest version of a picture in a segment; 0 if it is not in memory.
    std::uint64_t version_of(std::uint64_t number) const;
    /// Returns the playlist.
    std::string playlist() const;
    /// Returns a file by the name that the playlist gives it: "12.mp4", "12.3.mp4", "init-4.mp4"; null if it is not in
    /// memory.
    File file(std::string_view name) const;
    /// Returns the number and part of a name such as "12.3.mp4"; empty for other names.
    static std::optional<std::pair<std::uint64_t, std::uint64_t>> part_named(std::string_view name);

private:
    struct Part {
        File bytes;
        std::int64_t duration = 0;
        bool independent = false;
    };
    struct Segment {
        std::uint64_t number = 0;
        std::vector<Part> parts{};
        std::int64_t duration = 0;
        std::size_t bytes = 0;
        std::uint64_t oldest_version = 0;
        bool complete = false;
        std::chrono::system_clock::time_point begun{};
    };

    void close_part();
    void trim();
    std::string address(std::string_view name) const;

    HlsLimits limits_;
    std::string query_;
    std::uint64_t next_number_;
    std::uint64_t timelines_ = 0;
    File header_;
    std::vector<Segment> segments_;
    // Part that grows.
    std::string part_;
    std::int64_t part_duration_ = 0;
    bool part_independent_ = false;
    std::uint64_t closed_segments_ = 0;  // of this timeline
};

/// A camera's video over HTTP: fragmented MP4 as one endless response, and HLS. Both get the same fragments, which are
/// packed once, on a thread that sleeps while there are no clients. Thread-safe.
class HttpVideo {
public:
    /// Shares ownership of the video. With `sound`, clients get the camera's sound, if it has any that MP4 holds.
    explicit HttpVideo(std::shared_ptr<CameraVideo> video, const HlsLimits& limits = {}, bool sound = true);
    /// Ends the responses of all clients.
    ~HttpVideo();
    HttpVideo(const HttpVideo&) = delete;
    HttpVideo& operator=(const HttpVideo&) = delete;

    /// Responds with the stream as fragmented MP4. The client starts with the header and a keyframe.
    net::http::Response mp4();
    /// Responds with the HLS playlist. Starts the encoder if it does not run, and then responds once there is a
    /// segment. `query` may contain _HLS_msn and _HLS_part, the segment and part to wait for. Throws Error{usage} if
    /// they are invalid or too far ahead.
    net::http::Response playlist(const std::map<std::string, std::string, std::less<>>& query);
    /// Responds with a file that the playlist names, and waits for the next part. Throws Error{no_input} if there is no
    /// such file.
    net::http::Response file(std::string_view name);

    /// Makes the object not idle for a few seconds, in which a client can connect.
    void expect_client();
    /// Returns the number of clients that receive fragmented MP4.
    int clients() const;
    /// Returns true if there are neither clients nor recent requests.
    bool is_idle() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// All variants of one camera's video over HTTP. Thread-safe.
class HttpVideos {
public:
    /// Shares ownership of the videos.
    explicit HttpVideos(std::shared_ptr<CameraVideos> videos, const HlsLimits& limits = {})
        : videos_(std::move(videos)), limits_(limits) {}

    /// Returns the video of the variant in a query, see VideoVariant::parse(), without sound if the query has
    /// `audio=0`. Variants without clients are dropped. Throws as VideoVariant::parse() and CameraVideos::variant() do.
    std::shared_ptr<HttpVideo> of(const std::map<std::string, std::string, std::less<>>& query);
    /// Returns the encoders' counters.
    VideoStatistics statistics() const { return videos_->statistics(); }
    /// Returns the number of clients that receive fragmented MP4.
    int clients() const;

private:
    std::shared_ptr<CameraVideos> videos_;
    HlsLimits limits_;
    mutable std::mutex mutex_;
    // by variant, with and without sound
    std::map<std::pair<VideoVariant, bool>, std::shared_ptr<HttpVideo>> all_;
};

}  // namespace framewire::service
