#include "framewire/service/rtsp/camera_media.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/service/rtsp/access_unit_buffer.hpp"

#include <fmt/format.h>
#include <gst/base/gstbasesink.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

namespace framewire::service {

FeedPump::FeedPump() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void FeedPump::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void FeedPump::wake(std::weak_ptr<CameraFeed> feed) {
    {
        const std::lock_guard lock(mutex_);
        woken_.push_back(std::move(feed));
    }
    changed_.notify_one();
}

void FeedPump::run(const std::stop_token& stop) {
    for (;;) {
        std::weak_ptr<CameraFeed> woken;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return !woken_.empty(); })) return;
            woken = std::move(woken_.front());
            woken_.pop_front();
        }
        if (const auto feed = woken.lock()) feed->pass_on();
    }
}

CameraFeed::CameraFeed(std::shared_ptr<CameraVideo> video, GstAppSrc* source, const FeedSound& sound,
                       std::shared_ptr<FeedParts> parts)
    : video_(std::move(video)), parts_(std::move(parts)), sound_format_(sound.source ? sound.format : nullptr) {
    g_weak_ref_init(&source_, source);
    g_weak_ref_init(&sound_source_, sound.source);
    g_weak_ref_init(&media_, nullptr);
    ++parts_->feeds;
}

CameraFeed::~CameraFeed() {
    subscription_.reset();
    g_weak_ref_clear(&source_);
    g_weak_ref_clear(&sound_source_);
    g_weak_ref_clear(&media_);
    --parts_->feeds;
}

void CameraFeed::start() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(started_, true)) return;
        try {
            subscription_ = video_->subscribe([parts = parts_, feed = weak_from_this()] { parts->pump.wake(feed); },
                                              sound_format_ != nullptr);
        } catch (const std::exception& error) {
            log_warning("{}: no video over RTSP: {}", video_->camera().name(), error.what());
            return end(error.what());
        }
    }
    // access units that arrived before the wake function was in place
    parts_->pump.wake(weak_from_this());
}

namespace {

// Access units that may wait in an appsrc. It passes them on at once, so more than a few mean that the pipeline hangs.
constexpr guint64 most_waiting = 32;

// Packets of sound that may wait in an appsrc, about two seconds. They wait if no client wants the sound.
constexpr guint64 most_waiting_sound = 100;

}  // namespace

void CameraFeed::push(GstAppSrc* source, const std::shared_ptr<const AccessUnit>& unit) {
    if (gst_app_src_get_current_level_buffers(source) >= most_waiting) waits_for_key_ = true;
    if (waits_for_key_ && !unit->key) return video_->request_keyframe();
    waits_for_key_ = false;
    if (!first_pts_) first_pts_ = unit->pts;
    auto* buffer = buffer_of(unit);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = time_of(std::max<std::int64_t>(unit->pts - *first_pts_, 0));
    GST_BUFFER_DURATION(buffer) = time_of(std::max<std::int64_t>(unit->duration, 0));
    if (!unit->key) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    gst_app_src_push_buffer(source, buffer);
}

// Payloaders of G.711 count samples, and need to know about gaps.
void CameraFeed::push(GstAppSrc* source, const SoundUnit& unit) {
    if (!first_pts_ || unit.pts < *first_pts_) return;
    auto* buffer = buffer_of(unit.packet);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = time_of(unit.pts - *first_pts_);
    GST_BUFFER_DURATION(buffer) = time_of(unit.duration);
    if (unit.pts != std::exchange(sound_end_, unit.pts + unit.duration))
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    gst_app_src_push_buffer(source, buffer);
}

