#include "framewire/service/webrtc/whep_server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/service/rtsp/access_unit_buffer.hpp"
#include "framewire/service/webrtc/webrtc_offer.hpp"

#include <fmt/format.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#define GST_USE_UNSTABLE_API  // webrtcbin's interface may still change
#include <gst/webrtc/webrtc.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

// One thread works on all sessions. GStreamer's threads and HTTP handlers only queue tasks for it, because a pipeline
// must not be destroyed by its own threads. The steps of a session:
//
//   open()                              HTTP handler: checks the offer, subscribes to the video
//   first keyframe -> begin()           makes the pipeline; webrtcbin creates the answer and gathers candidates
//   candidates gathered -> answer()     completes the HTTP response
//   connected -> connected()            checks the client's certificate; video flows from the next keyframe on

namespace framewire::service {
namespace {

using net::http::Feed;
using net::http::Response;

// Access units that may wait in an appsrc. It passes them on at once, so more than a few mean that the pipeline hangs.
constexpr guint64 most_queued = 32;
// Largest RTP packet. With the headers of SRTP, UDP and IPv6 it fits the MTU of tunnels.
constexpr guint mtu_bytes = 1200;
// Time between checks of deadlines.
constexpr std::chrono::milliseconds between_deadlines{250};

using DescriptionPointer =
    std::unique_ptr<GstWebRTCSessionDescription, ReleasedBy<gst_webrtc_session_description_free>>;

// One client.
struct Session {
    std::string id, peer, client;
    std::shared_ptr<CameraVideo> video;
    WebrtcOffer offer;
    Clock::time_point since = Clock::now();
    bool is_connected = false;              // guarded by the server's mutex
    Clock::time_point last_report = since;  // of RTCP; that of the connection before the first one

    // Members of the server's thread, from begin() on:
    std::unique_ptr<CameraVideo::Subscription> subscription{};
    std::shared_ptr<Feed> response{};
    bool answered = false;
    WebrtcOffer::Format rtp_format{};
    ObjectPointer<GstElement> pipeline{};
    GstElement *source = nullptr, *webrtc = nullptr;  // owned by the pipeline
    std::shared_ptr<const VideoFormat> format{};
    bool waits_for_key = true;
    // pts of the newest access unit when the client had connected, and its running time
    std::optional<std::int64_t> live_pts{};
    GstClockTime live_time = 0;
    guint64 older = 0;  // access units before that one that have not been sent

    const std::string& camera() const { return video->camera().name(); }
};

using SessionPointer = std::shared_ptr<Session>;

// Returns a value of a property.
template <class T>
T property(gpointer object, const char* name) {
    T value{};
    g_object_get(object, name, &value, nullptr);
    return value;
}

// Returns the SHA-256 of a certificate in PEM as in an offer; empty if the text has another form.
std::string certificate_fingerprint(std::string_view pem) {
    constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----", end = "-----END CERTIFICATE-----";
    const auto from = pem.find(begin), to = pem.find(end);
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) return {};
    const std::string coded(pem.substr(from + begin.size(), to - from - begin.size()));
    gsize size = 0;
    const std::unique_ptr<guchar, ReleasedBy<g_free>> bytes(g_base64_decode(coded.c_str(), &size));
    const auto digits = taken_text(g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes.get(), size));
    std::string text;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
        text += text.empty() ? "" : ":";
        text += static_cast<char>(g_ascii_toupper(digits[at]));
        text += static_cast<char>(g_ascii_toupper(digits[at + 1]));
    }
    return text;
}

// Returns the SHA-256 of the certificate that the client has presented.
std::string presented_fingerprint(GstElement* webrtc) {
    GstWebRTCRTPTransceiver* found = nullptr;
    g_signal_emit_by_name(webrtc, "get-transceiver", 0, &found);
    const ObjectPointer<GstWebRTCRTPTransceiver> transceiver(found);
    if (!transceiver) return {};
    const ObjectPointer<GObject> sender(property<GObject*>(transceiver.get(), "sender"));
    const ObjectPointer<GObject> transport(sender ? property<GObject*>(sender.get(), "transport") : nullptr);
    return transport ? certificate_fingerprint(taken_text(property<gchar*>(transport.get(), "remote-certificate")))
                     : "";
}

