#include "framewire/net/client.hpp"

#include "framewire/core/clock.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/limited_log.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

// The connection is gone, for a reason that another connection may not have.
struct Lost {
    std::string why;
};

// One TCP connection, with a deadline on everything and an ear for the stop.
class Connection {
public:
    explicit Connection(std::stop_token stop)
        : on_stop_(std::move(stop), [this] { asio::post(context_, [this] { close("told to stop"); }); }) {}

    void connect(const std::vector<tcp::endpoint>& endpoints, Clock::time_point deadline) {
        await(deadline, "no connection comes about", [&](auto done) {
            asio::async_connect(socket_, endpoints,
                                [done](const error_code& error, const tcp::endpoint&) { done(error); });
        });
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
    }

    void write(ByteSpan bytes, Clock::time_point deadline) {
        await(deadline, "the server does not take the hello", [&](auto done) {
            asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()),
                              [done](const error_code& error, std::size_t) { done(error); });
        });
    }

    /// Fills `bytes`. The deadline is on the whole.
    void read(std::span<std::uint8_t> bytes, Clock::time_point deadline) { read(bytes, deadline, milliseconds(0)); }

    /// Fills `bytes`. The deadline is on the silence between two pieces.
    void read(std::span<std::uint8_t> bytes, milliseconds silence) { read(bytes, Clock::now() + silence, silence); }

private:
    void read(std::span<std::uint8_t> bytes, Clock::time_point deadline, milliseconds silence) {
        const auto progress = [this, silence](const error_code& error, std::size_t count) {
            if (count > 0 && silence.count() > 0) deadline_ = Clock::now() + silence;
            return asio::transfer_all()(error, count);
        };
        await(deadline, "the server is silent", [&](auto done) {
            asio::async_read(socket_, asio::buffer(bytes.data(), bytes.size()), progress,
                             [done](const error_code& error, std::size_t) { done(error); });
        });
    }

    // Starts an operation and runs it to its end; past the deadline it ends with the connection.
    template <class Start>
    void await(Clock::time_point deadline, const char* when_late, Start start) {
        deadline_ = deadline;
        std::optional<error_code> result;
        if (closed_why_.empty()) start([&result](const error_code& error) { result = error; });
        context_.restart();
        while (!result && closed_why_.empty())
            if (context_.run_one_until(deadline_) == 0 && Clock::now() >= deadline_) close(when_late);
        // Closed, so what is under way ends at once.
        if (!result) {
            context_.restart();
            context_.run();
        }
        if (!closed_why_.empty()) throw Lost{closed_why_};
        if (*result == asio::error::eof) throw Lost{"the server closed the connection"};
        if (*result) throw Lost{result->message()};
    }

    void close(std::string why) {
        if (closed_why_.empty()) closed_why_ = std::move(why);
        error_code ignored;
        socket_.close(ignored);
    }

    asio::io_context context_{1};
    tcp::socket socket_{context_};
    Clock::time_point deadline_{};
    std::string closed_why_;
    std::stop_callback<std::function<void()>> on_stop_;  // last: it uses the others
};

}  // namespace