void CameraFeed::pass_on() {
    const std::lock_guard lock(mutex_);
    if (!subscription_ || ended_) return;
    const ObjectPointer<GstAppSrc> source(static_cast<GstAppSrc*>(g_weak_ref_get(&source_))),
        sound_source(static_cast<GstAppSrc*>(g_weak_ref_get(&sound_source_)));
    if (!source) return;
    drop_withdrawn();
    for (;;) {
        auto taken = subscription_->take();
        if (taken.format && taken.format != format_) {
            if (format_) return end("the frame size has changed");
            format_ = taken.format;
            gst_app_src_set_caps(source.get(), caps_of(*format_).get());
        }
        if (taken.lost) waits_for_key_ = true;
        for (const auto& unit : taken.units) push(source.get(), unit);
        for (const auto& unit : taken.sound)
            if (sound_source && *unit.packet->format == *sound_format_) push(sound_source.get(), unit);
        if (taken.ended) return end(taken.failure);
        if (taken.sound_format && !(*taken.sound_format == *sound_format_))
            return end("the format of the sound has changed");
        if (taken.units.empty() && taken.sound.empty()) return;
    }
}

// When a privacy mask is set, video from before it may wait for clients that read too slowly.
void CameraFeed::drop_withdrawn() {
    const auto oldest = video_->camera().oldest_picture_version();
    if (std::exchange(oldest_version_, oldest) == oldest) return;
    const ObjectPointer<GstRTSPMedia> media(static_cast<GstRTSPMedia*>(g_weak_ref_get(&media_)));
    if (media) parts_->end_slow(media.get());
}

// Clients are disconnected, because most players take no notice of the end of a live stream. They may connect again.
// The error message ends the wait of a client whose stream has not begun.
void CameraFeed::end(const std::string& why) {
    ended_ = true;
    ++parts_->generation;
    if (!why.empty()) log_info("{}: RTSP clients are disconnected: {}", video_->camera().name(), why);
    if (const ObjectPointer<GstAppSrc> source(static_cast<GstAppSrc*>(g_weak_ref_get(&source_))); source)
        GST_ELEMENT_ERROR(source.get(), STREAM, FAILED, ("%s", why.c_str()), (nullptr));
    const ObjectPointer<GstRTSPMedia> media(static_cast<GstRTSPMedia*>(g_weak_ref_get(&media_)));
    if (media) parts_->end(media.get());
}

