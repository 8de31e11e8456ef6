#include "framewire/net/server.hpp"

#include "framewire/core/clock.hpp"
#include "framewire/core/error.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio.hpp>

#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Connections that have not said hello yet, beyond the viewers there may be.
constexpr int greeting_limit = 32;
// Sent but not yet on its way: what the kernel holds back for a slow viewer, and so how stale its picture gets.
constexpr int unsent_limit_bytes = 128 * 1024;
constexpr std::chrono::milliseconds accept_pause{100};
// Read and thrown away from a viewer that was refused: closing on unread bytes could cost it the words why.
constexpr std::size_t out_of_turn_limit_bytes = 64 * 1024;

// A free port is one for all addresses a name stands for, so only the first address that can be listened on is.
tcp::acceptor listen(asio::io_context& context, const Address& address) {
    error_code error;
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error) fail(ErrorCode::config, "cannot listen on {}: {}", to_string(address), error.message());
    for (const auto& entry : found) {
        tcp::acceptor acceptor(context);
        acceptor.open(entry.endpoint().protocol(), error);
        if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor.bind(entry.endpoint(), error);
        if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
        if (!error) return acceptor;
    }
    fail(ErrorCode::config, "cannot listen on {}: {}", to_string(address), error.message());
}

std::string name_of(const tcp::socket& socket) {
    error_code error;
    const auto end = socket.remote_endpoint(error);
    return error ? "a viewer" : to_string(Address{end.address().to_string(), end.port()});
}

// One connection. Only the io thread touches it.
struct Session {
    enum class Phase {
        greeting,  // the viewer's hello is awaited
        watching,  // it is sent what it lacks
        leaving,   // it was told the end or an error, and its closing is awaited
        closed,
    };

    explicit Session(tcp::socket socket_) : socket(std::move(socket_)), name(name_of(socket)) {}

    tcp::socket socket;
    std::string name;
    Phase phase = Phase::greeting;
    bool writing = false;
    bool awaits_picture = false;
    std::uint64_t held = 0;  // the version the viewer has when all writes are done
    std::vector<std::shared_ptr<const Bytes>> sending;
    Clock::time_point since = Clock::now();     // of the phase
    Clock::time_point progress = Clock::now();  // when it last took a byte
    Bytes received = Bytes(preamble_bytes + header_bytes);
    std::size_t out_of_turn_bytes = 0;
};

using SessionPointer = std::shared_ptr<Session>;

std::shared_ptr<const Bytes> shared(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

}  // namespace

struct Server::State {
    State(StreamState& stream_, ServerOptions options_)
        : stream(stream_),
          options(std::move(options_)),
          acceptor(listen(context, options.listen)),
          accept_timer(context),
          timer(context) {
        const auto end = acceptor.local_endpoint();
        address = {{options.listen.host, end.port()}, options.stream};
        hello = shared(server_hello(stream.info()));
        accept();
        tick();
        thread = std::thread([this] { run(); });
    }

    ~State() {
        context.stop();
        thread.join();
        packing.join();
        // Sessions still counted as viewers of the stream, which lives on.
        for (const auto& session : sessions)
            if (session->phase == Session::Phase::watching) stream.detach();
    }

    // A handler that throws (no memory, a picture that cannot be packed) costs its own session at most.
    void run() {
        for (;;) {
            try {
                context.run();
                return;
            } catch (const std::exception& error) {
                spdlog::error("serving {}: {}", to_string(address), error.what());
            }
        }
    }

    // --- connections ---

