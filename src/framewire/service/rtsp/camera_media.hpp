#pragma once

#include "framewire/service/rtsp/glib_pointers.hpp"
#include "framewire/service/video/camera_video.hpp"

#include <gst/app/gstappsrc.h>
#include <gst/rtsp-server/rtsp-server.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace framewire::service {

class CameraFeed;

/// Passes access units from subscriptions to GStreamer, on one thread for all of them, because a subscription may not
/// be used in its wake function. Thread-safe.
class FeedPump {
public:
    /// Starts the thread.
    FeedPump();
    /// Joins the thread. Feeds may outlive the pump's thread, but then they get no more access units.
    ~FeedPump() { stop(); }
    FeedPump(const FeedPump&) = delete;
    FeedPump& operator=(const FeedPump&) = delete;

    /// Lets the thread take what has arrived for this feed.
    void wake(std::weak_ptr<CameraFeed> feed);
    /// Ends the thread.
    void stop();

private:
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::weak_ptr<CameraFeed>> woken_;
    std::jthread thread_;
};

/// Parts of a server that its feeds share.
struct FeedParts {
    /// Thread that passes access units on.
    FeedPump pump{};
    /// Ends the connections of all clients of a media; called on any thread.
    std::function<void(GstRTSPMedia* media)> end{};
    /// Ends the connections of those clients of a media for whom video waits to be sent, without sending it; called on
    /// any thread.
    std::function<void(GstRTSPMedia* media)> end_slow{};
    /// True if RTP may only be interleaved in the TCP connection, which TLS encrypts.
    bool tcp_only = false;
    /// Number of feeds that exist.
    std::atomic<int> feeds = 0;
    /// Part of the keys of medias. It grows when one ends, so that new clients do not get the one that ends.
    std::atomic<unsigned> generation = 0;
};

/// Sound of a media: its appsrc, which is not owned, and its format. The default is no sound.
struct FeedSound {
    GstAppSrc* source = nullptr;                  ///< null: there is no sound
    std::shared_ptr<const SoundFormat> format{};  ///< of all buffers
};

/// Connects one subscription with the appsrcs of one GstRTSPMedia. They own it. Thread-safe.
class CameraFeed : public std::enable_shared_from_this<CameraFeed> {
public:
    /// `source` is the appsrc of the pictures, which is not owned.
    CameraFeed(std::shared_ptr<CameraVideo> video, GstAppSrc* source, const FeedSound& sound,
               std::shared_ptr<FeedParts> parts);
    ~CameraFeed();
    CameraFeed(const CameraFeed&) = delete;
    CameraFeed& operator=(const CameraFeed&) = delete;

    /// Subscribes to the video when an appsrc starts. Further calls do nothing.
    void start();
    /// Sets the media to which the appsrc belongs.
    void set_media(GstRTSPMedia* media) { g_weak_ref_set(&media_, media); }
    /// Passes the queued access units and sound to the appsrcs. Ends the media if the video has ended, or it or the
    /// sound has changed its format.
    void pass_on();
    /// Requests a keyframe for a client that has just joined.
    void request_keyframe() { video_->request_keyframe(); }

private:
    void push(GstAppSrc* source, const std::shared_ptr<const AccessUnit>& unit);
    void push(GstAppSrc* source, const SoundUnit& unit);
    void end(const std::string& why);
    void drop_withdrawn();

    const std::shared_ptr<CameraVideo> video_;
    const std::shared_ptr<FeedParts> parts_;
    GWeakRef source_, sound_source_, media_;
    const std::shared_ptr<const SoundFormat> sound_format_;  // null: there is no sound
    std::mutex mutex_;
    std::unique_ptr<CameraVideo::Subscription> subscription_;
    bool started_ = false, ended_ = false, waits_for_key_ = true;
    std::shared_ptr<const VideoFormat> format_;
    // see LiveCamera::oldest_picture_version()
    std::uint64_t oldest_version_ = 0;
    // pts of the first access unit, which is running time 0
    std::optional<std::int64_t> first_pts_;
    std::int64_t sound_end_ = -1;  // pts of the end of the last sound
};

/// Returns the part of an address's query that selects the variant. Players append the name of a track to the whole
/// address: "width=640/stream=0".
std::string variant_query(const GstRTSPUrl& url);

/// Returns a server whose cameras have variants: GStreamer's own takes the query for a part of the path in some
/// requests and drops it in others.
ObjectPointer<GstRTSPServer> make_variant_server();

/// Creates a factory for a camera's streams: one shared media per variant.
ObjectPointer<GstRTSPMediaFactory> make_camera_factory(std::shared_ptr<CameraVideos> videos,
                                                       std::shared_ptr<FeedParts> parts);

/// Returns the feed of a media that such a factory made.
std::shared_ptr<CameraFeed> feed_of(GstRTSPMedia* media);

}  // namespace framewire::service
