#include "framewire/net/client.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_lookup.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_tcp.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::eventually;
using testing::expect_equal;
using testing::greeting_of;
using testing::hello_for;
using testing::hello_of;
using testing::picture_of;
using testing::RawListener;
using testing::TestStream;

StreamAddress at(std::uint16_t port) { return {{"127.0.0.1", port}, "main"}; }

ClientOptions impatient() {
    ClientOptions options;
    options.connect_deadline = 1500ms;
    options.silence_deadline = 300ms;
    return options;
}

std::string error_of(ErrorCode code, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    return {};
}

void wait_for(const std::stop_token& stop) {
    std::promise<void> stopped;
    const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
}

// A fake server that sends the given bytes: to the first client, keeping that connection open, or to every client,
// closing each connection afterwards.
class Impostor {
public:
    enum class Manner { keeps_one, drops_everyone };

    explicit Impostor(Bytes bytes, Manner manner = Manner::keeps_one)
        : serving_([this, bytes = std::move(bytes), manner](std::stop_token stop) {
              if (manner == Manner::keeps_one) {
                  auto connection = listener_.accept();
                  if (!connection) return;
                  connection->send(bytes);
                  wait_for(stop);
              }
              while (!stop.stop_requested()) {
                  auto connection = listener_.accept(5ms);
                  if (!connection) continue;
                  connection->read_exactly(hello_for("main").size());
                  connection->send(bytes);
              }
          }) {}
    StreamAddress address() const { return at(listener_.port()); }

private:
    RawListener listener_;
    std::jthread serving_;
};

Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

const StreamInfo small_stream{{1, 8, 8, 3}, codec::Mode::exact, 20, {30, 1}, "an impostor"};

TEST(Client, ReportsThatNoServerIsListening) {
    std::uint16_t free_port = 0;
    { free_port = RawListener().port(); }
    const auto text = error_of(ErrorCode::no_input, [&] { Client client(at(free_port)); });
    EXPECT_NE(text.find(fmt::format("cannot open tcp://127.0.0.1:{}/main: ", free_port)), std::string::npos) << text;
}