// Receives a reply of webrtcbin, which may be null, on one of its threads. Not called when webrtcbin ends.
using Replied = std::function<void(const GstStructure* reply)>;

GstPromise* promise_of(Replied done) {
    const auto change = [](GstPromise* promise, gpointer data) {
        if (gst_promise_wait(promise) == GST_PROMISE_RESULT_REPLIED)
            (*static_cast<Replied*>(data))(gst_promise_get_reply(promise));
        gst_promise_unref(promise);
    };
    return gst_promise_new_with_change_func(change, new Replied(std::move(done)),
                                            [](gpointer data) { delete static_cast<Replied*>(data); });
}

// Returns the error of a reply; empty if it has none.
std::string error_of(const GstStructure* reply) {
    GError* error = nullptr;
    if (!reply || !gst_structure_get(reply, "error", G_TYPE_ERROR, &error, nullptr)) return {};
    const ErrorPointer owned(error);
    return error ? error->message : "unknown error";
}

// Returns the description with the offer of the video alone.
DescriptionPointer description_of(const std::string& text) {
    GstSDPMessage* message = nullptr;
    if (gst_sdp_message_new_from_text(text.c_str(), &message) != GST_SDP_OK)
        fail(ErrorCode::internal, "GStreamer cannot parse the offer");
    return DescriptionPointer(gst_webrtc_session_description_new(GST_WEBRTC_SDP_TYPE_OFFER, message));
}

// Limits the sessions by the number of ports, because ICE would wait for a free one.
WhepOptions with_ports(WhepOptions options) {
    if (options.ports)
        options.sessions_limit = std::min(options.sessions_limit, options.ports->second - options.ports->first + 1);
    return options;
}

}  // namespace

struct WhepServer::State : std::enable_shared_from_this<WhepServer::State> {
    using Task = std::function<void(State&, Session&)>;

    // User data of handlers of a session's signals, which queue tasks. They may run while the server ends.
    struct Link {
        std::weak_ptr<State> server;
        std::string id;

        void queue(Task task) const {
            if (const auto there = server.lock()) there->queue(id, std::move(task));
        }
    };

    explicit State(const WhepOptions& options_) : options(with_ports(options_)) {}

    void start() {
        thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    void stop();

    // Queues a task for a session, which is not called if the session has ended by then.
    void queue(const std::string& id, Task task) {
        {
            const std::lock_guard lock(mutex);
            tasks.emplace_back(id, std::move(task));
        }
        changed.notify_one();
    }

    // Functions of the thread:

    void run(const std::stop_token& stop);
    void check_deadlines(Clock::time_point now);
    void subscribe(Session& session);
    void take_units(Session& session);
    void begin(Session& session);
    static void make_pipeline(Session& session);
    void set_up_ice(GstElement* webrtc) const;
    static void follow(Session& session, const std::shared_ptr<Link>& link);
    void push(Session& session, const std::shared_ptr<const AccessUnit>& unit);
    static void negotiate(Session& session, const std::shared_ptr<Link>& link);
    void answer(Session& session);
    void follow_connection(Session& session);
    void connected(Session& session);
    void end(const std::string& id, const std::string& why);
    static void tear_down(Session& session);

    SessionPointer find(const std::string& id) {
        const std::lock_guard lock(mutex);
        const auto found = sessions.find(id);
        return found == sessions.end() ? nullptr : found->second;
    }

    const WhepOptions options;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::map<std::string, SessionPointer> sessions;
    std::deque<std::pair<std::string, Task>> tasks;
    std::vector<SessionPointer> ended;  // to be torn down by the thread
    WhepStatistics figures;
    net::LimitedLog endings{LogLevel::info, "ended WebRTC sessions"};  // of the thread
    std::jthread thread;
};

void WhepServer::State::stop() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
    for (auto& [id, session] : sessions) tear_down(*session);
    for (auto& session : ended) tear_down(*session);
    sessions.clear();
    ended.clear();
}

