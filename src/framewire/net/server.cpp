#include "framewire/net/server.hpp"

#include "framewire/core/clock.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/packing.hpp"
#include "framewire/net/guests.hpp"
#include "framewire/net/limited_log.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/pinned_bytes.hpp"
#include "framewire/net/viewer.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio.hpp>

#include <netinet/tcp.h>

#include <algorithm>
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
using Phase = Viewer::Phase;

// Sent but not yet on its way: what the kernel holds back for a slow viewer, and so how stale its picture gets.
constexpr int unsent_limit_bytes = 128 * 1024;
constexpr std::size_t least_pinned_limit_bytes = std::size_t{512} << 20;

std::shared_ptr<const Bytes> shared(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

}  // namespace

struct Server::State {
    State(StreamState& stream_, ServerOptions options_, std::stop_token stop)
        : stream(stream_),
          options(std::move(options_)),
          pinned_limit(options.pinned_limit_bytes > 0
                           ? options.pinned_limit_bytes
                           : std::max(least_pinned_limit_bytes, 4 * delta::max_packed_bytes(stream.info().shape))),
          listener(context, options.listen, options.lookup, Clock::now() + options.lookup_deadline, std::move(stop)),
          timer(context),
          address{listener.address(), options.stream},
          hello(shared(server_hello(stream.info()))),
          guests(
              {options.greeting_limit, options.greeting_limit_per_peer, options.handshake_deadline,
               options.write_deadline},
              [this](const std::string& name, tcp::socket& socket) { return admit(name, socket); },
              [this](std::int64_t refused, std::int64_t bytes) {
                  count([&](ServerMetrics& m) {
                      m.refused += refused;
                      m.other_bytes += bytes;
                  });
              }) {
        listener.start([this](tcp::socket socket) { guests.come(std::move(socket)); });
        tick();
        thread = std::thread([this] { run(); });
    }

    ~State() {
        context.stop();
        thread.join();
        packing.join();
        // Still counted as viewers of the stream, which lives on.
        for (const auto& viewer : viewers)
            if (viewer->phase == Phase::watching) stream.detach();
    }

    // A handler that throws (no memory, a picture that cannot be packed) costs its own connection at most.
    void run() {
        for (;;) {
            try {
                context.run();
                return;
            } catch (const std::exception& error) {
                trouble.line("serving {}: {}", to_string(address), error.what());
            }
        }
    }

    // --- viewers ---

