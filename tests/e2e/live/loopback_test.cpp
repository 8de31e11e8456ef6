// Tests the library in one process: source -> chain -> encoder -> server -> viewers over loopback.

#include "framewire/codec/blocks.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/stream_encoder.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace framewire::e2e {
namespace {

using namespace std::chrono_literals;

HostImage copy_of(HostView<const std::uint8_t> image) {
    HostImage held(image.shape());
    copy(image, held.view());
    return held;
}

int largest_difference(HostView<const std::uint8_t> a, HostView<const std::uint8_t> b) {
    int largest = 0;
    for (std::int64_t i = 0; i < a.shape().bytes(); ++i)
        largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
    return largest;
}

// Pictures that a viewer displayed, in order.
struct Seen {
    struct Picture {
        std::uint64_t version;
        HostImage image;
    };
    std::vector<Picture> pictures;
    net::ClientCounts counts;
};

Seen watch(const net::StreamAddress& address) {
    net::Client client(address);
    Seen seen;
    while (client.next()) seen.pictures.push_back({client.state().version, copy_of(client.picture())});
    seen.counts = client.counts();
    return seen;
}

class Loopback : public kit::BackendTest {
protected:
    void three_viewers_one_late(const codec::EncoderParameters& parameters, const std::string& filters);
};

FRAMEWIRE_ON_EVERY_BACKEND(Loopback);

void Loopback::three_viewers_one_late(const codec::EncoderParameters& parameters, const std::string& filters) {
    constexpr std::size_t frames = 60, late_after = 25;
    constexpr auto frame_period = 2ms;
    const auto source = open_source("synth:size=161x119:fps=30:noise=6:objects=3:seed=2:frames=60");
    const auto& shape = source->info().shape;
    auto& executor = kit::executor(GetParam());
    const auto chain = parse_chain(filters);
    ChainPlan plan(chain, shape, executor);
    StreamEncoder encoder(parameters, plan.output_shape(), executor);
    net::StreamState state({encoder.shape(), parameters.mode, parameters.effective_threshold(), {30, 1}, "synth"},
                           encoder.reference());
    net::ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    net::Server server(state, options);

    std::vector<std::future<Seen>> viewers;
    const auto add_viewer = [&] {
        viewers.push_back(std::async(std::launch::async, watch, server.address()));
        ASSERT_TRUE(server.wait_for_viewers(static_cast<int>(viewers.size()), {}));
    };
    add_viewer();
    add_viewer();

    std::vector<HostImage> expected, references;  // both by version - 1
    Frame captured(shape, executor), filtered(encoder.shape(), executor);
    FrameTime time;
    while (source->read(captured.host(), time)) {
        captured.upload();
        plan.run(captured, filtered);
        filtered.download();
        net::StreamState::Update update(state);
        const auto encoded = encoder.encode(filtered, codec::PackAs::delta_frame);
        filtered.wait();
        if (encoded.whole)
            update.start(time, {}, encoded.packed);
        else
            update.advance(encoded.packed, time);
        expected.emplace_back(encoder.shape());
        copy(filtered.host(), expected.back().view());
        references.emplace_back(encoder.shape());
        state.copy_reference(references.back().view());
        server.publish();
        if (references.size() == late_after) add_viewer();
        std::this_thread::sleep_for(frame_period);
    }
    ASSERT_EQ(references.size(), frames);
    EXPECT_EQ(server.finish(20s), 0);

    for (std::size_t viewer = 0; viewer < viewers.size(); ++viewer) {
        SCOPED_TRACE(fmt::format("viewer {}", viewer));
        const auto seen = viewers[viewer].get();
        ASSERT_FALSE(seen.pictures.empty());
        EXPECT_GE(seen.pictures.front().version, viewer == 2 ? late_after : 1);
        EXPECT_EQ(seen.pictures.back().version, frames) << "every viewer must receive the last state";
        // A client does not show a state that is sent in parts until all of its blocks have arrived.
        const auto& received = seen.counts.received;
        const auto shown = static_cast<std::int64_t>(seen.pictures.size());
        EXPECT_LE(received.keyframes + received.changes, shown);
        EXPECT_GE(received.keyframes + received.changes + received.parts, shown);
        for (const auto& [version, image] : seen.pictures) {
            SCOPED_TRACE(fmt::format("version {}", version));
            const auto difference = kit::first_difference(image.view(), references.at(version - 1).view());
            ASSERT_FALSE(difference) << *difference;
            ASSERT_LE(largest_difference(image.view(), expected.at(version - 1).view()),
                      parameters.effective_threshold());
        }
    }
}

TEST_P(Loopback, ExactViewersMatchTheReferenceWithinTheThreshold) {
    three_viewers_one_late({codec::Mode::exact, 20}, "");
}
TEST_P(Loopback, BoundedViewersMatchTheReferenceWithinTheThreshold) {
    three_viewers_one_late({codec::Mode::bounded, 20}, "");
}
TEST_P(Loopback, LosslessViewersMatchTheSource) { three_viewers_one_late({codec::Mode::lossless, 20}, ""); }
TEST_P(Loopback, ViewersMatchTheFilteredSource) { three_viewers_one_late({codec::Mode::exact, 5}, "gray=channels=1"); }

}  // namespace
}  // namespace framewire::e2e
