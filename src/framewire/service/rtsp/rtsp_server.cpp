#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time.hpp"
#include "framewire/service/rtsp/camera_media.hpp"
#include "framewire/service/rtsp/token_auth.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

// GStreamer's server runs its own threads: one that accepts connections, which is RtspServer's, a pool for the
// connections, one per media, and one that sends.

namespace framewire::service {
namespace {

// Threads for the connections of all clients. A client that asks for a camera without a picture occupies one for
// seconds.
constexpr int connection_threads = 8;
// Maximum number of connections without a session, in total and per peer. Beyond that, new ones are closed.
constexpr int pending_limit = 128, pending_limit_per_peer = 32;
// Longest body of a request. Clients have no reason to send more than a few parameters.
constexpr guint body_limit_bytes = 16 * 1024;
// Time that the streams have to end with the server.
constexpr std::chrono::seconds ending_deadline{5};

// Throws Error{config} unless GStreamer and its plugins are there.
void require_gstreamer() {
    GError* error = nullptr;
    const bool there = gst_init_check(nullptr, nullptr, &error);
    const ErrorPointer owned(error);
    if (!there) fail(ErrorCode::config, "GStreamer cannot be initialized: {}", error ? error->message : "");
    constexpr std::pair<const char*, const char*> needed[] = {
        {"appsrc", "base"}, {"rtph264pay", "good"}, {"rtpbin", "good"}, {"multiudpsink", "good"}};
    for (const auto& [element, plugins] : needed) {
        const ObjectPointer<GstElementFactory> found(gst_element_factory_find(element));
        if (!found)
            fail(ErrorCode::config, "RTSP needs GStreamer's element {} (Debian: gstreamer1.0-plugins-{})", element,
                 plugins);
    }
}

// Maximum number of bytes that the system accepts for a client but has not sent. The rest waits in GStreamer.
constexpr int unsent_limit_bytes = 64 * 1024;

// Owns a copy of a connection's socket, with which any thread can shut it down. Only the thread that serves a
// connection may close it: GStreamer's gst_rtsp_client_close() on another one makes the serving thread spin on a closed
// stream.
class SocketCopy {
public:
    SocketCopy() = default;
    explicit SocketCopy(GSocket* socket)
        : descriptor_(socket ? ::dup(g_socket_get_fd(socket)) : -1),
          socket_(socket ? static_cast<GSocket*>(g_object_ref(socket)) : nullptr) {
        ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_limit_bytes, sizeof unsent_limit_bytes);
    }
    SocketCopy(SocketCopy&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), socket_(std::move(other.socket_)) {}
    SocketCopy& operator=(SocketCopy&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(socket_, other.socket_);
        return *this;
    }
    // Also closes GStreamer's own descriptor, which it never does after a TLS handshake that has failed.
    ~SocketCopy() {
        if (descriptor_ < 0) return;
        shut_down();
        ::close(descriptor_);
        if (socket_) g_socket_close(socket_.get(), nullptr);
    }
    void shut_down() const { ::shutdown(descriptor_, SHUT_RDWR); }
    // Ends the connection without sending what waits.
    void reset() const {
        const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
        ::connect(descriptor_, &nobody, sizeof nobody);
    }
    // Returns how many bytes the system has not sent yet, because the peer reads too slowly.
    int unsent_bytes() const {
        int bytes = 0;
        return ::ioctl(descriptor_, SIOCOUTQNSD, &bytes) == 0 ? bytes : 0;
    }
    // Returns how many bytes the peer has not acknowledged.
    int unacknowledged_bytes() const {
        int bytes = 0;
        return ::ioctl(descriptor_, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
    }

private:
    int descriptor_ = -1;
    ObjectPointer<GSocket> socket_;
};

// Connections, and who they are. Shared with the handlers of signals, which may run while the server ends. Thread-safe.
class RtspClients {
public:
    RtspClients(const RtspOptions& options, std::vector<std::shared_ptr<CameraVideos>> cameras)
        : options_(options), cameras_(std::move(cameras)) {}