    std::optional<ServerError> admit(const std::string& name, tcp::socket& socket) {
        if (name != options.stream)
            return ServerError{Refusal::no_such_stream,
                               fmt::format("there is no stream '{}' here; there is '{}'", name, options.stream)};
        if (viewers.size() >= static_cast<std::size_t>(options.viewers_limit))
            return ServerError{Refusal::too_many_viewers,
                               fmt::format("{} viewers are there already, which is the limit", options.viewers_limit)};
        error_code ignored;  // these make it smoother, no more
        socket.set_option(tcp::no_delay(true), ignored);
        setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_limit_bytes,
                   sizeof unsent_limit_bytes);
        const auto viewer = std::make_shared<Viewer>(std::move(socket));
        viewers.insert(viewer);
        stream.attach();
        count([](ServerMetrics& m) {
            ++m.viewers;
            ++m.viewers_total;
        });
        came.line("viewer {} came", viewer->name);
        listen_to(viewer);
        send(viewer, {Answer::Kind::words, {hello}});
        return std::nullopt;
    }

    // A viewer has nothing more to say: what comes is its closing, or out of turn.
    void listen_to(const ViewerPointer& viewer) {
        const auto heard = [this, viewer](const error_code& error, std::size_t) {
            if (viewer->phase == Phase::watching && !error)
                drop(viewer, "it talks out of turn");
            else if (viewer->phase != Phase::gone)
                part(viewer, "");
        };
        viewer->socket.async_read_some(asio::buffer(&viewer->said, 1), heard);
    }

    void drop(const ViewerPointer& viewer, std::string_view why) {
        dropped.line("viewer {} dropped: {}", viewer->name, why);
        count([](ServerMetrics& m) { ++m.dropped; });
        close(viewer);
    }

    // It has closed, or its connection broke for the reason given.
    void part(const ViewerPointer& viewer, std::string_view why) {
        if (viewer->phase == Phase::watching)
            went.line("viewer {} went{}{}", viewer->name, why.empty() ? "" : ": ", why);
        close(viewer);
    }

    void close(const ViewerPointer& viewer) {
        if (viewer->phase == Phase::gone) return;
        enter(viewer, Phase::gone);
        error_code ignored;
        viewer->socket.close(ignored);
        viewers.erase(viewer);
        release(viewer);
    }

    void enter(const ViewerPointer& viewer, Phase phase) {
        const auto before = std::exchange(viewer->phase, phase);
        if (before == Phase::watching) stream.detach();
        count([&](ServerMetrics& m) {
            m.viewers -= before == Phase::watching;
            ending_viewers += (phase == Phase::ending) - (before == Phase::ending);
        });
    }

    // Calls `act` for everyone there now; what goes wrong with one costs the others nothing.
    template <class Act>
    void for_everyone(Act act) {
        const std::vector<ViewerPointer> everyone(viewers.begin(), viewers.end());
        for (const auto& viewer : everyone) {
            if (viewer->phase == Phase::gone) continue;
            try {
                act(viewer);
            } catch (const std::exception& error) {
                drop(viewer, error.what());
            }
        }
    }

    // --- sending ---

    // When nothing else is under way to the viewer.
    void send(const ViewerPointer& viewer, Answer answer) {
        make_room_for(answer);
        pinned.add(answer.messages);
        viewer->pins = true;
        viewer->answer = std::move(answer);
        viewer->writing = true;
        viewer->taken_bytes = 0;
        viewer->answered_at = viewer->progress = Clock::now();
        count_pinned();
        std::vector<asio::const_buffer> buffers;
        for (const auto& message : viewer->answer.messages) buffers.push_back(asio::buffer(*message));
        const auto watch_progress = [viewer](const error_code& error, std::size_t bytes) {
            if (bytes > viewer->taken_bytes) viewer->progress = Clock::now();
            viewer->taken_bytes = bytes;
            return asio::transfer_all()(error, bytes);
        };
        asio::async_write(viewer->socket, buffers, watch_progress,
                          [this, viewer](const error_code& error, std::size_t) { written(viewer, error); });
    }

    void written(const ViewerPointer& viewer, const error_code& error) {
        viewer->writing = false;
        release(viewer);
        const auto taken = std::exchange(viewer->answer, {});
        if (!error) count_taken(taken);
        if (viewer->phase == Phase::gone) return;
        if (error) {
            part(viewer, error.message());
        } else if (viewer->phase == Phase::watching) {
            send_missing(viewer);
        } else {
            error_code ignored;
            viewer->socket.shutdown(tcp::socket::shutdown_send, ignored);
        }
    }

    // Viewers that take nothing would keep a picture each, of as many versions as there are viewers. So who is slowest
    // goes until the answer fits; it goes without words, for it is in the middle of a message.
    void make_room_for(const Answer& answer) {
        while (pinned.total() + pinned.growth(answer.messages) > pinned_limit) {
            const auto slowest = slowest_besides(answer);
            if (!slowest) return;  // nobody else has anything under way
            drop(slowest,
                 fmt::format("it is the slowest, and what waits for viewers takes more than the {} bytes allowed",
                             pinned_limit));
        }
    }

    // The slowest of those who are sent pictures or steps, and none of the answer's; of several the longest at it.
    ViewerPointer slowest_besides(const Answer& answer) const {
        const auto now = Clock::now();
        const auto less = [now](const Viewer& a, const Viewer& b) {
            return std::pair(a.pace(now), a.answered_at) < std::pair(b.pace(now), b.answered_at);
        };
        ViewerPointer slowest;
        for (const auto& viewer : viewers)
            if (viewer->writing && viewer->answer.kind != Answer::Kind::words &&
                !viewer->answer.shares_a_message_with(answer) && (!slowest || less(*viewer, *slowest)))
                slowest = viewer;
        return slowest;
    }

    // The viewer's answer is not pinned any more.
    void release(const ViewerPointer& viewer) {
        if (!std::exchange(viewer->pins, false)) return;
        pinned.remove(viewer->answer.messages);
        count_pinned();
    }

    void count_pinned() {
        count([this](ServerMetrics& m) { m.pinned_bytes = static_cast<std::int64_t>(pinned.total()); });
    }

    void count_taken(const Answer& answer) {
        count([&](ServerMetrics& m) {
            const auto bytes = static_cast<std::int64_t>(answer.bytes());
            switch (answer.kind) {
                case Answer::Kind::words: m.other_bytes += bytes; break;
                case Answer::Kind::steps:
                    m.steps += static_cast<std::int64_t>(answer.messages.size());
                    m.step_bytes += bytes;
                    break;
                case Answer::Kind::picture:
                    ++m.pictures;
                    m.picture_bytes += bytes;
                    m.skipped += static_cast<std::int64_t>(answer.skipped);
                    break;
            }
        });
    }

    void send_missing(const ViewerPointer& viewer) {
        if (viewer->phase != Phase::watching || viewer->writing || viewer->awaits_picture) return;
        auto missing = stream.missing(viewer->held);
        if (missing.picture) {
            pack_picture();
            viewer->awaits_picture = true;
        } else if (!missing.steps.empty()) {
            viewer->held = missing.steps.back().version;
            Answer answer{Answer::Kind::steps, {}};
            for (auto& step : missing.steps) answer.messages.push_back(std::move(step.bytes));
            send(viewer, std::move(answer));
        } else if (missing.ended) {
            // The viewer closes when it has the last words. Closing first could cost it them.
            enter(viewer, Phase::ending);
            send(viewer, {Answer::Kind::words, {last_words}});
        }
    }

    // Packing takes milliseconds, in which nobody else should wait: a thread of its own does it, one picture at a time
    // for all who wait for one.
    void pack_picture() {
        if (packing_picture) return;
        asio::post(packing, [this] {
            StateMessage picture;
            std::string problem;
            try {
                picture = stream.picture();
            } catch (const std::exception& error) {
                problem = error.what();
            }
            asio::post(context, [this, picture, problem] {
                if (!problem.empty())
                    trouble.line("serving {}: a picture cannot be packed: {}", to_string(address), problem);
                hand_out(picture);
            });
        });
        packing_picture = true;
    }

    void hand_out(const StateMessage& picture) {
        packing_picture = false;
        for_everyone([&](const ViewerPointer& viewer) {
            if (!std::exchange(viewer->awaits_picture, false)) return;
            if (viewer->writing) return;  // a keep-alive; what is missing is asked for when it is taken
            if (picture.version == 0) {
                drop(viewer, "there is no picture for it");
                return;
            }
            if (picture.version <= viewer->held) {  // packed before this viewer asked
                send_missing(viewer);
                return;
            }
            const auto skipped = viewer->held > 0 ? picture.version - viewer->held - 1 : 0;
            viewer->held = picture.version;
            send(viewer, {Answer::Kind::picture, {picture.bytes}, skipped});
        });
    }

    void send_all_missing() {
        for_everyone([this](const ViewerPointer& viewer) { send_missing(viewer); });
    }

    // --- deadlines ---

    void tick() {
        timer.expires_after(std::max(std::chrono::milliseconds(1), options.keep_alive / 4));
        timer.async_wait([this](const error_code& error) {
            if (error) return;
            tick();
            const auto now = Clock::now();
            for_everyone([&](const ViewerPointer& viewer) { check_deadlines(viewer, now); });
            guests.check_deadlines(now);
            listener.tell_left_out(now);
            for (auto* log : {&came, &went, &dropped, &trouble}) log->tell_left_out(now);
        });
    }

    void check_deadlines(const ViewerPointer& viewer, Clock::time_point now) {
        const auto silence = now - viewer->progress;
        if (viewer->phase == Phase::ending) {
            if (silence >= options.write_deadline) close(viewer);
        } else if (viewer->writing) {
            if (silence >= options.write_deadline)
                drop(viewer, fmt::format("it took nothing for {} ms", options.write_deadline.count()));
        } else if (silence >= options.keep_alive) {
            send(viewer, {Answer::Kind::words, {alive}});  // also while a picture is packed for it
        }
    }

    // --- the end ---

    // Nobody new; everyone the last state and the last words.
    void begin_end(const std::string& failure) {
        if (!failure.empty()) last_words = shared(error_message(Refusal::failed, failure, false));
        stream.finish();
        listener.close();
        guests.turn_away({Refusal::no_such_stream, "the stream has come to its end"});
        send_all_missing();
        count([this](ServerMetrics&) { closed_to_new = true; });
    }

    // Gives how many viewers were left.
    int cut_off() {
        const auto left = static_cast<int>(viewers.size());
        for_everyone([this](const ViewerPointer& viewer) { close(viewer); });
        guests.close_all();
        return left;
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

    StreamState& stream;
    const ServerOptions options;
    const std::size_t pinned_limit;
    asio::io_context context{1};
    asio::thread_pool packing{1};
    Listener listener;
    asio::steady_timer timer;
    const StreamAddress address;
    const std::shared_ptr<const Bytes> hello;
    const std::shared_ptr<const Bytes> alive = shared(empty_message(MessageType::alive));

    // The io thread's.
    Guests guests;
    std::set<ViewerPointer> viewers;
    PinnedBytes pinned;
    bool packing_picture = false;
    std::shared_ptr<const Bytes> last_words = shared(empty_message(MessageType::end));
    LimitedLog came{spdlog::level::info, "viewers that came"};
    LimitedLog went{spdlog::level::info, "viewers that went"};
    LimitedLog dropped{spdlog::level::warn, "viewers dropped"};
    LimitedLog trouble{spdlog::level::err, "trouble in serving"};

    std::atomic<bool> publishing{false};
    mutable std::mutex mutex;
    std::condition_variable_any changed;
    ServerMetrics metrics{};  // guarded by mutex, like the rest
    int ending_viewers = 0;
    bool closed_to_new = false;

    std::thread thread;  // last: it uses all of the above
};

