#include "framewire/jobs/relay.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/net/client.hpp"

#include <future>
#include <stop_token>

namespace framewire::jobs {
namespace {

class Relay : public JobTest {
protected:
    BroadcastOptions serving(const std::string& source) const {
        BroadcastOptions options{.job = job(), .input = {.source = source}, .encoder = {.threshold = 10}};
        options.server.listen = {"127.0.0.1", 0};
        options.wait_for_viewers = 1;
        options.hurries = true;
        return options;
    }
    static BroadcastOptions forwarding(const net::StreamAddress& from) {
        BroadcastOptions options{.input = {.source = to_string(from)}};
        options.server.listen = {"127.0.0.1", 0};
        return options;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Relay);

// Returns the pictures of a stream, indexed by frame number.
std::vector<Bytes> seen(const net::StreamAddress& address) {
    net::Client client(address);
    std::vector<Bytes> pictures;
    while (client.next()) {
        const auto& picture = client.picture();
        pictures.resize(static_cast<std::size_t>(client.state().frame) + 1);
        pictures.back() = Bytes(picture.data(), picture.data() + picture.shape().bytes());
    }
    return pictures;
}

TEST_P(Relay, ForwardsPicturesUnchanged) {
    auto options = serving(camera());
    options.wait_for_viewers = 2;
    BroadcastJob server(options);
    RelayJob first(forwarding(server.address()));
    RelayJob second(forwarding(first.address()));
    auto serving = std::async(std::launch::async, [&] { server.run(); });
    auto through_one = std::async(std::launch::async, [&] { first.run(); });
    auto through_two = std::async(std::launch::async, [&] { second.run(); });
    auto far = std::async(std::launch::async, [&] { return seen(second.address()); });
    const auto near = seen(server.address());
    const auto pictures = far.get();
    serving.get(), through_one.get(), through_two.get();
    ASSERT_EQ(near.size(), std::size_t{frames});
    ASSERT_EQ(pictures.size(), std::size_t{frames}) << "the last state reaches everyone";
    EXPECT_EQ(pictures.back(), near.back());
    for (std::size_t frame = 0; frame < frames; ++frame) {
        if (near[frame].empty() || pictures[frame].empty()) continue;
        EXPECT_EQ(pictures[frame], near[frame]) << "R of frame " << frame << " is the server's own";
    }
    EXPECT_EQ(second.result().ending, Ending::complete);
    EXPECT_GT(second.result().figures.frames, 0);
}

TEST_P(Relay, RejectsOptionsOfTheOriginServer) {
    auto options = forwarding({{"127.0.0.1", 1}, "main"});
    options.input.filters = "gray";
    std::string message;
    EXPECT_EQ(error_of([&] { RelayJob job(options); }, &message), ErrorCode::usage);
    EXPECT_NE(message.find("set a filter at its origin server"), std::string::npos) << message;
    options.input.filters.clear();
    options.record = "all.fwd";
    EXPECT_EQ(error_of([&] { RelayJob job(options); }, &message), ErrorCode::usage);
    options.record.clear();
    EXPECT_EQ(error_of([&] { RelayJob job(options); }, &message), ErrorCode::no_input) << "nobody is there";
}

TEST(RelayedStream, RecognisesFramewireAddresses) {
    EXPECT_EQ(relayed_stream("tcp://host:7/door")->stream, "door");
    EXPECT_EQ(relayed_stream("tls://host:7")->stream, "main");
    EXPECT_FALSE(relayed_stream("tcp://host:7?tcp_nodelay=1"));
    EXPECT_FALSE(relayed_stream("rtsp://host/door"));
    EXPECT_FALSE(relayed_stream("door.mp4"));
    EXPECT_THROW(relayed_stream("tcp://host:port"), Error);
}

}  // namespace
}  // namespace framewire::jobs