void WhepServer::State::run(const std::stop_token& stop) {
    Clock::time_point next_check{};
    while (!stop.stop_requested()) {
        std::pair<std::string, Task> next;
        std::vector<SessionPointer> leaving;
        {
            std::unique_lock lock(mutex);
            const auto has_work = [this] { return !tasks.empty() || !ended.empty(); };
            if (sessions.empty())
                changed.wait(lock, stop, has_work);
            else
                changed.wait_for(lock, stop, between_deadlines, has_work);
            std::swap(leaving, ended);
            if (!tasks.empty()) {
                next = std::move(tasks.front());
                tasks.pop_front();
            }
        }
        for (const auto& session : leaving) tear_down(*session);
        if (const auto session = next.second ? find(next.first) : nullptr) {
            try {
                next.second(*this, *session);
            } catch (const std::exception& error) {
                end(session->id, error.what());
            }
        }
        if (const auto now = Clock::now(); now >= next_check) {
            check_deadlines(now);
            next_check = now + between_deadlines;
        }
    }
}

void WhepServer::State::check_deadlines(Clock::time_point now) {
    std::vector<std::string> late, silent;
    {
        const std::lock_guard lock(mutex);
        for (const auto& [id, session] : sessions) {
            if (!session->is_connected && now >= session->since + options.connect_deadline) late.push_back(id);
            if (session->is_connected && now >= session->last_report + options.silence_deadline) silent.push_back(id);
        }
    }
    for (const auto& id : late) end(id, "it did not connect in time");
    for (const auto& id : silent) end(id, "the client sends no more reports");
}

// Ends a session. Its client learns it from the end of DTLS.
void WhepServer::State::end(const std::string& id, const std::string& why) {
    SessionPointer session;
    {
        const std::lock_guard lock(mutex);
        const auto found = sessions.find(id);
        if (found == sessions.end()) return;
        session = std::move(found->second);
        sessions.erase(found);
    }
    endings.line_of(session->peer, "{}: the WebRTC session of {} ends: {}", session->camera(), session->client, why);
    tear_down(*session);
}

void WhepServer::State::tear_down(Session& session) {
    session.subscription.reset();
    if (!session.answered) session.response->end();
    if (session.pipeline) gst_element_set_state(session.pipeline.get(), GST_STATE_NULL);
    session.source = session.webrtc = nullptr;
    session.pipeline.reset();
}

// Subscribes, or subscribes again.
void WhepServer::State::subscribe(Session& session) {
    auto subscription = session.video->subscribe([weak = weak_from_this(), id = session.id] {
        if (const auto there = weak.lock()) there->queue(id, [](State& state, Session& one) { state.take_units(one); });
    });
    session.subscription = std::move(subscription);
}

// Passes on the queued access units. Before the connection they only tell the format.
void WhepServer::State::take_units(Session& session) {
    for (;;) {
        const auto taken = session.subscription->take();
        if (taken.format && taken.format != session.format) {
            session.format = taken.format;
            if (!session.pipeline)
                begin(session);
            else
                gst_app_src_set_caps(GST_APP_SRC(session.source), caps_of(*session.format).get());
        }
        if (taken.lost) session.waits_for_key = true;
        if (session.is_connected && !session.live_pts && !taken.units.empty()) {
            session.older = taken.units.size() - 1;
            session.live_pts = taken.units.back()->pts;
            session.live_time =
                gst_element_get_current_running_time(session.pipeline.get()) + session.older * GST_MSECOND;
        }
        if (session.is_connected)
            for (const auto& unit : taken.units) push(session, unit);
        if (taken.ended) return end(session.id, taken.failure.empty() ? "the server stops" : taken.failure);
        if (taken.units.empty()) return;
    }
}

void WhepServer::State::push(Session& session, const std::shared_ptr<const AccessUnit>& unit) {
    auto* source = GST_APP_SRC(session.source);
    if (gst_app_src_get_current_level_buffers(source) >= most_queued) session.waits_for_key = true;
    if (session.waits_for_key && !unit->key) return session.video->request_keyframe();
    session.waits_for_key = false;
    auto* buffer = buffer_of(unit);
    // Pictures that waited for the client are shown at once, a millisecond each. With their own times it would take the
    // oldest for in time, and stay behind by up to half a second.
    const auto ticks = unit->pts - *session.live_pts;
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) =
        ticks < 0 ? session.live_time - session.older-- * GST_MSECOND : session.live_time + time_of(ticks);
    if (!unit->key) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    gst_app_src_push_buffer(source, buffer);
}