namespace {

ServerOptions checked(ServerOptions options) {
    validate_stream_name(options.stream);
    if (options.viewers_limit < 1 || options.viewers_limit > 10'000)
        fail(ErrorCode::usage, "a limit of {} viewers asked for; 1 to 10000 is allowed", options.viewers_limit);
    for (const int limit : {options.greeting_limit, options.greeting_limit_per_peer})
        if (limit < 1 || limit > 10'000)
            fail(ErrorCode::usage, "a limit of {} greeting connections asked for; 1 to 10000 is allowed", limit);
    for (const auto deadline :
         {options.lookup_deadline, options.handshake_deadline, options.write_deadline, options.keep_alive})
        if (deadline <= std::chrono::milliseconds(0) || deadline > std::chrono::hours(1))
            fail(ErrorCode::usage, "a server's deadline of {} ms asked for; 1 ms to 1 h is allowed", deadline.count());
    return options;
}

}  // namespace

Server::Server(StreamState& state, ServerOptions options, std::stop_token stop)
    : state_(std::make_unique<State>(state, checked(std::move(options)), std::move(stop))) {}
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
    asio::post(state.context, [&state, failure] { state.begin_end(failure); });
    {
        std::unique_lock lock(state.mutex);
        state.changed.wait_for(lock, deadline, [&] {
            return state.closed_to_new && state.metrics.viewers == 0 && state.ending_viewers == 0;
        });
    }
    return asio::post(state.context, asio::use_future([&state] { return state.cut_off(); })).get();
}

ServerMetrics Server::metrics() const {
    const std::lock_guard lock(state_->mutex);
    return state_->metrics;
}

}  // namespace framewire::net