    void accept() {
        acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
            if (!acceptor.is_open()) return;
            if (error) {
                // Out of descriptors, or a connection that was gone before it was taken: not an end of serving.
                spdlog::warn("serving {}: cannot take a connection: {}", to_string(address), error.message());
                accept_timer.expires_after(accept_pause);
                accept_timer.async_wait([this](const error_code&) {
                    if (acceptor.is_open()) accept();
                });
                return;
            }
            accept();
            greet(std::move(socket));
        });
    }

    // A handler of a session in greeting: what goes wrong there ends that session.
    template <class Handler>
    auto guarded(const SessionPointer& session, Handler handler) {
        return [this, session, handler](const error_code& error, std::size_t bytes) {
            if (session->phase == Session::Phase::closed) return;
            if (error) {
                count([](ServerMetrics& m) { ++m.refused; });
                close(session);
                return;
            }
            try {
                handler(bytes);
            } catch (const Error& problem) {
                refuse(session, Refusal::bad_request, problem.what());
            }
        };
    }

    void greet(tcp::socket socket) {
        if (sessions.size() >= static_cast<std::size_t>(options.viewers_limit + greeting_limit)) {
            count([](ServerMetrics& m) { ++m.refused; });
            return;  // closes it
        }
        error_code ignored;  // these make it smoother, no more
        socket.set_option(tcp::no_delay(true), ignored);
        setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_limit_bytes,
                   sizeof unsent_limit_bytes);

        auto session = std::make_shared<Session>(std::move(socket));
        sessions.insert(session);
        asio::async_read(session->socket, asio::buffer(session->received),
                         guarded(session, [this, session](std::size_t) { take_header(session); }));
    }

    void take_header(const SessionPointer& session) {
        const ByteSpan front(session->received);
        read_preamble(front.first(preamble_bytes));
        const auto header = read_header(front.subspan(preamble_bytes), 0);
        if (header.type != MessageType::hello) fail(ErrorCode::source_lost, "the viewer does not begin with a hello");
        session->received.resize(header.length_bytes);
        asio::async_read(session->socket, asio::buffer(session->received),
                         guarded(session, [this, session](std::size_t) { take_hello(session); }));
    }

    void take_hello(const SessionPointer& session) {
        const auto name = read_client_hello(session->received);
        if (name != options.stream) {
            refuse(session, Refusal::no_such_stream,
                   fmt::format("there is no stream '{}' here; there is '{}'", name, options.stream));
            return;
        }
        if (metrics_now().viewers >= options.viewers_limit) {
            refuse(session, Refusal::too_many_viewers,
                   fmt::format("{} viewers are there already, which is the limit", options.viewers_limit));
            return;
        }
        stream.attach();
        enter(session, Session::Phase::watching);
        count([](ServerMetrics& m) {
            ++m.viewers;
            ++m.viewers_total;
        });
        spdlog::info("viewer {} came", session->name);
        listen_to(session);
        count([&](ServerMetrics& m) { m.other_bytes += static_cast<std::int64_t>(hello->size()); });
        write(session, {hello});
    }

    // A viewer has nothing more to say: what comes is its closing, or out of turn.
    void listen_to(const SessionPointer& session) {
        session->received.resize(4096);
        const auto take = [this, session](const error_code& error, std::size_t bytes) {
            if (session->phase == Session::Phase::closed) return;
            if (!error && session->phase == Session::Phase::watching) {
                drop(session, "it talks out of turn");
                return;
            }
            session->out_of_turn_bytes += bytes;
            if (!error && session->out_of_turn_bytes <= out_of_turn_limit_bytes) {
                listen_to(session);
                return;
            }
            if (session->phase == Session::Phase::watching) spdlog::info("viewer {} went", session->name);
            close(session);
        };
        session->socket.async_read_some(asio::buffer(session->received), take);
    }

    void refuse(const SessionPointer& session, Refusal reason, const std::string& text) {
        spdlog::info("{} refused: {}", session->name, text);
        count([](ServerMetrics& m) { ++m.refused; });
        listen_to(session);
        leave(session, error_message(reason, text, true));
    }

    // The last message; the viewer closes when it has it. Closing first could cost it the message.
    void leave(const SessionPointer& session, Bytes words) {
        enter(session, Session::Phase::leaving);
        count([&](ServerMetrics& m) { m.other_bytes += static_cast<std::int64_t>(words.size()); });
        write(session, {shared(std::move(words))});
    }

    void drop(const SessionPointer& session, std::string_view why) {
        spdlog::warn("viewer {} dropped: {}", session->name, why);
        close(session);
        count([](ServerMetrics& m) { ++m.dropped; });
    }

    void enter(const SessionPointer& session, Session::Phase phase) {
        if (session->phase == Session::Phase::watching) {
            stream.detach();
            count([](ServerMetrics& m) { --m.viewers; });
        }
        session->phase = phase;
        session->since = session->progress = Clock::now();
    }

    void close(const SessionPointer& session) {
        if (session->phase == Session::Phase::closed) return;
        enter(session, Session::Phase::closed);
        error_code ignored;
        session->socket.close(ignored);
        sessions.erase(session);
        count([this](ServerMetrics&) { connections = sessions.size(); });
    }

    // A copy, for what is done to a session may end it.
    std::vector<SessionPointer> everyone() const { return {sessions.begin(), sessions.end()}; }

    // --- sending ---

    void write(const SessionPointer& session, std::vector<std::shared_ptr<const Bytes>> messages) {
        session->sending = std::move(messages);
        session->writing = true;
        session->progress = Clock::now();
        std::vector<asio::const_buffer> buffers;
        for (const auto& message : session->sending) buffers.push_back(asio::buffer(*message));
        const auto watch_progress = [session](const error_code& error, std::size_t bytes) {
            if (bytes > 0) session->progress = Clock::now();
            return asio::transfer_all()(error, bytes);
        };
        const auto written = [this, session](const error_code& error, std::size_t) {
            session->writing = false;
            session->sending.clear();
            if (session->phase == Session::Phase::closed) return;
            if (error) {
                spdlog::info("viewer {} went: {}", session->name, error.message());
                close(session);
            } else if (session->phase == Session::Phase::leaving) {
                error_code ignored;
                session->socket.shutdown(tcp::socket::shutdown_send, ignored);
            } else {
                send_missing(session);
            }
        };
        asio::async_write(session->socket, buffers, watch_progress, written);
    }

    void send_missing(const SessionPointer& session) {
        if (session->phase != Session::Phase::watching || session->writing || session->awaits_picture) return;
        auto missing = stream.missing(session->held);
        if (missing.picture) {
            session->awaits_picture = true;
            session->progress = Clock::now();
            pack_picture();
        } else if (!missing.steps.empty()) {
            session->held = missing.steps.back().version;
            std::vector<std::shared_ptr<const Bytes>> messages;
            std::int64_t bytes = 0;
            for (auto& step : missing.steps) {
                bytes += static_cast<std::int64_t>(step.bytes->size());
                messages.push_back(std::move(step.bytes));
            }
            count([&](ServerMetrics& m) {
                m.steps += static_cast<std::int64_t>(messages.size());
                m.step_bytes += bytes;
            });
            write(session, std::move(messages));
        } else if (missing.ended) {
            leave(session, last_words);
        }
    }

    // Packing takes milliseconds, in which nobody else should wait: a thread of its own does it, one picture at a time
    // for all who wait for one.
    void pack_picture() {
        if (std::exchange(packing_picture, true)) return;
        asio::post(packing, [this] {
            StateMessage picture;
            try {
                picture = stream.picture();
            } catch (const std::exception& error) {
                spdlog::error("serving {}: a picture cannot be packed: {}", to_string(address), error.what());
            }
            asio::post(context, [this, picture] { hand_out(picture); });
        });
    }

    void hand_out(const StateMessage& picture) {
        packing_picture = false;
        for (const auto& session : everyone()) {
            if (!std::exchange(session->awaits_picture, false) || session->phase != Session::Phase::watching) continue;
            if (picture.version == 0) {
                drop(session, "there is no picture for it");
                continue;
            }
            if (picture.version <= session->held) {  // packed before this viewer asked
                send_missing(session);
                continue;
            }
            const auto skipped = session->held > 0 ? picture.version - session->held - 1 : 0;
            session->held = picture.version;
            count([&](ServerMetrics& m) {
                ++m.pictures;
                m.skipped += static_cast<std::int64_t>(skipped);
                m.picture_bytes += static_cast<std::int64_t>(picture.bytes->size());
            });
            write(session, {picture.bytes});
        }
    }

    void send_all_missing() {
        for (const auto& session : everyone()) send_missing(session);
    }

    // --- deadlines ---

    void tick() {
        timer.expires_after(std::max(std::chrono::milliseconds(1), options.keep_alive / 4));
        timer.async_wait([this](const error_code& error) {
            if (error) return;
            tick();
            check_deadlines(Clock::now());
        });
    }

    void check_deadlines(Clock::time_point now) {
        for (const auto& session : everyone()) {
            switch (session->phase) {
                case Session::Phase::greeting:
                    if (now - session->since < options.handshake_deadline) break;
                    spdlog::info("{} refused: no hello within {} ms", session->name,
                                 options.handshake_deadline.count());
                    count([](ServerMetrics& m) { ++m.refused; });
                    close(session);
                    break;
                case Session::Phase::watching:
                    if (session->writing || session->awaits_picture) {
                        if (now - session->progress >= options.write_deadline)
                            drop(session, fmt::format("it took nothing for {} ms", options.write_deadline.count()));
                    } else if (now - session->progress >= options.keep_alive) {
                        keep_alive(session);
                    }
                    break;
                case Session::Phase::leaving:
                    if (now - session->progress >= options.write_deadline) close(session);
                    break;
                case Session::Phase::closed: break;
            }
        }
    }

    void keep_alive(const SessionPointer& session) {
        count([](ServerMetrics& m) { m.other_bytes += header_bytes; });
        write(session, {alive});
    }

    // --- shared with the other threads ---

    template <class Change>
    void count(Change change) {
        {
            const std::lock_guard lock(mutex);
            change(metrics);
        }
        changed.notify_all();
    }

    ServerMetrics metrics_now() const {
        const std::lock_guard lock(mutex);
        return metrics;
    }

    StreamState& stream;
    const ServerOptions options;
    asio::io_context context{1};
    asio::thread_pool packing{1};
    tcp::acceptor acceptor;
    asio::steady_timer accept_timer;
    asio::steady_timer timer;
    StreamAddress address;
    std::shared_ptr<const Bytes> hello;
    const std::shared_ptr<const Bytes> alive = shared(empty_message(MessageType::alive));

    // The io thread's.
    std::set<SessionPointer> sessions;
    bool packing_picture = false;
    Bytes last_words = empty_message(MessageType::end);

    std::atomic<bool> publishing{false};
    mutable std::mutex mutex;
    std::condition_variable_any changed;
    ServerMetrics metrics{};  // guarded by mutex, like the rest
    std::size_t connections = 0;
    bool closed_to_new = false;

    std::thread thread;  // last: it uses all of the above
};