// Starts the session once the format is known.
void WhepServer::State::begin(Session& session) {
    session.rtp_format = session.offer.format_for(session.format->codec);
    make_pipeline(session);
    set_up_ice(session.webrtc);
    const auto link = std::make_shared<Link>(Link{weak_from_this(), session.id});
    follow(session, link);
    if (gst_element_set_state(session.pipeline.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        fail(ErrorCode::internal, "GStreamer cannot start webrtcbin");
    negotiate(session, link);
}

// Makes appsrc ! rtph264pay ! webrtcbin.
void WhepServer::State::make_pipeline(Session& session) {
    session.pipeline.reset(static_cast<GstElement*>(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    auto* source = session.source = gst_element_factory_make("appsrc", nullptr);
    auto* payloader = gst_element_factory_make("rtph264pay", nullptr);
    auto* webrtc = session.webrtc = gst_element_factory_make("webrtcbin", nullptr);
    gst_bin_add_many(GST_BIN(session.pipeline.get()), source, payloader, webrtc, nullptr);
    g_object_set(source, "is-live", TRUE, "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, nullptr);
    gst_app_src_set_caps(GST_APP_SRC(source), caps_of(*session.format).get());
    g_object_set(payloader, "pt", static_cast<guint>(session.rtp_format.payload_type), "mtu", mtu_bytes, nullptr);
    gst_util_set_object_arg(G_OBJECT(payloader), "aggregate-mode", "zero-latency");
    gst_util_set_object_arg(G_OBJECT(webrtc), "bundle-policy", "max-bundle");
    const CapsPointer rtp(gst_caps_new_simple("application/x-rtp", "media", G_TYPE_STRING, "video", "encoding-name",
                                              G_TYPE_STRING, "H264", "clock-rate", G_TYPE_INT, int{video_clock_hz},
                                              "payload", G_TYPE_INT, session.rtp_format.payload_type, nullptr));
    if (!gst_element_link(source, payloader) || !gst_element_link_filtered(payloader, webrtc, rtp.get()))
        fail(ErrorCode::internal, "GStreamer cannot link webrtcbin");
}

// Restricts ICE to UDP, and to the address and the ports of the options.
void WhepServer::State::set_up_ice(GstElement* webrtc) const {
    const ObjectPointer<GObject> ice(property<GObject*>(webrtc, "ice-agent"));
    const ObjectPointer<GObject> agent(property<GObject*>(ice.get(), "agent"));
    g_object_set(agent.get(), "ice-tcp", FALSE, "upnp", FALSE, nullptr);
    if (options.ports)
        g_object_set(ice.get(), "min-rtp-port", static_cast<guint>(options.ports->first), "max-rtp-port",
                     static_cast<guint>(options.ports->second), nullptr);
    if (options.address.empty()) return;
    gboolean added = FALSE;
    g_signal_emit_by_name(ice.get(), "add-local-ip-address", options.address.c_str(), &added);
    if (!added) fail(ErrorCode::config, "WebRTC cannot use the address {}", options.address);
}

// Queues tasks for changes of webrtcbin's state, for keyframes that the client requests by RTCP, and for errors.
void WhepServer::State::follow(Session& session, const std::shared_ptr<Link>& link) {
    using Links = Shared<Link>;
    using Notify = void (*)(GObject*, GParamSpec*, gpointer);
    const Notify gathered = [](GObject*, GParamSpec*, gpointer data) {
        Links::of(data).queue([](State& state, Session& one) { state.answer(one); });
    };
    const Notify connection = [](GObject*, GParamSpec*, gpointer data) {
        Links::of(data).queue([](State& state, Session& one) { state.follow_connection(one); });
    };
    Links::connect(session.webrtc, "notify::ice-gathering-state", G_CALLBACK(gathered), link);
    Links::connect(session.webrtc, "notify::connection-state", G_CALLBACK(connection), link);

    // webrtcbin does not notice that a client is gone.
    using Report = void (*)(GstElement*, guint, guint, gpointer);
    const Report report = [](GstElement*, guint, guint, gpointer data) {
        Links::of(data).queue([](State&, Session& one) { one.last_report = Clock::now(); });
    };
    const ObjectPointer<GstElement> rtp(gst_bin_get_by_name(GST_BIN(session.webrtc), "rtpbin"));
    if (!rtp) fail(ErrorCode::internal, "webrtcbin has no rtpbin");
    Links::connect(rtp.get(), "on-ssrc-active", G_CALLBACK(report), link);

    const auto upstream = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        if (gst_video_event_is_force_key_unit(gst_pad_probe_info_get_event(info)))
            Links::of(data).queue([](State&, Session& one) { one.video->request_keyframe(); });
        return GST_PAD_PROBE_OK;
    };
    const ObjectPointer<GstPad> pad(gst_element_get_static_pad(session.source, "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, upstream, Links::make(link), Links::release);

    const auto message = [](GstBus*, GstMessage* what, gpointer data) {
        if (GST_MESSAGE_TYPE(what) == GST_MESSAGE_ERROR) {
            GError* error = nullptr;
            gst_message_parse_error(what, &error, nullptr);
            const ErrorPointer owned(error);
            Links::of(data).queue(
                [text = std::string(error->message)](State&, Session&) { fail(ErrorCode::io, "GStreamer: {}", text); });
        }
        gst_message_unref(what);
        return GST_BUS_DROP;
    };
    const ObjectPointer<GstBus> bus(gst_element_get_bus(session.pipeline.get()));
    gst_bus_set_sync_handler(bus.get(), message, Links::make(link), Links::release);
}

// Gives webrtcbin the offer, and lets it create the answer and gather candidates.
void WhepServer::State::negotiate(Session& session, const std::shared_ptr<Link>& link) {
    auto* webrtc = session.webrtc;
    const auto refuse = [link](const std::string& why) {
        link->queue([why](State&, Session&) { fail(ErrorCode::internal, "webrtcbin: {}", why); });
    };
    const auto answered = [webrtc, refuse](const GstStructure* reply) {
        if (const auto why = error_of(reply); !why.empty()) return refuse(why);
        GstWebRTCSessionDescription* made = nullptr;
        if (reply) gst_structure_get(reply, "answer", GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &made, nullptr);
        const DescriptionPointer answer(made);
        if (!answer) return refuse("there is no answer");
        g_signal_emit_by_name(webrtc, "set-local-description", answer.get(),
                              promise_of([refuse](const GstStructure* set) {
                                  if (const auto why = error_of(set); !why.empty()) refuse(why);
                              }));
    };
    const auto offered = [webrtc, refuse, answered](const GstStructure* reply) {
        if (const auto why = error_of(reply); !why.empty()) return refuse(why);
        g_signal_emit_by_name(webrtc, "create-answer", nullptr, promise_of(answered));
    };
    const auto offer = description_of(session.offer.for_video(session.rtp_format));
    g_signal_emit_by_name(webrtc, "set-remote-description", offer.get(), promise_of(offered));
}

// Completes the response once all candidates are known.
void WhepServer::State::answer(Session& session) {
    if (session.answered || property<GstWebRTCICEGatheringState>(session.webrtc, "ice-gathering-state") !=
                                GST_WEBRTC_ICE_GATHERING_STATE_COMPLETE)
        return;
    const DescriptionPointer local(property<GstWebRTCSessionDescription*>(session.webrtc, "local-description"));
    if (!local) return;
    const auto text = taken_text(gst_sdp_message_as_text(local->sdp));
    if (text.find("a=candidate:") == std::string::npos)
        fail(ErrorCode::config, "no address or UDP port is free for WebRTC");
    session.answered = true;
    session.response->end_with(std::make_shared<const std::string>(session.offer.answer(session.rtp_format, text)));
}

// Lets the video flow if the client has the certificate of its offer.
void WhepServer::State::connected(Session& session) {
    if (session.is_connected) return;
    if (presented_fingerprint(session.webrtc) != session.offer.fingerprint)
        return end(session.id, "its certificate is not that of its offer");
    {
        const std::lock_guard lock(mutex);
        session.is_connected = true;
        session.last_report = Clock::now();
    }
    // Begins with a recent keyframe, or with a new one.
    subscribe(session);
}

void WhepServer::State::follow_connection(Session& session) {
    switch (property<GstWebRTCPeerConnectionState>(session.webrtc, "connection-state")) {
        case GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED: return connected(session);
        case GST_WEBRTC_PEER_CONNECTION_STATE_FAILED: return end(session.id, "the connection has failed");
        case GST_WEBRTC_PEER_CONNECTION_STATE_CLOSED: return end(session.id, "the client has closed the connection");
        default: break;
    }
}

WhepServer::WhepServer(const WhepOptions& options) : state_(std::make_shared<State>(options)) { state_->start(); }
WhepServer::~WhepServer() { state_->stop(); }

void WhepServer::require() {
    GError* error = nullptr;
    const bool there = gst_init_check(nullptr, nullptr, &error);
    const ErrorPointer owned(error);
    if (!there) fail(ErrorCode::config, "GStreamer cannot be initialized: {}", error ? error->message : "");
    constexpr std::pair<const char*, const char*> needed[] = {
        {"appsrc", "plugins-base"},   {"rtph264pay", "plugins-good"}, {"rtpbin", "plugins-good"},
        {"webrtcbin", "plugins-bad"}, {"dtlssrtpenc", "plugins-bad"}, {"srtpenc", "plugins-bad"},
        {"nicesink", "nice"}};
    for (const auto& [element, package] : needed) {
        const ObjectPointer<GstElementFactory> found(gst_element_factory_find(element));
        if (!found)
            fail(ErrorCode::config, "WebRTC needs GStreamer's element {} (Debian: gstreamer1.0-{})", element, package);
    }
}

Response WhepServer::open(std::shared_ptr<CameraVideo> video, const net::http::Request& request) {
    auto session = std::make_shared<Session>();
    session->offer = WebrtcOffer::parse(request.body);
    require();
    check_video(*video);
    session->id = net::make_token();
    session->peer = request.peer_key;
    session->client = request.peer;
    session->video = std::move(video);
    session->response = std::make_shared<Feed>(
        net::http::FeedOptions{.deferred = true,
                               .absent_status = 503,
                               .absent_text = "the WebRTC session could not be set up; see the server's log"});
    auto& state = *state_;
    {
        const std::lock_guard lock(state.mutex);
        int connecting = 0, of_peer = 0;
        for (const auto& [id, other] : state.sessions) {
            connecting += !other->is_connected;
            of_peer += !other->is_connected && other->peer == session->peer;
        }
        const auto& options = state.options;
        if (static_cast<int>(state.sessions.size()) >= options.sessions_limit ||
            connecting >= options.connecting_limit || of_peer >= options.connecting_limit_per_peer) {
            ++state.figures.refused;
            return net::http::error_response(503, "there are too many WebRTC sessions");
        }
        state.sessions.emplace(session->id, session);
        ++state.figures.sessions_total;
    }
    // The subscription is made on the server's thread, so that access units find it there.
    state.queue(session->id, [](State& server, Session& one) { server.subscribe(one); });
    return {.status = 201,
            .content_type = "application/sdp",
            .headers = {{"Location",
                         fmt::format("{}/{}/whep/{}", state.options.base_path, session->camera(), session->id)}},
            .feed = session->response};
}

Response WhepServer::close(const std::string& camera, const std::string& id) {
    auto& state = *state_;
    {
        const std::lock_guard lock(state.mutex);
        const auto found = state.sessions.find(id);
        if (found == state.sessions.end() || found->second->camera() != camera)
            fail(ErrorCode::no_input, "there is no such session, or no longer");
        state.ended.push_back(std::move(found->second));
        state.sessions.erase(found);
    }
    state.changed.notify_one();
    return {.content_type = "text/plain; charset=utf-8"};
}

int WhepServer::sessions_of(const std::string& camera) const {
    const std::lock_guard lock(state_->mutex);
    return static_cast<int>(
        std::ranges::count_if(state_->sessions, [&](const auto& one) { return one.second->camera() == camera; }));
}

WhepStatistics WhepServer::statistics() const {
    const std::lock_guard lock(state_->mutex);
    auto figures = state_->figures;
    figures.sessions = static_cast<std::int64_t>(state_->sessions.size());
    figures.connected =
        std::ranges::count_if(state_->sessions, [](const auto& one) { return one.second->is_connected; });
    return figures;
}

}  // namespace framewire::service