    // Returns false if there are too many connections without a session. Called just before connected().
    bool let_in(GstRTSPConnection* connection) {
        const char* address = gst_rtsp_connection_get_ip(connection);
        Connection made{peer_of(address ? address : ""), Clock::now(), false,
                        SocketCopy(gst_rtsp_connection_get_read_socket(connection))};
        const std::lock_guard lock(mutex_);
        int pending = 0, of_peer = 0;
        for (const auto& [client, about] : clients_) {
            pending += !about.has_session;
            of_peer += !about.has_session && about.peer == made.peer;
        }
        if (pending >= pending_limit || of_peer >= pending_limit_per_peer) {
            ++refused_;
            return false;
        }
        accepted_ = std::move(made);
        return true;
    }

    void connected(GstRTSPClient* client) {
        const std::lock_guard lock(mutex_);
        clients_[client] = std::move(accepted_);
    }

    void closed(GstRTSPClient* client) {
        const std::lock_guard lock(mutex_);
        clients_.erase(client);
    }

    // Closes the connections that GStreamer has given up without a signal, as it does when TLS fails.
    void forget_all_except(const std::set<GstRTSPClient*>& present) {
        const std::lock_guard lock(mutex_);
        std::erase_if(clients_, [&](const auto& entry) { return !present.contains(entry.first); });
    }

    bool empty() {
        const std::lock_guard lock(mutex_);
        return clients_.empty();
    }

    void shut_down(GstRTSPClient* client) {
        const std::lock_guard lock(mutex_);
        if (const auto found = clients_.find(client); found != clients_.end()) found->second.socket.shut_down();
    }

    // Ends the connection if any bytes wait to be sent, without sending them.
    void reset_if_slow(GstRTSPClient* client) {
        const std::lock_guard lock(mutex_);
        const auto found = clients_.find(client);
        if (found != clients_.end() && found->second.socket.unsent_bytes() > 0) found->second.socket.reset();
    }

    void session_begins(GstRTSPClient* client, GstRTSPSession* session) {
        gst_rtsp_session_set_timeout(session, static_cast<guint>(options_.session_timeout.count()));
        ++sessions_total_;
        const std::lock_guard lock(mutex_);
        if (const auto found = clients_.find(client); found != clients_.end()) found->second.has_session = true;
    }

    // Returns true if a connection has had no session for too long, has accepted no byte of those that wait for it, or
    // has been behind for too long.
    bool must_end(GstRTSPClient* client) {
        const auto now = Clock::now();
        const bool has_session = sessions_of(client) > 0;
        const std::lock_guard lock(mutex_);
        const auto found = clients_.find(client);
        if (found == clients_.end()) return false;
        auto& connection = found->second;
        connection.has_session = has_session;
        if (has_session) connection.last_session = now;
        // A client that reads changes this number between two looks, unless it is 0.
        const int waiting = connection.socket.unacknowledged_bytes();
        if (waiting == 0 || waiting != std::exchange(connection.waiting_bytes, waiting)) connection.last_progress = now;
        if (connection.socket.unsent_bytes() < unsent_limit_bytes / 2) connection.last_caught_up = now;
        return now - connection.last_session > options_.setup_deadline ||
               now - connection.last_progress > options_.write_deadline ||
               now - connection.last_caught_up > options_.behind_deadline;
    }

    // Returns the status of a request for a stream before it is made.
    GstRTSPStatusCode before_stream(const GstRTSPUrl* url) const {
        if (!url || !url->abspath) return GST_RTSP_STS_BAD_REQUEST;
        std::string_view name = url->abspath;
        name.remove_prefix(std::min<std::size_t>(name.find_first_not_of('/'), name.size()));
        name = name.substr(0, name.find('/'));
        const auto camera =
            std::ranges::find_if(cameras_, [&](const auto& videos) { return videos->camera()->name() == name; });
        if (camera == cameras_.end()) return GST_RTSP_STS_NOT_FOUND;
        try {
            const auto query = variant_query(*url);
            VideoVariant::parse(std::string_view(query));
            parse_audio(std::string_view(query));
        } catch (const std::exception&) {
            return GST_RTSP_STS_BAD_REQUEST;
        }
        return (*camera)->camera()->picture_version() == 0 ? GST_RTSP_STS_SERVICE_UNAVAILABLE : GST_RTSP_STS_OK;
    }

    std::int64_t refused() const { return refused_; }
    std::int64_t sessions_total() const { return sessions_total_; }