TEST(Client, TimesOutIfNoHelloArrives) {
    const Impostor silent{Bytes{}};
    const auto begin = Clock::now();
    error_of(ErrorCode::no_input, [&] { Client client(silent.address(), impatient()); });
    EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(Client, RejectsInvalidHellos) {
    const auto hello = server_hello(hello_of(small_stream));
    auto huge = hello;
    huge[preamble_bytes + 1] = huge[preamble_bytes + 2] = huge[preamble_bytes + 3] = huge[preamble_bytes + 4] = 0xff;
    auto no_width = hello;
    no_width[preamble_bytes + header_bytes + 9] = 0;  // after the epoch and the flag
    auto version = hello;
    version[4] = 1;
    // Each case has its own message. A client that only reached its deadline would report a different one.
    const std::vector<std::pair<Bytes, const char*>> wrong{
        {Bytes(100, 'x'), "uses a different protocol"},
        {huge, "a message of type 1 declares a length of 4294967295 bytes"},
        {no_width, "the server's hello has frames of 0x8"},
        {version, "uses version 1"},
        {joined({Bytes{'F', 'W', 'I', 'R', wire_version, 0}, Bytes{4, 0, 0, 0, 0}}), "first message is not a hello"},
    };
    for (const auto& [bytes, words] : wrong) {
        const Impostor impostor(bytes);
        const auto text = error_of(ErrorCode::no_input, [&] { Client client(impostor.address(), impatient()); });
        EXPECT_NE(text.find(words), std::string::npos) << text;
    }
}

TEST(Client, RejectsFramesAboveTheSizeLimit) {
    const Impostor impostor(
        server_hello(hello_of(StreamInfo{{1, 16384, 16384, 3}, codec::Mode::exact, 20, {30, 1}, ""})));
    const auto text = error_of(ErrorCode::no_input, [&] { Client client(impostor.address(), impatient()); });
    EXPECT_NE(text.find("16384x16384"), std::string::npos) << text;
}

TEST(Client, RemovesControlCharactersFromServerErrors) {
    auto refusal = error_message(Refusal::no_such_stream, "no ABC here", true);
    for (auto& byte : refusal)
        if (byte == 'B') byte = 0x1b;
    const Impostor impostor(refusal);
    const auto text = error_of(ErrorCode::no_input, [&] { Client client(impostor.address(), impatient()); });
    EXPECT_NE(text.find("the server says: no A?C here"), std::string::npos) << text;
}

TEST(Client, RejectsInvalidMessages) {
    const auto hello = server_hello(hello_of(small_stream));
    Bytes delta_frame;
    begin_state(MessageType::changes, {2, 0, 0}, {}, delta_frame);
    end_state(delta_frame);
    Bytes picture;
    begin_state(MessageType::picture, {1, 0, 0}, {}, picture);
    picture.insert(picture.end(), 50, 0xee);
    end_state(picture);
    const std::vector<std::pair<Bytes, const char*>> wrong{
        {Bytes{99, 0, 0, 0, 0}, "unknown message type 99"},
        {Bytes{2, 0xff, 0xff, 0xff, 0xff}, "a message of type 2 declares a length of 4294967295 bytes"},
        {delta_frame, "began with the delta frame of version 2"},
        {picture, "broken stream"},
        {Bytes(hello.begin() + preamble_bytes, hello.end()), "sent a second hello"},
        {error_message(Refusal::failed, "broken", false), "the server says: broken"},
    };
    for (const auto& [after, words] : wrong) {
        const Impostor impostor(joined({hello, after}));
        Client client(impostor.address(), impatient());
        const auto text = error_of(ErrorCode::source_lost, [&] { client.next(); });
        EXPECT_NE(text.find(words), std::string::npos) << text;
    }
}

TEST(Client, DetectsASilentServer) {
    const Impostor impostor(server_hello(hello_of(small_stream)));
    Client client(impostor.address(), impatient());
    const auto text = error_of(ErrorCode::source_lost, [&] { client.next(); });
    EXPECT_NE(text.find("timed out waiting for the server"), std::string::npos) << text;
}

TEST(Client, KeepAlivesKeepAnIdleStreamConnected) {
    TestStream stream;
    stream.step();
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    options.keep_alive = 50ms;
    Server server(stream.state, options);
    auto client_options = impatient();
    client_options.silence_deadline = 1s;
    Client client(server.address(), client_options);
    ASSERT_TRUE(client.next());
    auto next = std::async(std::launch::async, [&] { return client.next(); });
    EXPECT_EQ(next.wait_for(2500ms), std::future_status::timeout) << "an idle stream was treated as lost";
    stream.step();
    server.publish();
    EXPECT_TRUE(next.get());
    expect_equal(client.picture(), stream.reference());
}

TEST(Client, StopsOnRequest) {
    TestStream stream;
    stream.step();
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    Server server(stream.state, options);
    std::stop_source stop;
    Client client(server.address(), {}, stop.get_token());
    ASSERT_TRUE(client.next());
    auto next = std::async(std::launch::async, [&] { return client.next(); });
    EXPECT_EQ(next.wait_for(50ms), std::future_status::timeout);
    stop.request_stop();
    ASSERT_EQ(next.wait_for(5s), std::future_status::ready);
    EXPECT_FALSE(next.get());
    expect_equal(client.picture(), stream.reference());
    error_of(ErrorCode::no_input, [&] { Client another(server.address(), {}, stop.get_token()); });
}

TEST(Client, ReconnectsWhenTheServerReturns) {
    TestStream stream;
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    auto server = std::make_unique<Server>(stream.state, options);
    options.listen = server->address().server;
    ClientOptions client_options;
    client_options.reconnect = milliseconds::max();  // no time limit
    client_options.first_pause = 20ms;
    Client client(server->address(), client_options);
    stream.step();
    server->publish();
    ASSERT_TRUE(client.next());

    server.reset();  // closes the connection without ending the stream
    stream.step();
    auto next = std::async(std::launch::async, [&] { return client.next(); });
    EXPECT_EQ(next.wait_for(200ms), std::future_status::timeout);
    server = std::make_unique<Server>(stream.state, options);
    EXPECT_TRUE(next.get());
    EXPECT_EQ(client.counts().reconnections, 1);
    EXPECT_EQ(client.state().version, 2u);
    expect_equal(client.picture(), stream.reference());
}

TEST(Client, GivesUpAfterTheReconnectTime) {
    TestStream stream;
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    auto server = std::make_unique<Server>(stream.state, options);
    for (const auto allowed : {0ms, 300ms}) {
        if (!server) server = std::make_unique<Server>(stream.state, options);
        ClientOptions client_options;
        client_options.reconnect = allowed;
        Client client(server->address(), client_options);
        server.reset();
        const auto begin = Clock::now();
        const auto text = error_of(ErrorCode::source_lost, [&] { client.next(); });
        EXPECT_NE(text.find("was lost"), std::string::npos) << text;
        EXPECT_GE(Clock::now() - begin, allowed);
        EXPECT_LT(Clock::now() - begin, allowed + 5s);
    }
}

TEST(Client, DoesNotBlockOnAHangingResolver) {
    testing::BlockedLookup blocked;
    auto options = impatient();
    options.connect_deadline = 50ms;
    options.lookup = blocked.lookup();
    const StreamAddress somewhere{{"camera.test", 7878}, "main"};
    const auto text = error_of(ErrorCode::no_input, [&] { Client client(somewhere, options); });
    EXPECT_NE(text.find("camera.test:7878/main: the name cannot be resolved"), std::string::npos) << text;

    options.connect_deadline = 1h;
    std::stop_source stop;
    auto coming = std::async(std::launch::async, [&] {
        return error_of(ErrorCode::no_input, [&] { Client client(somewhere, options, stop.get_token()); });
    });
    EXPECT_TRUE(eventually([&] { return blocked.asked() == 2; }));
    stop.request_stop();
    EXPECT_EQ(coming.wait_for(20s), std::future_status::ready);
    blocked.release();
    EXPECT_NE(coming.get().find("stopped"), std::string::npos);
}

TEST(Client, ResolvesTheServerName) {
    TestStream stream;
    stream.step();
    ServerOptions server_options;
    server_options.listen = {"camera.test", 0};
    ClientOptions options;
    server_options.lookup = options.lookup = [](const std::string& host) {
        EXPECT_EQ(host, "camera.test");
        return std::vector<std::string>{"no address", "127.0.0.1"};
    };
    Server server(stream.state, server_options);
    Client client(server.address(), options);
    EXPECT_TRUE(client.next());
    options.lookup = [](const std::string&) -> std::vector<std::string> {
        fail(ErrorCode::no_input, "nobody is called so");
    };
    const auto text = error_of(ErrorCode::no_input, [&] { Client another(server.address(), options); });
    EXPECT_NE(text.find("/main: nobody is called so"), std::string::npos) << text;
}

TEST(Client, GivesUpOnAServerThatSendsOnlyHellos) {
    const Impostor greeter(server_hello(hello_of(small_stream)), Impostor::Manner::drops_everyone);
    ClientOptions options;
    options.reconnect = 1s;
    options.first_pause = 20ms;
    options.longest_pause = 10s;
    std::stop_source stop;
    Client client(greeter.address(), options, stop.get_token());
    auto next =
        std::async(std::launch::async, [&] { return error_of(ErrorCode::source_lost, [&] { client.next(); }); });
    EXPECT_EQ(next.wait_for(20s), std::future_status::ready) << "the client keeps reconnecting forever";
    stop.request_stop();
    EXPECT_NE(next.get().find("was lost: the server closed the connection"), std::string::npos);
    // Pauses of 20, 40, 80, 160 and 320 ms, then the rest of the second.
    EXPECT_LE(client.counts().reconnections, 6);
    EXPECT_GE(client.counts().reconnections, 1);
}

TEST(Client, ResetsTheReconnectTimeAfterEachState) {
    TestStream stream;
    stream.step();
    const Impostor server(joined({greeting_of(stream.state), *picture_of(stream.state).bytes}),
                          Impostor::Manner::drops_everyone);
    ClientOptions options;
    options.reconnect = 10s;
    options.first_pause = 100ms;
    options.longest_pause = 1h;
    Client client(server.address(), options);
    // If the pauses kept growing, the seventh loss would exceed the time limit.
    for (int i = 0; i < 12; ++i) {
        ASSERT_TRUE(client.next());
        expect_equal(client.picture(), stream.reference());
    }
    EXPECT_EQ(client.counts().reconnections, 11);
}

TEST(Client, RejectsInvalidReconnectTimes) {
    for (const auto time : {-1ms, milliseconds(24h) + 1ms, milliseconds::max() - 1ms}) {
        ClientOptions options;
        options.reconnect = time;
        const auto text = error_of(ErrorCode::usage, [&] { Client client(at(1), options); });
        EXPECT_NE(text.find("0 to 24 h"), std::string::npos) << text;
    }
}

TEST(Client, RejectsASizeChangeByDefault) {
    TestStream stream;
    TestStream other({1, 30, 40, 3});
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    auto server = std::make_unique<Server>(stream.state, options);
    options.listen = server->address().server;
    ClientOptions client_options;
    client_options.reconnect = 20s;
    Client client(server->address(), client_options);
    server.reset();
    server = std::make_unique<Server>(other.state, options);
    const auto text = error_of(ErrorCode::source_lost, [&] { client.next(); });
    EXPECT_NE(text.find("changed from 80x60"), std::string::npos) << text;
}

TEST(Client, FollowsASizeChangeIfAllowed) {
    TestStream stream;
    TestStream other({1, 30, 40, 3});
    stream.step();
    other.step();
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    auto server = std::make_unique<Server>(stream.state, options);
    options.listen = server->address().server;
    ClientOptions client_options;
    client_options.reconnect = 20s;
    client_options.follows_size = true;
    client_options.max_pixels = 80 * 60;
    Client client(server->address(), client_options);
    ASSERT_TRUE(client.next());
    server.reset();
    server = std::make_unique<Server>(other.state, options);
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.info().shape, (Shape{1, 30, 40, 3}));
    expect_equal(client.picture(), other.reference());
    EXPECT_EQ(client.counts().reconnections, 1);
}

}  // namespace
}  // namespace framewire::net