struct Client::State {
    State(StreamAddress address_, const ClientOptions& options_, std::stop_token stop_)
        : address(std::move(address_)),
          options(options_),
          stop(std::move(stop_)),
          lookup(address.server.host, options.lookup) {
        validate_stream_name(address.stream);
        try {
            connect();
        } catch (const Lost& lost) {
            fail(ErrorCode::no_input, "there is no stream at {}: {}", to_string(address), lost.why);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::source_lost) throw;
            fail(ErrorCode::no_input, "there is no stream at {}: {}", to_string(address), error.what());
        }
    }

    // A connection, up to the server's hello. Throws Lost, and Error{source_lost} on what no server sends.
    void connect() {
        connection.reset();
        const auto deadline = Clock::now() + options.connect_deadline;
        const auto endpoints = resolve(deadline);
        connection.emplace(stop);
        connection->connect(endpoints, deadline);
        connection->write(client_hello(address.stream), deadline);

        payload.resize(preamble_bytes + header_bytes);
        connection->read(payload, deadline);
        const ByteSpan front(payload);
        read_preamble(front.first(preamble_bytes));
        const auto header = read_header(front.subspan(preamble_bytes), 0);
        payload.resize(header.length_bytes);
        connection->read(payload, deadline);
        bytes += static_cast<std::int64_t>(preamble_bytes + header_bytes + payload.size());
        // In words, too many viewers or a stream not there yet: another time it may be different.
        if (header.type == MessageType::error) throw Lost{"the server says: " + read_error(payload).text};
        if (header.type != MessageType::hello) fail(ErrorCode::source_lost, "the server does not begin with a hello");
        accept(read_server_hello(payload));
    }

    std::vector<tcp::endpoint> resolve(Clock::time_point deadline) {
        std::optional<std::vector<std::string>> found;
        try {
            found = lookup.addresses(deadline, stop);
        } catch (const Error& error) {
            throw Lost{error.what()};  // a resolver that is out of order may be well again another time
        }
        if (!found) throw Lost{stop.stop_requested() ? "told to stop" : "the name is not resolved"};
        std::vector<tcp::endpoint> endpoints;
        for (const auto& numeric : *found) {
            error_code error;
            const auto ip = asio::ip::make_address(numeric, error);
            if (!error) endpoints.emplace_back(ip, address.server.port);
        }
        if (endpoints.empty()) throw Lost{"the name has no addresses"};
        return endpoints;
    }

    void accept(const StreamInfo& offered) {
        if (receiver) {
            if (offered.shape != info.shape)
                fail(ErrorCode::source_lost, "the stream changed from {} to {}", to_string(info.shape),
                     to_string(offered.shape));
            receiver->restart();
        } else {
            if (std::int64_t{offered.shape.width} * offered.shape.height > options.max_pixels)
                fail(ErrorCode::source_lost, "its pictures are {}, and more than {} pixels are not allowed",
                     to_string(offered.shape), options.max_pixels);
            receiver.emplace(offered);
        }
        info = offered;
    }

    Receiver::Outcome take_message() {
        std::array<std::uint8_t, header_bytes> front;
        connection->read(front, options.silence_deadline);
        const auto header = read_header(front, receiver->max_packed_bytes());
        payload.resize(header.length_bytes);
        if (header.length_bytes > 0) connection->read(payload, options.silence_deadline);
        bytes += static_cast<std::int64_t>(header_bytes + payload.size());
        return receiver->take(header.type, payload);
    }

    // False when told to stop. Throws Error{source_lost} when the time is over.
    bool connect_again(std::string why) {
        if (!loss) loss = {Clock::now() + options.reconnect, options.first_pause};
        if (options.reconnect.count() > 0) losses.line("{} was lost: {}; trying again", to_string(address), why);
        while (Clock::now() < loss->give_up) {
            if (!sleep(std::min<Clock::duration>(loss->pause, loss->give_up - Clock::now()))) return false;
            loss->pause = std::min(loss->pause * 2, options.longest_pause);
            try {
                connect();
                ++reconnections;
                return true;
            } catch (const Lost& lost) {
                if (stop.stop_requested()) return false;
                why = lost.why;
            }
        }
        fail(ErrorCode::source_lost, "{} was lost: {}", to_string(address), why);
    }

    bool sleep(Clock::duration time) {
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        stopped.wait_for(lock, stop, time, [] { return false; });
        return !stop.stop_requested();
    }

    StreamAddress address;
    ClientOptions options;
    std::stop_token stop;
    NameLookup lookup;
    StreamInfo info;
    std::optional<Receiver> receiver;
    std::optional<Connection> connection;
    Bytes payload;
    std::int64_t bytes = 0;
    int reconnections = 0;
    // From a loss to the next state received; a hello alone is no stream.
    struct Loss {
        Clock::time_point give_up;
        milliseconds pause;
    };
    std::optional<Loss> loss;
    LimitedLog losses{spdlog::level::warn, "losses of the stream"};
    bool ended = false;
};

Client::Client(const StreamAddress& address, const ClientOptions& options, std::stop_token stop) {
    for (const auto deadline :
         {options.connect_deadline, options.silence_deadline, options.first_pause, options.longest_pause})
        if (deadline <= milliseconds(0) || deadline > std::chrono::hours(1))
            fail(ErrorCode::usage, "a viewer's deadline of {} ms asked for; 1 ms to 1 h is allowed", deadline.count());
    if (options.reconnect < milliseconds(0) || options.reconnect > std::chrono::hours(24))
        fail(ErrorCode::usage, "{} ms of trying again asked for; 0 to 24 h are allowed", options.reconnect.count());
    state_ = std::make_unique<State>(address, options, std::move(stop));
}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

const StreamInfo& Client::info() const { return state_->info; }

bool Client::next() {
    auto& state = *state_;
    while (!state.ended && !state.stop.stop_requested()) {
        try {
            const auto outcome = state.take_message();
            if (outcome == Receiver::Outcome::picture) {
                state.loss.reset();
                return true;
            }
            if (outcome == Receiver::Outcome::ended) {
                state.ended = true;
                state.connection.reset();  // the server waits for it
            }
        } catch (const Lost& lost) {
            if (state.stop.stop_requested() || !state.connect_again(lost.why)) return false;
        }
    }
    return false;
}

HostView<const std::uint8_t> Client::picture() const { return state_->receiver->picture(); }
const StateHeader& Client::state() const { return state_->receiver->state(); }
std::span<const Component> Client::objects() const { return state_->receiver->objects(); }
ClientCounts Client::counts() const { return {state_->receiver->counts(), state_->bytes, state_->reconnections}; }
void Client::last_changes(const delta::ChangesView<MemorySpace::host>& changes) const {
    state_->receiver->last_changes(changes);
}

}  // namespace framewire::net