    static int sessions_of(GstRTSPClient* client) {
        auto* sessions = gst_rtsp_client_session_filter(client, nullptr, nullptr);
        const int count = static_cast<int>(g_list_length(sessions));
        g_list_free_full(sessions, g_object_unref);
        return count;
    }

private:
    struct Connection {
        std::string peer;
        // time of the connection, and later the last time at which it had a session
        Clock::time_point last_session;
        bool has_session = false;
        SocketCopy socket{};
        // last time at which the number of bytes that are not acknowledged was 0 or had changed
        Clock::time_point last_progress = Clock::now();
        int waiting_bytes = 0;
        // last time at which little or nothing waited to be sent
        Clock::time_point last_caught_up = Clock::now();
    };

    const RtspOptions options_;
    const std::vector<std::shared_ptr<CameraVideos>> cameras_;
    std::mutex mutex_;
    // the connection for which connected() is called next
    Connection accepted_;
    std::map<GstRTSPClient*, Connection> clients_;
    std::atomic<std::int64_t> refused_ = 0, sessions_total_ = 0;
};

using Handlers = Shared<RtspClients>;

// The handlers of a client's signals.
void on_closed(GstRTSPClient* client, gpointer data) { Handlers::of(data).closed(client); }
void on_session(GstRTSPClient* client, GstRTSPSession* session, gpointer data) {
    Handlers::of(data).session_begins(client, session);
}
GstRTSPStatusCode on_stream(GstRTSPClient*, GstRTSPContext* context, gpointer data) {
    return Handlers::of(data).before_stream(context->uri);
}
GstRTSPStatusCode on_upload(GstRTSPClient*, GstRTSPContext*, gpointer) { return GST_RTSP_STS_METHOD_NOT_ALLOWED; }
void on_play(GstRTSPClient*, GstRTSPContext* context, gpointer) {
    auto* media = context->sessmedia ? gst_rtsp_session_media_get_media(context->sessmedia) : nullptr;
    if (!media) return;
    if (const auto feed = feed_of(media)) feed->request_keyframe();
}

void on_connected(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
    const auto& clients = *static_cast<std::shared_ptr<RtspClients>*>(data);
    clients->connected(client);
    Handlers::connect(client, "closed", G_CALLBACK(on_closed), clients);
    Handlers::connect(client, "new-session", G_CALLBACK(on_session), clients);
    Handlers::connect(client, "pre-describe-request", G_CALLBACK(on_stream), clients);
    Handlers::connect(client, "pre-setup-request", G_CALLBACK(on_stream), clients);
    Handlers::connect(client, "play-request", G_CALLBACK(on_play), clients);
    Handlers::connect(client, "pre-announce-request", G_CALLBACK(on_upload), clients);
    Handlers::connect(client, "pre-record-request", G_CALLBACK(on_upload), clients);
}

// Returns true if a session of the client plays the media.
bool plays(GstRTSPClient* client, GstRTSPMedia* media) {
    bool found = false;
    auto* sessions = gst_rtsp_client_session_filter(client, nullptr, nullptr);
    for (auto* one = sessions; one; one = one->next) {
        auto* medias = gst_rtsp_session_filter(GST_RTSP_SESSION(one->data), nullptr, nullptr);
        for (auto* other = medias; other; other = other->next)
            found |= gst_rtsp_session_media_get_media(GST_RTSP_SESSION_MEDIA(other->data)) == media;
        g_list_free_full(medias, g_object_unref);
    }
    g_list_free_full(sessions, g_object_unref);
    return found;
}

// GStreamer's server with its event loop.
class RtspLoop {
public:
    explicit RtspLoop(std::shared_ptr<RtspClients> clients)
        : clients_(std::move(clients)),
          context_(g_main_context_new()),
          server_(make_variant_server()),
          sessions_(gst_rtsp_session_pool_new()) {
        gst_rtsp_server_set_session_pool(server_.get(), sessions_.get());
        gst_rtsp_server_set_content_length_limit(server_.get(), body_limit_bytes);
        const ObjectPointer<GstRTSPThreadPool> threads(gst_rtsp_server_get_thread_pool(server_.get()));
        gst_rtsp_thread_pool_set_max_threads(threads.get(), connection_threads);
        Handlers::connect(server_.get(), "client-connected", G_CALLBACK(on_connected), clients_);
    }
    ~RtspLoop() { end(); }
    RtspLoop(const RtspLoop&) = delete;
    RtspLoop& operator=(const RtspLoop&) = delete;

    GstRTSPServer* server() const { return server_.get(); }
    GstRTSPSessionPool* sessions() const { return sessions_.get(); }