namespace {

// The camera of a factory.
struct CameraMount {
    std::shared_ptr<CameraVideos> videos;
    std::shared_ptr<FeedParts> parts;
};

// The object that GStreamer calls. GLib allocates and frees it, so it has no constructor.
struct CameraFactory {
    GstRTSPMediaFactory parent;
    std::shared_ptr<CameraMount>* mount;
};
struct CameraFactoryClass {
    GstRTSPMediaFactoryClass parent;
};

gpointer factory_parent = nullptr;
constexpr const char* feed_key = "framewire-feed";

CameraMount& mount_of(GstRTSPMediaFactory* factory) { return **reinterpret_cast<CameraFactory*>(factory)->mount; }

// How RTP carries a sound format.
struct RtpSound {
    const char* payloader;
    std::string caps;
};

// Empty if GStreamer has no payloader that carries such a format.
std::optional<RtpSound> rtp_sound(const SoundFormat& format) {
    constexpr int g711_rate = 8000;
    const bool is_g711 = format.sample_rate == g711_rate && format.channels == 1;
    switch (format.codec) {
        case SoundCodec::aac: return RtpSound{"rtpmp4gpay", "audio/mpeg,mpegversion=4,stream-format=raw,framed=true"};
        case SoundCodec::opus:
            if (format.channels > 2) return std::nullopt;
            return RtpSound{"rtpopuspay", "audio/x-opus,channel-mapping-family=0"};
        case SoundCodec::mulaw:
            if (is_g711) return RtpSound{"rtppcmupay", "audio/x-mulaw"};
            break;
        case SoundCodec::alaw:
            if (is_g711) return RtpSound{"rtppcmapay", "audio/x-alaw"};
            break;
    }
    return std::nullopt;
}

void set_caps(GstAppSrc* source, const SoundFormat& format, const RtpSound& rtp) {
    const std::unique_ptr<GstCaps, ReleasedBy<gst_caps_unref>> caps(gst_caps_from_string(rtp.caps.c_str()));
    gst_caps_set_simple(caps.get(), "rate", G_TYPE_INT, format.sample_rate, "channels", G_TYPE_INT, format.channels,
                        nullptr);
    if (format.codec == SoundCodec::aac) {
        auto* header = gst_buffer_new_memdup(format.header.data(), format.header.size());
        gst_caps_set_simple(caps.get(), "codec_data", GST_TYPE_BUFFER, header, nullptr);
        gst_buffer_unref(header);
    }
    gst_app_src_set_caps(source, caps.get());
}

// Returns the format of a new media's sound; null if it has none.
std::shared_ptr<const SoundFormat> sound_format_of(const LiveCamera& camera, const std::string& query) {
    const auto tap = parse_audio(std::string_view(query)) ? camera.sound() : nullptr;
    return tap ? tap->format() : nullptr;
}

// Medias are shared by all addresses of the same variant, whatever name the client has for this host. A media without
// sound is not for clients that come when there is sound.
gchar* media_key(GstRTSPMediaFactory* factory, const GstRTSPUrl* url) {
    const auto& mount = mount_of(factory);
    std::string variant;
    try {
        const auto query = variant_query(*url);
        variant = to_string(VideoVariant::parse(std::string_view(query)));
        if (sound_format_of(*mount.videos->camera(), query)) variant += " with sound";
    } catch (const std::exception&) {
        variant = "invalid";
    }
    return g_strdup(
        fmt::format("{}?{}#{}", mount.videos->camera()->name(), variant, mount.parts->generation.load()).c_str());
}

// Makes the source of a payloader:
//
//     appsrc ! tee ! payloader
//              tee ! fakesink
//
// The payloader is not linked while no client wants its stream, and then the source would stop if it had no other sink.
GstAppSrc* add_source(GstBin* bin, GstElement* payloader) {
    GstElement *source = gst_element_factory_make("appsrc", nullptr), *tee = gst_element_factory_make("tee", nullptr),
               *other = gst_element_factory_make("fakesink", nullptr);
    gst_bin_add_many(bin, source, tee, payloader, other, nullptr);
    g_object_set(source, "is-live", TRUE, "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, nullptr);
    g_object_set(other, "async", FALSE, "sync", FALSE, nullptr);
    gst_element_link_many(source, tee, payloader, nullptr);
    gst_element_link(tee, other);
    return GST_APP_SRC(source);
}

// Makes the source and the payloader of the sound. Returns no source if there is no sound, or none for RTP.
FeedSound add_sound(GstBin* bin, const LiveCamera& camera, const std::string& query) {
    const auto format = sound_format_of(camera, query);
    if (!format) return {};
    const auto rtp = rtp_sound(*format);
    if (!rtp) {
        log_info(
            "{}: RTSP is without sound, because RTP has {} with {} samples per second and {} channels in no form "
            "that players know",
            camera.name(), to_string(format->codec), format->sample_rate, format->channels);
        return {};
    }
    auto* payloader = gst_element_factory_make(rtp->payloader, "pay1");
    auto* source = add_source(bin, payloader);
    g_object_set(source, "max-buffers", most_waiting_sound, nullptr);
    // Otherwise RTP times would count samples, and be wrong after a gap.
    g_object_set(payloader, "perfect-rtptime", FALSE, nullptr);
    gst_util_set_object_arg(G_OBJECT(source), "leaky-type", "downstream");
    if (format->codec == SoundCodec::mulaw || format->codec == SoundCodec::alaw)
        g_object_set(payloader, "max-ptime", gint64{20 * GST_MSECOND}, nullptr);
    set_caps(source, *format, *rtp);
    return {source, format};
}

// Makes sources and payloaders. rtph264pay finds the parameter sets for the SDP in the first keyframe.
GstElement* make_media_element(GstRTSPMediaFactory* factory, const GstRTSPUrl* url) {
    const auto& mount = mount_of(factory);
    try {
        const auto query = variant_query(*url);
        auto video = mount.videos->variant(VideoVariant::parse(std::string_view(query)));
        auto *payloader = gst_element_factory_make("rtph264pay", "pay0"), *bin = gst_bin_new(nullptr);
        auto* source = add_source(GST_BIN(bin), payloader);
        gst_util_set_object_arg(G_OBJECT(payloader), "aggregate-mode", "zero-latency");
        const auto sound = add_sound(GST_BIN(bin), *mount.videos->camera(), query);
        const auto feed = std::make_shared<CameraFeed>(std::move(video), source, sound, mount.parts);
        GstAppSrcCallbacks callbacks{};
        callbacks.need_data = [](GstAppSrc*, guint, gpointer data) { Shared<CameraFeed>::of(data).start(); };
        for (auto* one : {source, sound.source})
            if (one)
                gst_app_src_set_callbacks(one, &callbacks, Shared<CameraFeed>::make(feed), Shared<CameraFeed>::release);
        g_object_set_data_full(G_OBJECT(bin), feed_key, new std::weak_ptr<CameraFeed>(feed),
                               [](gpointer data) { delete static_cast<std::weak_ptr<CameraFeed>*>(data); });
        return bin;
    } catch (const std::exception& error) {
        log_warning("{}: no video over RTSP: {}", mount.videos->camera()->name(), error.what());
    }
    return nullptr;
}

// The camera paces the pictures, so sinks need not wait for the clock. If they did, a stream that begins with a
// keyframe from before its start would stay late by the age of that keyframe, up to 0.5 s.
void send_at_once(GstBin*, GstBin*, GstElement* element, gpointer) {
    if (GST_IS_BASE_SINK(element)) g_object_set(element, "sync", FALSE, nullptr);
}

void configure_media(GstRTSPMediaFactory* factory, GstRTSPMedia* media) {
    GST_RTSP_MEDIA_FACTORY_CLASS(factory_parent)->configure(factory, media);
    if (const auto feed = feed_of(media)) feed->set_media(media);
    const ObjectPointer<GstElement> element(gst_rtsp_media_get_element(media));
    const ObjectPointer<GstObject> pipeline(gst_object_get_parent(GST_OBJECT(element.get())));
    if (pipeline) g_signal_connect(pipeline.get(), "deep-element-added", G_CALLBACK(send_at_once), nullptr);
}

void finalize_factory(GObject* object) {
    delete reinterpret_cast<CameraFactory*>(object)->mount;
    G_OBJECT_CLASS(factory_parent)->finalize(object);
}

void init_factory_class(gpointer type, gpointer) {
    factory_parent = g_type_class_peek_parent(type);
    auto* factory = GST_RTSP_MEDIA_FACTORY_CLASS(type);
    factory->gen_key = media_key;
    factory->create_element = make_media_element;
    factory->configure = configure_media;
    G_OBJECT_CLASS(type)->finalize = finalize_factory;
}

GType factory_type() {
    static const GType type =
        g_type_register_static_simple(GST_TYPE_RTSP_MEDIA_FACTORY, "FramewireCameraFactory", sizeof(CameraFactoryClass),
                                      init_factory_class, sizeof(CameraFactory), nullptr, GTypeFlags(0));
    return type;
}

// Returns the path of an address without the variant, and with the name of a track that a player has appended to it.
std::string path_without_variant(const GstRTSPUrl* url) {
    const std::string_view query = url->query ? url->query : "";
    return fmt::format("{}{}", url->abspath ? url->abspath : "", query.substr(std::min(query.find('/'), query.size())));
}

// Subclasses that change how the path is found. They have no members of their own.
struct VariantMountsClass {
    GstRTSPMountPointsClass parent;
};
struct VariantClientClass {
    GstRTSPClientClass parent;
};
struct VariantServerClass {
    GstRTSPServerClass parent;
};

void init_mounts_class(gpointer type, gpointer) {
    GST_RTSP_MOUNT_POINTS_CLASS(type)->make_path = [](GstRTSPMountPoints*, const GstRTSPUrl* url) {
        return g_strdup(path_without_variant(url).c_str());
    };
}

void init_client_class(gpointer type, gpointer) {
    GST_RTSP_CLIENT_CLASS(type)->make_path_from_uri = [](GstRTSPClient*, const GstRTSPUrl* url) {
        return g_strdup(path_without_variant(url).c_str());
    };
}

template <class Class, class Object>
GType subclass(GType parent, const char* name, GClassInitFunc init) {
    return g_type_register_static_simple(parent, name, sizeof(Class), init, sizeof(Object), nullptr, GTypeFlags(0));
}

// Does what the server's own function does, with the subclass of clients.
GstRTSPClient* create_variant_client(GstRTSPServer* server) {
    static const GType type =
        subclass<VariantClientClass, GstRTSPClient>(GST_TYPE_RTSP_CLIENT, "FramewireRtspClient", init_client_class);
    auto* client = GST_RTSP_CLIENT(g_object_new(type, nullptr));
    gst_rtsp_client_set_session_pool(client,
                                     ObjectPointer<GstRTSPSessionPool>(gst_rtsp_server_get_session_pool(server)).get());
    gst_rtsp_client_set_mount_points(client,
                                     ObjectPointer<GstRTSPMountPoints>(gst_rtsp_server_get_mount_points(server)).get());
    gst_rtsp_client_set_auth(client, ObjectPointer<GstRTSPAuth>(gst_rtsp_server_get_auth(server)).get());
    gst_rtsp_client_set_thread_pool(client,
                                    ObjectPointer<GstRTSPThreadPool>(gst_rtsp_server_get_thread_pool(server)).get());
    gst_rtsp_client_set_content_length_limit(client, gst_rtsp_server_get_content_length_limit(server));
    return client;
}

void init_server_class(gpointer type, gpointer) { GST_RTSP_SERVER_CLASS(type)->create_client = create_variant_client; }

}  // namespace

ObjectPointer<GstRTSPServer> make_variant_server() {
    static const GType server_type =
        subclass<VariantServerClass, GstRTSPServer>(GST_TYPE_RTSP_SERVER, "FramewireRtspServer", init_server_class);
    static const GType mounts_type = subclass<VariantMountsClass, GstRTSPMountPoints>(
        GST_TYPE_RTSP_MOUNT_POINTS, "FramewireMountPoints", init_mounts_class);
    ObjectPointer<GstRTSPServer> server(GST_RTSP_SERVER(g_object_new(server_type, nullptr)));
    const ObjectPointer<GstRTSPMountPoints> mounts(GST_RTSP_MOUNT_POINTS(g_object_new(mounts_type, nullptr)));
    gst_rtsp_server_set_mount_points(server.get(), mounts.get());
    return server;
}

std::string variant_query(const GstRTSPUrl& url) {
    const std::string_view query = url.query ? url.query : "";
    return std::string(query.substr(0, query.find('/')));
}

std::shared_ptr<CameraFeed> feed_of(GstRTSPMedia* media) {
    const ObjectPointer<GstElement> element(gst_rtsp_media_get_element(media));
    const auto* feed = static_cast<std::weak_ptr<CameraFeed>*>(g_object_get_data(G_OBJECT(element.get()), feed_key));
    return feed ? feed->lock() : nullptr;
}

ObjectPointer<GstRTSPMediaFactory> make_camera_factory(std::shared_ptr<CameraVideos> videos,
                                                       std::shared_ptr<FeedParts> parts) {
    ObjectPointer<GstRTSPMediaFactory> factory(GST_RTSP_MEDIA_FACTORY(g_object_new(factory_type(), nullptr)));
    const bool tcp_only = parts->tcp_only;
    auto mount = std::make_shared<CameraMount>();
    mount->videos = std::move(videos);
    mount->parts = std::move(parts);
    reinterpret_cast<CameraFactory*>(factory.get())->mount = new std::shared_ptr<CameraMount>(std::move(mount));
    gst_rtsp_media_factory_set_shared(factory.get(), TRUE);
    gst_rtsp_media_factory_set_protocols(
        factory.get(), GstRTSPLowerTrans((tcp_only ? 0 : GST_RTSP_LOWER_TRANS_UDP) | GST_RTSP_LOWER_TRANS_TCP));
    constexpr guint socket_buffer_bytes = 1U << 20;  // a keyframe of a 4K camera
    gst_rtsp_media_factory_set_buffer_size(factory.get(), socket_buffer_bytes);
    return factory;
}

}  // namespace framewire::service
