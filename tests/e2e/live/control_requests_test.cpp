#include "e2e/program.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/control.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

net::StreamAddress address_of(Program& serving) {
    EXPECT_TRUE(serving.wait_for_err("/main\n")) << serving.err();
    const auto words = serving.err();
    const auto end = words.find("/main\n") + 5, begin = words.rfind("tcp://", end);
    return net::parse_stream_address(words.substr(begin, end - begin));
}

double mean_of(const HostView<const std::uint8_t>& picture) {
    double sum = 0;
    for (std::int64_t at = 0; at < picture.shape().bytes(); ++at) sum += picture.data()[at];
    return sum / static_cast<double>(picture.shape().bytes());
}

// Takes pictures until `wanted` holds; returns false after ten seconds.
template <class Wanted>
bool comes(net::Client& client, Wanted wanted) {
    const auto end = Clock::now() + 10s;
    while (Clock::now() < end && client.next())
        if (wanted()) return true;
    return false;
}

// One viewer sends a control request; all viewers see its effect and receive the new state.
TEST(ControlRequestBodies, ApplyToAllViewers) {
    Program serving(framewire({"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--controls", "-f", "gray", "-i",
                               "synth:size=64x48:fps=30:noise=0:objects=0"}));
    const auto address = address_of(serving);
    net::Client one(address), other(address);
    ASSERT_TRUE(one.next() && other.next());
    const auto remote = one.remote_control(), watching = other.remote_control();
    ASSERT_TRUE(remote && watching);
    ASSERT_TRUE(comes(one, [&] { return !remote->state().empty(); }))
        << "the server must send its state without a request";
    EXPECT_EQ(Json::parse(remote->state())["filters"].size(), 1u);

    const auto before = mean_of(one.picture());
    remote->request("adjust brightness=60");
    EXPECT_TRUE(comes(one, [&] { return mean_of(one.picture()) > before + 40; })) << before;
    EXPECT_TRUE(comes(other, [&] { return mean_of(other.picture()) > before + 40; }));
    // The server sends the new state once it is in force, that is, after the picture.
    const auto brightness = [](const std::string& state) { return Json::parse(state)["adjust"]["brightness"]; };
    EXPECT_TRUE(comes(one, [&] { return brightness(remote->state()) == 60; })) << remote->state();
    EXPECT_TRUE(comes(other, [&] { return watching->state() == remote->state(); })) << watching->state();
    EXPECT_EQ(Json::parse(watching->state())["adjust"]["brightness"], 60);
    ASSERT_TRUE(one.age());
    EXPECT_GE(*one.age(), 0us);
    EXPECT_LT(*one.age(), 10s);

    remote->request("adjust brightness=1e9");
    EXPECT_TRUE(comes(one, [&] { return !remote->refusal().empty(); }));
    EXPECT_NE(remote->refusal().find("brightness"), std::string::npos) << remote->refusal();
    remote->request("rm -rf /");
    EXPECT_TRUE(comes(one, [&] { return remote->refusal().find("adjust") != std::string::npos; })) << remote->refusal();
    EXPECT_TRUE(comes(other, [] { return true; })) << "other viewers must not lose frames";
}

TEST(ControlRequestBodies, RequireAServerThatAcceptsThem) {
    Program serving(framewire(
        {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "-i", "synth:size=64x48:fps=30:noise=0:objects=0"}));
    net::Client client(address_of(serving));
    ASSERT_TRUE(client.next());
    EXPECT_FALSE(client.remote_control());
}

}  // namespace
}  // namespace framewire::e2e