    // Starts to listen and to look after the connections. Returns the port. Throws Error{config}.
    std::uint16_t begin(const net::Address& address) {
        gst_rtsp_server_set_address(server_.get(), address.host.c_str());
        gst_rtsp_server_set_service(server_.get(), fmt::to_string(address.port).c_str());
        GError* error = nullptr;
        listening_.reset(gst_rtsp_server_create_source(server_.get(), nullptr, &error));
        const ErrorPointer owned(error);
        if (!listening_)
            fail(ErrorCode::config, "cannot serve RTSP at {}: {}", to_string(address), error ? error->message : "");
        g_source_attach(listening_.get(), context_.get());
        looking_after_.reset(g_timeout_source_new_seconds(1));
        g_source_set_callback(
            looking_after_.get(), [](gpointer self) { return static_cast<RtspLoop*>(self)->tidy(); }, this, nullptr);
        g_source_attach(looking_after_.get(), context_.get());
        thread_ = std::jthread([this](const std::stop_token& stop) {
            g_main_context_push_thread_default(context_.get());
            while (!stop.stop_requested()) g_main_context_iteration(context_.get(), TRUE);
            g_main_context_pop_thread_default(context_.get());
        });
        return static_cast<std::uint16_t>(gst_rtsp_server_get_bound_port(server_.get()));
    }

    // Calls `end` on the loop's thread with each client of a media.
    using End = void (RtspClients::*)(GstRTSPClient*);
    static void end_clients(const std::shared_ptr<RtspLoop>& loop, GstRTSPMedia* media, End end) {
        struct Task {
            std::weak_ptr<RtspLoop> loop;
            ObjectPointer<GstRTSPMedia> media;
            End end;
        };
        auto* task = new Task{loop, ObjectPointer<GstRTSPMedia>(static_cast<GstRTSPMedia*>(g_object_ref(media))), end};
        const SourcePointer source(g_idle_source_new());
        g_source_set_callback(
            source.get(),
            [](gpointer data) -> gboolean {
                const auto& one = *static_cast<Task*>(data);
                if (const auto there = one.loop.lock())
                    there->for_each_client([&](GstRTSPClient* client) {
                        if (plays(client, one.media.get())) (there->clients_.get()->*one.end)(client);
                    });
                return G_SOURCE_REMOVE;
            },
            task, [](gpointer data) { delete static_cast<Task*>(data); });
        g_source_attach(source.get(), loop->context_.get());
    }