namespace {

ServerOptions checked(ServerOptions options) {
    validate_stream_name(options.stream);
    if (options.viewers_limit < 1 || options.viewers_limit > 10'000)
        fail(ErrorCode::usage, "a limit of {} viewers asked for; 1 to 10000 is allowed", options.viewers_limit);
    for (const auto deadline : {options.handshake_deadline, options.write_deadline, options.keep_alive})
        if (deadline <= std::chrono::milliseconds(0) || deadline > std::chrono::hours(1))
            fail(ErrorCode::usage, "a server's deadline of {} ms asked for; 1 ms to 1 h is allowed", deadline.count());
    return options;
}

}  // namespace

Server::Server(StreamState& state, ServerOptions options)
    : state_(std::make_unique<State>(state, checked(std::move(options)))) {}
Server::~Server() = default;

const StreamAddress& Server::address() const { return state_->address; }

void Server::publish() {
    auto& state = *state_;
    if (state.publishing.exchange(true)) return;  // the call under way will see this state, too
    asio::post(state.context, [&state] {
        state.publishing = false;
        state.send_all_missing();
    });
}

bool Server::wait_for_viewers(int count, std::stop_token stop) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait(lock, stop, [&] { return state_->metrics.viewers >= count; });
}

int Server::finish(std::chrono::milliseconds deadline, const std::string& failure) {
    auto& state = *state_;
    asio::post(state.context, [&state, failure] {
        if (!failure.empty()) state.last_words = error_message(Refusal::failed, failure, false);
        state.stream.finish();
        error_code ignored;
        state.acceptor.close(ignored);
        state.send_all_missing();
        state.count([&](ServerMetrics&) {
            state.connections = state.sessions.size();
            state.closed_to_new = true;
        });
    });
    {
        std::unique_lock lock(state.mutex);
        state.changed.wait_for(lock, deadline, [&] { return state.closed_to_new && state.connections == 0; });
    }
    const auto cut_off = asio::use_future([&state] {
        const auto everyone = state.everyone();
        for (const auto& session : everyone) state.close(session);
        return static_cast<int>(everyone.size());
    });
    return asio::post(state.context, cut_off).get();
}

ServerMetrics Server::metrics() const { return state_->metrics_now(); }

}  // namespace framewire::net
