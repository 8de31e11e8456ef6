#include "framewire/core/buffer.hpp"
#include "framewire/filters/text/glyphs/font.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/pipeline/chain/filter_registry.hpp"
#include "framewire/session/live/live_testing.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

namespace framewire::session {
namespace live_test {

using namespace std::chrono_literals;
using Live = LiveTest;

FRAMEWIRE_ON_EVERY_BACKEND(Live);

bool is_gray(HostView<const std::uint8_t> picture) {
    const auto* bytes = picture.data();
    for (std::int64_t at = 0; at < picture.shape().bytes(); at += 3)
        if (bytes[at] != bytes[at + 1] || bytes[at] != bytes[at + 2]) return false;
    return true;
}

TEST_P(Live, ChangesTheChainWithoutDisconnectingViewers) {
    const Serving serving(options());
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    for (int frame = 0; frame < 5; ++frame) ASSERT_TRUE(viewer.next());
    EXPECT_FALSE(is_gray(viewer.picture()));
    camera.set_chain("gray=channels=3, gaussian=3");
    while (!is_gray(viewer.picture())) ASSERT_TRUE(viewer.next());
    EXPECT_EQ(viewer.counts().reconnections, 0);
    const auto state = camera.state();
    EXPECT_EQ(state.chain, "gray=channels=3, gaussian=3");
    ASSERT_EQ(state.controls.filters.size(), 2u);
    EXPECT_TRUE(state.up);
    EXPECT_TRUE(state.may_be_set);
    EXPECT_EQ(state.source_shape, (Shape{1, 96, 128, 3}));
    EXPECT_EQ(state.rate, fps);

    // A filter that was off stays off if the new chain has it too.
    camera.control(FilterOrder{1, false});
    camera.set_chain("median=3,gray=channels=3");
    while (is_gray(viewer.picture())) ASSERT_TRUE(viewer.next());
    EXPECT_TRUE(camera.state().controls.filters[0].on);
    EXPECT_FALSE(camera.state().controls.filters[1].on);
    EXPECT_NE(camera.state().command.find("-f median=3 "), std::string::npos) << camera.state().command;

    EXPECT_NE(refusal([&] { camera.set_chain("grey"); }).find("did you mean 'gray'?"), std::string::npos);
    EXPECT_NE(refusal([&] { camera.set_chain("crop=900:900"); }).find("crop"), std::string::npos);
    for (const auto* font : {"/etc/passwd", "./a", "secret.ttf", "Secret.OTF"}) {
        const auto chain = fmt::format("gray,text=a:font={}", font);
        EXPECT_NE(refusal([&] { camera.set_chain(chain); }).find("a family"), std::string::npos) << chain;
    }
    EXPECT_EQ(camera.state().chain, "median=3,gray=channels=3") << "nothing changed";
}

TEST_P(Live, RejectsATooExpensiveChainWithNumbers) {
    auto limited = options();
    limited.cameras[0].input.max_pixels = 1'000'000;
    const Serving serving(limited);
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    for (const auto* chain : {"scale=16384:16384", "scale=16384:62,scale=128:96", "pad=4000:4000",
                              "gray=channels=1,scale=1001:1000,scale=128:96"}) {
        const auto words = refusal([&] { camera.set_chain(chain); });
        EXPECT_NE(words.find("--max-pixels allows 1000000"), std::string::npos) << chain << ": " << words;
    }
    EXPECT_EQ(camera.state().chain, "") << "nothing changed";
    EXPECT_TRUE(camera.state().up);
    camera.set_chain("scale=1000:1000,scale=128:96");
    EXPECT_EQ(camera.state().chain, "scale=1000:1000,scale=128:96");
}

TEST_P(Live, RejectsAChainThatNeedsTooMuchMemoryOrTime) {
    auto limited = options();
    limited.cameras[0].input.max_memory_bytes = 200'000'000;
    {
        const Serving serving(limited);
        serving.wait_for_frames(1);
        const auto words = refusal([&] { serving.camera().set_chain("scale=2000:1000"); });
        EXPECT_NE(words.find("MB of memory; --max-memory allows 200 MB"), std::string::npos) << words;
        EXPECT_EQ(serving.camera().state().chain, "");
    }
    limited.cameras[0].input.max_memory_bytes = 1'000'000'000'000;
    std::string many = "scale=4000:3000";
    for (int filter = 0; filter < 60; ++filter) many += ",median=255";
    const Serving serving(limited);
    serving.wait_for_frames(1);
    EXPECT_NE(refusal([&] { serving.camera().set_chain(many); }).find("s for a frame"), std::string::npos);
}

TEST_P(Live, DoesNotServeATooExpensiveCamera) {
    auto limited = options();
    limited.cameras[0].input.filters = "scale=2000:1000";
    limited.cameras[0].input.max_memory_bytes = 200'000'000;
    EXPECT_NE(refusal([&] { CamerasJob job(limited); }).find("MB of memory"), std::string::npos);
    limited.cameras[0].input.max_memory_bytes.reset();
    limited.cameras[0].input.filters = "scale=8193:8192";
    EXPECT_NE(refusal([&] { CamerasJob job(limited); }).find("--max-pixels allows 67108864"), std::string::npos);
    limited.cameras[0].input.filters.clear();
    limited.cameras[0].input.max_pixels = 128 * 96 - 1;
    EXPECT_THROW(CamerasJob{limited}, Error) << "the source itself";
}

// Requested chains are checked for parameters that name files. There is exactly one such parameter.
TEST(OrderedChains, OnlyFontsNameFiles) {
    for (const auto& filter : filter_registry())
        for (const auto& parameter : filter.parameters)
            if (parameter.type == ParameterInfo::Type::text && parameter.help.find("file") != parameter.help.npos) {
                EXPECT_EQ(parameter.name, "font") << filter.name;
            }
    EXPECT_TRUE(names_font_file("fonts/a"));
    EXPECT_TRUE(names_font_file("A.Ttf"));
    EXPECT_FALSE(names_font_file("DejaVu Sans:bold"));
    EXPECT_FALSE(names_font_file(""));
}

TEST_P(Live, ReconnectsViewersAfterAChangeOfTheSize) {
    const Serving serving(options());
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    ASSERT_TRUE(viewer.next());
    camera.control(Adjustment{.brightness = 30});
    const auto version = camera.picture_version();
    camera.set_chain("scale=64:48,fps=25");
    while (viewer.info().shape != Shape{1, 48, 64, 3}) ASSERT_TRUE(viewer.next());
    Serving::until([&] { return camera.state().shape == Shape{1, 48, 64, 3} && camera.picture_version() > version; });
    const auto picture = camera.picture();
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->image.shape(), (Shape{1, 48, 64, 3}));
    EXPECT_GT(picture->version, version);
    EXPECT_EQ(camera.state().rate, 25);
    EXPECT_EQ(camera.state().controls.adjustment.brightness, 30);
    EXPECT_GE(camera.viewers().viewers_total, 2) << "those of the stream before are counted";
    camera.set_chain("");
    Serving::until([&] { return camera.state().shape == Shape{1, 96, 128, 3}; });
}

// Whatever is requested, no byte is off by more than the threshold signalled with its picture.
TEST_P(Live, AppliesThresholdsFromTheNextFrame) {
    const auto camera_source = open_source(source());
    HostImage captured(camera_source->info().shape);
    FrameTime captured_time{.index = -1};
    const Serving serving(options(delta::Mode::exact, 20));
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    const auto see_until = [&](int threshold) {
        do {
            ASSERT_TRUE(viewer.next());
            const auto frame = static_cast<std::int64_t>(viewer.state().frame);
            while (captured_time.index < frame) ASSERT_TRUE(camera_source->read(captured.view(), captured_time));
            const auto seen = bytes_of(viewer.picture());
            int far = 0;
            for (std::size_t at = 0; at < seen.size(); ++at)
                far = std::max(far, std::abs(seen[at] - captured.view().data()[at]));
            ASSERT_LE(far, viewer.threshold());
        } while (viewer.threshold() != threshold);
    };
    see_until(20);
    camera.set_threshold(5, {});
    see_until(5);
    EXPECT_EQ(viewer.info().threshold, 20) << "what it was told holds on";
    EXPECT_EQ(viewer.counts().reconnections, 0);
    camera.set_threshold(12, {});
    see_until(12);
    EXPECT_EQ(viewer.counts().reconnections, 0);
    camera.set_threshold(40, {});
    see_until(40);
    EXPECT_EQ(viewer.info().threshold, 40) << "a stream of its own says so";
    camera.set_threshold({}, delta::Mode::bounded);
    while (viewer.info().mode != delta::Mode::bounded) ASSERT_TRUE(viewer.next());
    see_until(40);
    EXPECT_NE(refusal([&] { camera.set_threshold(255, {}); }).find("254"), std::string::npos);
    EXPECT_NE(refusal([&] { camera.set_threshold(3, delta::Mode::lossless); }).find("lossless"), std::string::npos);
    EXPECT_EQ(camera.state().threshold, 40);
    EXPECT_EQ(camera.state().mode, delta::Mode::bounded);
}

TEST_P(Live, HidesZonesInEveryOutput) {
    auto hidden = options();
    // shows the original too
    hidden.cameras[0].input.filters = "compare";
    const Serving serving(hidden);
    auto& camera = serving.camera();
    serving.wait_for_frames(2);
    const std::vector<LiveZone> zones{{LiveZone::Kind::privacy, {10, 20, 30, 16}},
                                      {LiveZone::Kind::mosaic, {64, 0, 16, 16}},
                                      {LiveZone::Kind::detect, {0, 0, 5, 5}}};
    camera.set_zones(zones);
    EXPECT_EQ(camera.state().zones, zones);
    serving.wait_for_frames(20);
    const auto across = camera.state().shape.width;
    const auto picture = camera.picture();
    ASSERT_TRUE(picture);
    const auto view = std::as_const(picture->image).view();
    for (int x = 0; x < across; x += 128) {
        for (int y = 20; y < 36; ++y)
            EXPECT_TRUE(std::all_of(view.row(0, y) + 3 * (x + 10), view.row(0, y) + 3 * (x + 40),
                                    [](auto byte) { return byte == 0; }))
                << x << " " << y;
        for (int byte = 0; byte < 3 * 16; ++byte)
            EXPECT_EQ(view.row(0, 7)[3 * (x + 64) + byte], view.row(0, 0)[3 * (x + 64) + byte % 3]);
    }
    EXPECT_EQ(serving.camera().state().source_shape.width, 128);

    const auto refused = [&](const LiveZone& zone) { return refusal([&] { camera.set_zones({zone}); }); };
    EXPECT_NE(refused({LiveZone::Kind::privacy, {120, 0, 9, 9}}).find("128x96"), std::string::npos);
    refused({LiveZone::Kind::mosaic, {0, 0, 0, 9}});
    refused({LiveZone::Kind::detect, {-1, 0, 4, 9}});
    refusal([&] { camera.set_zones(std::vector<LiveZone>(65, zones[0])); });
    EXPECT_EQ(camera.state().zones, zones) << "nothing changed";
}

TEST_P(Live, CountsObjectsThatTouchAZone) {
    auto detecting = options();
    detecting.cameras[0].detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
    const Serving serving(detecting);
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    const Zone left{0, 0, 64, 96};
    const auto is_left = [&](const Component& object) { return object.x < left.width; };
    while (std::ranges::all_of(viewer.objects(), is_left)) ASSERT_TRUE(viewer.next());
    EXPECT_TRUE(camera.state().detects);
    camera.set_zones({{LiveZone::Kind::detect, left}});
    // frames in flight
    for (int frame = 0; frame < 10; ++frame) ASSERT_TRUE(viewer.next());
    int seen = 0;
    for (int frame = 0; frame < 100; ++frame) {
        ASSERT_TRUE(viewer.next());
        EXPECT_TRUE(std::ranges::all_of(viewer.objects(), is_left));
        seen += static_cast<int>(viewer.objects().size());
    }
    EXPECT_GT(seen, 0);
}

// Each frame of the file is within the threshold of consecutive camera frames, while static regions are refined for
// viewers before and after.
TEST_P(Live, RecordsCompleteFramesWhileServing) {
    const auto captured = read_video(source() + ":frames=900").frames;
    for (const auto mode : {delta::Mode::lossless, delta::Mode::exact, delta::Mode::bounded}) {
        SCOPED_TRACE(to_string(mode));
        auto recorded = options(mode, 9);
        if (mode != delta::Mode::lossless) recorded.cameras[0].refresh_seconds = 0.1;
        const Serving serving(recorded);
        auto& camera = serving.camera();
        std::optional<net::Client> viewer(serving.address());
        for (int frame = 0; frame < 20; ++frame) ASSERT_TRUE(viewer->next());
        const auto name = camera.start_recording();
        EXPECT_TRUE(name.starts_with("door-2")) << name;
        EXPECT_TRUE(name.ends_with(".fwd")) << name;
        EXPECT_NE(refusal([&] { camera.start_recording(); }).find("already"), std::string::npos);
        for (int frame = 0; frame < 40; ++frame) ASSERT_TRUE(viewer->next());
        const auto recording = camera.state().recording;
        ASSERT_TRUE(recording);
        EXPECT_EQ(recording->file, name);
        EXPECT_GT(recording->seconds, 0.2);
        camera.stop_recording();
        EXPECT_FALSE(camera.state().recording);
        for (int frame = 0; frame < 20; ++frame) ASSERT_TRUE(viewer->next()) << "the stream goes on";
        refusal([&] { camera.stop_recording(); });

        const auto file = read_video(folder_ / name).frames;
        ASSERT_GT(file.size(), 10u);
        const int within = mode == delta::Mode::lossless ? 0 : 9;
        const auto is_near = [&](const Bytes& a, const Bytes& b) {
            return std::ranges::equal(a, b, [&](int x, int y) { return std::abs(x - y) <= within; });
        };
        const auto begins_at = [&](std::size_t first) {
            for (std::size_t at = 0; at < file.size(); ++at)
                if (first + at >= captured.size() || !is_near(file[at], captured[first + at])) return false;
            return true;
        };
        bool found = false;
        for (std::size_t first = 0; first < captured.size() && !found; ++first) found = begins_at(first);
        EXPECT_TRUE(found);
    }
}

TEST_P(Live, SavesSnapshotsOfWhatViewersSee) {
    const Serving serving(options());
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const std::set<std::string> names{camera.save_snapshot(), camera.save_snapshot()};
    EXPECT_EQ(names.size(), 2u) << "none is written over";
    const auto captured = read_video(source() + ":frames=200").frames;
    for (const auto& name : names) {
        const auto picture = read_video(folder_ / name).frames;
        ASSERT_EQ(picture.size(), 1u);
        EXPECT_NE(std::ranges::find(captured, picture[0]), captured.end());
    }
}

TEST_P(Live, ExplainsWhyARequestIsRefused) {
    auto fixed = options();
    fixed.cameras[0].input.panel = false;
    fixed.live.record_folder.clear();
    const Serving serving(fixed);
    auto& camera = serving.camera();
    EXPECT_FALSE(camera.state().may_be_set);
    for (const std::function<void()>& order : std::vector<std::function<void()>>{
             [&] { camera.set_chain("gray"); }, [&] { camera.set_threshold(3, {}); }, [&] { camera.set_zones({}); },
             [&] { camera.control(Adjustment{}); }, [&] { camera.start_recording(); }, [&] { camera.save_snapshot(); }})
        EXPECT_NE(refusal(order, ErrorCode::config).find("--panel"), std::string::npos);
    fixed.cameras[0].input.panel = true;
    const Serving without_folder(fixed);
    without_folder.wait_for_frames(1);
    EXPECT_NE(refusal([&] { without_folder.camera().start_recording(); }, ErrorCode::config).find("--record-dir"),
              std::string::npos);
}

TEST_P(Live, ReportsFileErrorsWithoutTheFolder) {
    auto lost = options();
    lost.live.record_folder = folder_ / "my films";
    std::filesystem::create_directory(lost.live.record_folder);
    const Serving serving(lost);
    serving.wait_for_frames(1);
    std::filesystem::remove(lost.live.record_folder);
    for (const std::function<void()>& order : std::vector<std::function<void()>>{
             [&] { serving.camera().start_recording(); }, [&] { serving.camera().save_snapshot(); }}) {
        const auto words = refusal(order, ErrorCode::io);
        EXPECT_EQ(words.find("films"), std::string::npos) << words;
        EXPECT_NE(words.find(" door-2"), std::string::npos) << words;
    }
}

TEST_P(Live, RejectsRequestsToRelays) {
    const Serving server(options());
    auto relay = options();
    relay.cameras[0].input.source = to_string(server.address());
    const Serving serving(relay);
    auto& camera = serving.camera();
    serving.wait_for_frames(2);
    const auto state = camera.state();
    EXPECT_TRUE(state.up);
    EXPECT_FALSE(state.may_be_set);
    EXPECT_EQ(state.shape, (Shape{1, 96, 128, 3}));
    EXPECT_EQ(state.mode, delta::Mode::lossless);
    ASSERT_TRUE(camera.picture());
    EXPECT_NE(refusal([&] { camera.set_chain("gray"); }, ErrorCode::config).find("forwarded"), std::string::npos);
}

}  // namespace live_test
}  // namespace framewire::session