    // Stops listening, closes all connections and ends the thread.
    void end() {
        if (listening_) g_source_destroy(listening_.get());
        if (looking_after_) g_source_destroy(looking_after_.get());
        for (const auto deadline = Clock::now() + ending_deadline; !clients_->empty() && Clock::now() < deadline;) {
            for_each_client([&](GstRTSPClient* client) { clients_->shut_down(client); });
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        const auto remove = [](GstRTSPSessionPool*, GstRTSPSession*, gpointer) { return GST_RTSP_FILTER_REMOVE; };
        gst_rtsp_session_pool_filter(sessions_.get(), remove, nullptr);
        thread_.request_stop();
        g_main_context_wakeup(context_.get());
        if (thread_.joinable()) thread_.join();
    }

private:
    template <class Body>
    void for_each_client(Body&& body) {
        std::set<GstRTSPClient*> present;
        auto* clients = gst_rtsp_server_client_filter(server_.get(), nullptr, nullptr);
        for (auto* one = clients; one; one = one->next) {
            auto* client = GST_RTSP_CLIENT(one->data);
            present.insert(client);
            body(client);
        }
        // Connections are added on this thread, so none of them is missing because it is new.
        if (std::this_thread::get_id() == thread_.get_id()) clients_->forget_all_except(present);
        g_list_free_full(clients, g_object_unref);
    }

    // Removes sessions that have timed out, and those that had no stream a second ago and have none now. GStreamer
    // would keep the latter until their timeout, although the connection that carried their stream is closed.
    void remove_sessions() {
        gst_rtsp_session_pool_cleanup(sessions_.get());
        struct Found {
            std::set<std::string> before, now;
        } found{std::exchange(without_stream_, {}), {}};
        const auto filter = [](GstRTSPSessionPool*, GstRTSPSession* session, gpointer data) {
            auto& [before, now] = *static_cast<Found*>(data);
            auto* streams = gst_rtsp_session_filter(session, nullptr, nullptr);
            const bool any = streams != nullptr;
            g_list_free_full(streams, g_object_unref);
            if (any) return GST_RTSP_FILTER_KEEP;
            const std::string id = gst_rtsp_session_get_sessionid(session);
            if (before.contains(id)) return GST_RTSP_FILTER_REMOVE;
            now.insert(id);
            return GST_RTSP_FILTER_KEEP;
        };
        gst_rtsp_session_pool_filter(sessions_.get(), filter, &found);
        without_stream_ = std::move(found.now);
    }

    gboolean tidy() {
        remove_sessions();
        for_each_client([this](GstRTSPClient* client) {
            if (clients_->must_end(client)) clients_->shut_down(client);
        });
        return G_SOURCE_CONTINUE;
    }

    std::shared_ptr<RtspClients> clients_;
    std::unique_ptr<GMainContext, ReleasedBy<g_main_context_unref>> context_;
    ObjectPointer<GstRTSPServer> server_;
    ObjectPointer<GstRTSPSessionPool> sessions_;
    SourcePointer listening_, looking_after_;
    // ids of the sessions that had no stream when tidy() last ran
    std::set<std::string> without_stream_;
    std::jthread thread_;
};

}  // namespace

struct RtspServer::State {
    State(const RtspOptions& options, std::vector<std::shared_ptr<CameraVideos>> cameras)
        : tls(options.tls.has_value()), address(options.listen.value()) {
        if (options.token.empty() && !options.open && !net::is_loopback(address))
            fail(ErrorCode::usage, "RTSP at {} needs a token, because other machines can connect to it",
                 to_string(address));
        require_gstreamer();
        logins = std::make_shared<RtspLogins>(options.token);
        clients = std::make_shared<RtspClients>(options, cameras);
        loop = std::make_shared<RtspLoop>(clients);
        parts = std::make_shared<FeedParts>();
        parts->tcp_only = tls;
        const auto ending = [this](RtspLoop::End end) {
            return [weak = std::weak_ptr(loop), end](GstRTSPMedia* media) {
                if (const auto there = weak.lock()) RtspLoop::end_clients(there, media, end);
            };
        };
        parts->end = ending(&RtspClients::shut_down);
        parts->end_slow = ending(&RtspClients::reset_if_slow);
        const auto let_in = [of = clients](GstRTSPConnection* connection) { return of->let_in(connection); };
        gst_rtsp_server_set_auth(loop->server(), make_token_auth(logins, let_in, options.tls).get());
        gst_rtsp_session_pool_set_max_sessions(loop->sessions(), static_cast<guint>(options.sessions_limit));
        const ObjectPointer<GstRTSPMountPoints> mounts(gst_rtsp_server_get_mount_points(loop->server()));
        for (auto& videos : cameras) {
            const auto path = "/" + videos->camera()->name();
            gst_rtsp_mount_points_add_factory(mounts.get(), path.c_str(),
                                              make_camera_factory(std::move(videos), parts).release());
        }
        address.port = loop->begin(address);
    }

    ~State() {
        loop->end();
        // Streams end on threads of GStreamer.
        for (const auto deadline = Clock::now() + ending_deadline; parts->feeds > 0 && Clock::now() < deadline;)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (parts->feeds > 0) log_warning("{} RTSP streams did not end in time", parts->feeds.load());
        parts->pump.stop();
    }

    bool tls;
    net::Address address;
    std::shared_ptr<RtspLogins> logins;
    std::shared_ptr<RtspClients> clients;
    std::shared_ptr<RtspLoop> loop;
    std::shared_ptr<FeedParts> parts;
};

RtspServer::RtspServer(const RtspOptions& options, std::vector<std::shared_ptr<CameraVideos>> cameras)
    : state_(std::make_unique<State>(options, std::move(cameras))) {}
RtspServer::~RtspServer() = default;

const net::Address& RtspServer::address() const { return state_->address; }

std::string RtspServer::url(const std::string& camera) const {
    return fmt::format("{}://{}/{}", state_->tls ? "rtsps" : "rtsp", to_string(state_->address), camera);
}

RtspStatistics RtspServer::statistics() const {
    return {.sessions = gst_rtsp_session_pool_get_n_sessions(state_->loop->sessions()),
            .sessions_total = state_->clients->sessions_total(),
            .refused = state_->clients->refused() + state_->logins->refused()};
}

}  // namespace framewire::service
