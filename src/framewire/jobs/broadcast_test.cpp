#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/receive.hpp"
#include "framewire/jobs/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <map>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {
namespace {

constexpr int threshold = 10;
// Generous timeout for servers and viewers: on a busy machine with ThreadSanitizer, threads may be suspended for a long
// time.
constexpr std::chrono::minutes patience{2};

net::Client patient_viewer(const BroadcastJob& broadcast) {
    return net::Client(broadcast.address(), {.connect_deadline = patience, .silence_deadline = patience});
}

class Broadcast : public JobTest {
protected:
    BroadcastOptions options(const std::string& source) const {
        BroadcastOptions options{.job = job(), .input = {.source = source}, .encoder = {.threshold = threshold}};
        options.server.listen = {"127.0.0.1", 0};
        options.server.write_deadline = patience;
        options.wait_for_viewers = 1;
        options.hurries = true;
        return options;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Broadcast);

// Records what a viewer sees, to be evaluated after the stream. A server waits only 10 s for its viewers at the end, so
// a viewer that examined each picture while receiving would be disconnected.
struct Seen {
    std::size_t frame;
    int threshold;
    Bytes picture;
};

std::vector<Seen> watch(net::Client& client) {
    std::vector<Seen> all;
    while (client.next()) {
        const auto picture = client.picture();
        const auto bytes = static_cast<std::size_t>(picture.shape().bytes());
        all.push_back({static_cast<std::size_t>(client.state().frame), client.threshold(),
                       Bytes(picture.data(), picture.data() + bytes)});
    }
    return all;
}

// Returns the largest difference between a byte that a viewer sees and the same byte of the camera's frame.
int furthest(const Seen& seen, const std::vector<Bytes>& camera) {
    const auto& frame = camera.at(seen.frame);
    int result = 0;
    for (std::size_t at = 0; at < frame.size(); ++at) result = std::max(result, std::abs(seen.picture[at] - frame[at]));
    return result;
}

// Noise of this size takes far more time per frame with effort 2 than until the next frame. On the CPU with any
// backend, because a GPU may be fast enough.
TEST_P(Broadcast, LateFramesAreEncodedWithEffort0) {
    auto quick = options("synth:size=640x480:fps=60:noise=50:frames=80");
    BroadcastJob camera(quick);
    auto filmed = std::async(std::launch::async, [&] { camera.run(); });
    auto late = options(to_string(camera.address()));
    late.job.backend = BackendChoice::cpu;
    late.job.threads = 1;
    late.encoder = {.mode = codec::Mode::bounded, .threshold = threshold, .effort = 2};
    late.wait_for_viewers = 0;
    BroadcastJob broadcast(late);
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        return watch(client).size();
    });
    const auto& result = broadcast.run();
    EXPECT_GT(viewer.get(), 0u);
    filmed.get();
    EXPECT_GT(result.figures.drops, 0);
    EXPECT_EQ(result.figures.effort, 0);
    ASSERT_TRUE(result.figures.delta);
    EXPECT_LE(result.figures.delta->max_error, threshold);
}

TEST_P(Broadcast, ViewersStayWithinTheThreshold) {
    BroadcastJob broadcast(options(camera()));
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        return watch(client);
    });
    const auto& result = broadcast.run();
    const auto all = viewer.get();
    const auto camera = camera_frames();
    int far = 0;
    for (const auto& seen : all) far = std::max(far, furthest(seen, camera));
    EXPECT_LE(far, threshold);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back().frame, frames - 1) << "the last state reaches everyone";
    EXPECT_EQ(result.figures.frames, frames);
    ASSERT_TRUE(result.figures.delta);
    EXPECT_EQ(result.figures.delta->max_error, far);
    EXPECT_EQ(result.viewers.viewers_total, 1);
    EXPECT_EQ(result.viewers_left, 0);
}

TEST_P(Broadcast, AwaitedViewersStartWithTheFirstFrame) {
    for (const auto mode : {codec::Mode::exact, codec::Mode::bounded})
        for (const int viewers : {1, 3}) {
            auto asked = options(camera());
            asked.encoder.mode = mode;
            asked.wait_for_viewers = viewers;
            BroadcastJob broadcast(asked);
            std::vector<std::future<std::vector<Seen>>> watching;
            for (int viewer = 0; viewer < viewers; ++viewer)
                watching.push_back(std::async(std::launch::async, [&] {
                    auto client = patient_viewer(broadcast);
                    return watch(client);
                }));
            broadcast.run();
            for (auto& one : watching) {
                const auto all = one.get();
                ASSERT_FALSE(all.empty());
                EXPECT_EQ(all.front().frame, 0u) << to_string(mode) << ", viewers: " << viewers;
            }
        }
}

// Every byte is within the threshold that was signalled with its picture, while rate control moves the threshold up and
// down.
TEST_P(Broadcast, SignalsTheThresholdsOfRateControl) {
    const std::string noisy = "synth:size=128x96:fps=20:noise=30:objects=5:seed=4:frames=60";
    const auto camera = read_video(noisy).frames;
    for (const auto mode : {codec::Mode::exact, codec::Mode::bounded}) {
        SCOPED_TRACE(to_string(mode));
        auto limited = options(noisy);
        limited.encoder.mode = mode;
        limited.rate = {.bits_per_second = 300e3, .threshold_max = 60};
        BroadcastJob broadcast(limited);
        auto viewer = std::async(std::launch::async, [&] {
            auto client = patient_viewer(broadcast);
            EXPECT_EQ(client.info().threshold, 60);
            return watch(client);
        });
        const auto& result = broadcast.run();
        int least = 255, most = 0;
        for (const auto& seen : viewer.get()) {
            EXPECT_LE(furthest(seen, camera), seen.threshold) << "frame " << seen.frame;
            least = std::min(least, seen.threshold);
            most = std::max(most, seen.threshold);
        }
        EXPECT_GE(least, threshold);
        EXPECT_GT(most, threshold) << "the viewer learns of one that was raised";
        EXPECT_LE(most, 60);
        ASSERT_TRUE(result.figures.rate);
        EXPECT_GE(result.figures.rate->threshold.min, threshold);
        EXPECT_GT(result.figures.rate->threshold.max, threshold);
        EXPECT_GT(result.figures.rate->threshold.max, result.figures.rate->threshold.min) << "not always the same";
        EXPECT_EQ(result.figures.rate->max_bitrate, 300e3);
        EXPECT_GT(result.figures.rate->mean_bits_per_second, 0);
    }
}

// In each mode, the noise of a static scene disappears from what a viewer sees, and every byte stays within the
// threshold.
TEST_P(Broadcast, RefinesStaticRegions) {
    // Refinement may use a tenth of the stream's bytes, so it needs some time, measured by the frames' timestamps.
    const std::string scene = "synth:size=128x96:fps=1/5:objects=0:seed=4:frames=160:noise=";
    const auto camera = read_video(scene + "3").frames, clean = read_video(scene + "0").frames;
    // Returns the mean squared error relative to the scene without noise.
    const auto error = [&](const Bytes& seen, std::size_t frame) {
        double squares = 0;
        for (std::size_t at = 0; at < seen.size(); ++at)
            squares += (seen[at] - clean[frame][at]) * (seen[at] - clean[frame][at]);
        return squares / static_cast<double>(seen.size());
    };
    const double noise = error(camera.front(), 0);
    for (const auto mode : {codec::Mode::exact, codec::Mode::bounded})
        for (const bool refined : {true, false}) {
            SCOPED_TRACE(fmt::format("{}, {}", to_string(mode), refined));
            auto resting = options(scene + "3");
            resting.encoder.mode = mode;
            resting.refine_seconds = refined ? 40 : 0;
            BroadcastJob broadcast(resting);
            auto viewer = std::async(std::launch::async, [&] {
                auto client = patient_viewer(broadcast);
                return watch(client);
            });
            const auto& result = broadcast.run();
            const auto all = viewer.get();
            for (const auto& seen : all) EXPECT_LE(furthest(seen, camera), threshold) << "frame " << seen.frame;
            ASSERT_FALSE(all.empty());
            const double last = error(all.back().picture, all.back().frame);
            EXPECT_EQ(result.figures.frames, 160);
            if (refined)
                EXPECT_LT(last, noise / 2) << "3 dB";
            else
                EXPECT_GT(last, noise / 2);
        }
}

// Refinement takes a small share of the bytes even if the stream is quiet. It appears as additional states of a frame
// that was already sent.
TEST_P(Broadcast, RefinementAddsFewBytes) {
    struct Sent {
        double bytes = 0;
        int refinements = 0;
    };
    const auto sent_with = [&](double refresh) {
        // With ThreadSanitizer, 200 frames of 320x240 would take a quarter of an hour.
        auto resting = options(fmt::format("synth:size={}:fps=10:objects=2:seed=4:frames=200:noise=3",
                                           kit::brief() ? "80x60" : "320x240"));
        resting.encoder.mode = codec::Mode::bounded;
        resting.refine_seconds = refresh;
        BroadcastJob broadcast(resting);
        auto viewer = std::async(std::launch::async, [&] {
            auto client = patient_viewer(broadcast);
            return watch(client);
        });
        Sent sent{static_cast<double>(broadcast.run().figures.sent_bytes)};
        const auto all = viewer.get();
        for (std::size_t i = 1; i < all.size(); ++i) sent.refinements += all[i].frame == all[i - 1].frame;
        return sent;
    };
    const auto without = sent_with(0), with = sent_with(1);
    EXPECT_EQ(without.refinements, 0);
    EXPECT_GT(with.refinements, 0);
    EXPECT_LT(with.bytes, 1.15 * without.bytes);
}

// Viewers receive a refined frame again but record it only once.
TEST_P(Broadcast, CountsARefinedFrameOnce) {
    auto served = options("synth:size=128x96:fps=100:objects=0:seed=4:frames=60:noise=4");
    served.hurries = false;
    served.refine_seconds = 0.1;
    BroadcastJob broadcast(served);
    auto running = std::async(std::launch::async, [&] { broadcast.run(); });
    std::size_t shown = 0;
    ReceiveJob receive({.job = job(),
                        .url = to_string(broadcast.address()),
                        .recording = folder_ / "seen.bgr",
                        .on_picture = [&](auto) { ++shown; }});
    const auto received = receive.run().figures.frames;
    running.get();
    EXPECT_LE(received, 60);
    EXPECT_GT(shown, static_cast<std::size_t>(received));
    EXPECT_EQ(receive.state().frames, received) << "the figures of a window count a refined frame once";
    EXPECT_EQ(raw_frames(folder_ / "seen.bgr").size(), static_cast<std::size_t>(received));
}

TEST_P(Broadcast, DoesNotRefineARecordedStream) {
    auto recorded = options(camera());
    recorded.record = folder_ / "a.fwd";
    recorded.refine_seconds = 1;
    EXPECT_EQ(error_of([&] { BroadcastJob broadcast(recorded); }), ErrorCode::usage);
    EXPECT_TRUE(folder_.names().empty());
}

TEST_P(Broadcast, AcceptsControlRequestsWhileRunning) {
    auto options = this->options("synth:size=64x48:fps=100:seed=1");
    options.hurries = false;
    options.input.accepts_control = true;
    options.input.filters = "gray,scale=32:24";
    std::stop_source stop;
    options.job.stop = stop.get_token();
    BroadcastJob broadcast(options);
    EXPECT_EQ(broadcast.controls().filters.size(), 2U);
    EXPECT_EQ(error_of([&] { broadcast.control(service::parse_control("filter 2 off")); }), ErrorCode::usage);
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        // Waits for a picture that satisfies the condition. Returns false if there is none.
        const auto comes = [&](auto&& wanted) {
            for (int seen = 0; seen < 2000 && client.next(); ++seen) {
                const auto* bytes = client.picture().data();
                if (wanted(std::span(bytes, static_cast<std::size_t>(client.picture().shape().bytes())))) return true;
            }
            return false;
        };
        const auto is_gray = [](std::span<const std::uint8_t> bytes) {
            for (std::size_t at = 0; at < bytes.size(); at += 3)
                if (std::abs(bytes[at] - bytes[at + 2]) > 2 * threshold) return false;
            return true;
        };
        EXPECT_TRUE(comes(is_gray));
        broadcast.control(service::parse_control("filter 1 off"));
        EXPECT_TRUE(comes([&](auto bytes) { return !is_gray(bytes); }));
        broadcast.control(service::parse_control("adjust brightness=-255"));
        EXPECT_TRUE(
            comes([](auto bytes) { return std::ranges::all_of(bytes, [](int byte) { return byte <= threshold; }); }));
        stop.request_stop();
    });
    broadcast.run();
    viewer.get();
    EXPECT_EQ(broadcast.controls().adjustment, Adjustment{.brightness = -255});
}

TEST_P(Broadcast, RejectsARateLimitInLosslessMode) {
    auto limited = options(camera());
    limited.rate = {.bits_per_second = 300e3};
    limited.encoder.mode = codec::Mode::lossless;
    EXPECT_EQ(error_of([&] { BroadcastJob broadcast(limited); }), ErrorCode::usage);
    limited.encoder.mode = codec::Mode::exact;
    limited.rate->threshold_max = threshold - 1;
    EXPECT_EQ(error_of([&] { BroadcastJob broadcast(limited); }), ErrorCode::usage);
}

// The recording contains what the viewer saw or, without viewers, every frame.
TEST_P(Broadcast, RecordsWhatViewersSee) {
    for (const auto mode : {codec::Mode::exact, codec::Mode::bounded})
        for (const bool viewed : {true, false}) {
            auto recorded = options(camera());
            recorded.encoder.mode = mode;
            recorded.wait_for_viewers = viewed ? 1 : 0;
            recorded.record = folder_ / (std::string(to_string(mode)) + (viewed ? "1" : "0") + ".fwd:key=1");
            BroadcastJob broadcast(recorded);
            std::vector<std::pair<std::int64_t, Bytes>> seen;
            std::future<void> viewer;
            if (viewed)
                viewer = std::async(std::launch::async, [&] {
                    auto client = patient_viewer(broadcast);
                    while (client.next()) {
                        const auto* picture = client.picture().data();
                        seen.emplace_back(client.state().frame, Bytes(picture, picture + frame_bytes));
                    }
                });
            broadcast.run();
            if (viewed) viewer.get();
            const auto recording = read_video(recorded.record.substr(0, recorded.record.rfind(':')));
            ASSERT_FALSE(recording.error) << recording.message;
            ASSERT_EQ(recording.frames.size(), std::size_t{frames});
            const auto captured = camera_frames();
            for (std::size_t frame = 0; frame < frames; ++frame) {
                int far = 0;
                for (std::size_t at = 0; at < frame_bytes; ++at)
                    far = std::max(far, std::abs(recording.frames[frame][at] - captured[frame][at]));
                EXPECT_LE(far, threshold) << frame;
                EXPECT_DOUBLE_EQ(recording.times[frame].seconds, static_cast<double>(frame) / 3);
            }
            EXPECT_EQ(seen.empty(), !viewed);
            for (const auto& [frame, picture] : seen)
                EXPECT_TRUE(recording.frames.at(static_cast<std::size_t>(frame)) == picture) << frame;
        }
}

// Without viewers, keyframes are encoded from the camera's frames, as in a recording of `run`.
TEST_P(Broadcast, RecordingWithoutViewersMatchesRun) {
    const std::string scene = "synth:size=192x128:fps=10:noise=12:objects=5:seed=4:frames=35";
    auto recorded = options(scene);
    recorded.encoder.mode = codec::Mode::bounded;
    recorded.wait_for_viewers = 0;
    recorded.record = folder_ / "served.fwd:key=1";
    BroadcastJob(recorded).run();
    const auto own = folder_ / "own.fwd";
    RunJob({.job = job(),
            .input = {.source = scene},
            .output = fmt::format("{}:mode=bounded:threshold={}:key=1", own, threshold)})
        .run();
    const auto served = read_video(folder_ / "served.fwd"), run = read_video(own);
    EXPECT_EQ(served.frames.size(), 35u);
    EXPECT_TRUE(served.frames == run.frames);
    EXPECT_EQ(read_file(folder_ / "served.fwd").size(), read_file(own).size());
}

TEST_P(Broadcast, RejectsOtherRecordingFormats) {
    for (const auto* name : {"a.mp4", "a.fwd:mode=bounded", "a.fwd:threshold=3", "a.fwd:key=x"}) {
        auto refused = options(camera());
        refused.record = folder_ / name;
        EXPECT_EQ(error_of([&] { BroadcastJob broadcast(refused); }), ErrorCode::usage) << name;
    }
}

// Viewers reject a box outside the picture. The last frame has a box and reaches every viewer.
TEST_P(Broadcast, MapsBoxesThroughTheFilters) {
    auto filtered = options(camera());
    filtered.input.filters = "crop=64:64:32:16,flip,scale=48:96";
    filtered.detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
    BroadcastJob broadcast(filtered);
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        while (client.next()) {
        }
        EXPECT_EQ(client.picture().shape(), (Shape{1, 96, 48, 3}));
        EXPECT_EQ(client.state().frame, frames - 1);
        return client.objects().size();
    });
    broadcast.run();
    EXPECT_GT(viewer.get(), 0u);
}

// Keeps the tracks of all frames, where viewers see them.
class SeenTracks final : public service::SeenObjects {
public:
    void seen(const service::SeenFrame& frame) noexcept override {
        all[frame.time.index].assign(frame.tracks.begin(), frame.tracks.end());
    }
    std::map<std::int64_t, std::vector<Track>> all;
};

// Objects are tracked in the captured frames, so filters change where viewers see a track, and nothing else.
TEST_P(Broadcast, MapsTracksThroughTheFilters) {
    const auto tracks_with = [&](const char* filters) {
        SeenTracks seen;
        auto filtered = options("synth:size=128x96:fps=30:frames=90:noise=3:objects=4:seed=7");
        filtered.input.filters = filters;
        filtered.detector = DetectorOptions{
            .parameters = {.background = FirstFrame{}, .min_area = 20}, .region = {}, .tracker = TrackerParameters{}};
        filtered.wait_for_viewers = 0;
        filtered.seen = &seen;
        BroadcastJob(filtered).run();
        return seen.all;
    };
    const auto captured = tracks_with("");
    std::size_t listed = 0;
    for (const auto& [frame, tracks] : captured) listed += tracks.size();
    ASSERT_GT(listed, 20u);

    const auto expect = [&](const char* filters, auto&& map) {
        auto expected = captured;
        for (auto& [frame, tracks] : expected)
            for (auto& track : tracks) map(track);
        const auto found = tracks_with(filters);
        ASSERT_EQ(found.size(), expected.size()) << filters;
        int cut_off = 0;
        for (const auto& [frame, tracks] : expected) {
            const auto& moved = found.at(frame);
            ASSERT_EQ(moved.size(), tracks.size()) << filters << ", frame " << frame;
            for (std::size_t i = 0; i < tracks.size(); ++i) {
                const auto& is = moved[i];
                auto should = tracks[i];
                // Objects are rounded to pixels, so one that barely remains may have vanished.
                if (is.object < 0 && std::min(should.width, should.height) < 1) should.object = -1;
                EXPECT_EQ(is.id, should.id);
                EXPECT_EQ(is.object < 0, should.object < 0) << filters << ", frame " << frame << ", track " << is.id;
                const auto near = [&](double a, double b) {
                    EXPECT_NEAR(a, b, 1e-9) << filters << ", frame " << frame;
                };
                near(is.x, should.x);
                near(is.y, should.y);
                near(is.width, should.width);
                near(is.height, should.height);
                near(is.velocity_x, should.velocity_x);
                near(is.velocity_y, should.velocity_y);
                near(is.age_s, should.age_s);
                cut_off += should.width * should.height == 0;
            }
        }
        EXPECT_EQ(cut_off > 0, std::string_view(filters).starts_with("crop"));
    };
    expect("crop=48:64:32:16", [](Track& track) {
        const double left = std::clamp(track.x - 32, 0.0, 48.0), top = std::clamp(track.y - 16, 0.0, 64.0);
        track.width = std::clamp(track.x - 32 + track.width, 0.0, 48.0) - left;
        track.height = std::clamp(track.y - 16 + track.height, 0.0, 64.0) - top;
        track.x = left;
        track.y = top;
    });
    // A quarter turn to the right: the left side becomes the upper one.
    expect("rotate=90", [](Track& track) {
        const double x = std::clamp(track.x, 0.0, 128.0), y = std::clamp(track.y, 0.0, 96.0);
        const double right = std::clamp(track.x + track.width, 0.0, 128.0);
        const double bottom = std::clamp(track.y + track.height, 0.0, 96.0);
        track.x = 96 - bottom;
        track.y = x;
        track.width = bottom - y;
        track.height = right - x;
        std::swap(track.velocity_x, track.velocity_y);
        track.velocity_x = -track.velocity_x;
    });
}

// The detector sees frames as captured, also if the filters run on planes and therefore no image is made for them.
TEST_P(Broadcast, DetectsInCapturedFramesOfPlanes) {
    const auto clip = folder_ / "clip.y4m";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip + ":pixels=yuv420p"}).run();
    const auto boxes_with = [&](const char* filters) {
        auto filtered = options(clip);
        filtered.input.filters = filters;
        filtered.detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
        BroadcastJob broadcast(filtered);
        auto viewer = std::async(std::launch::async, [&] {
            auto client = patient_viewer(broadcast);
            while (client.next()) {
            }
            const auto boxes = client.objects();
            return std::vector<Component>(boxes.begin(), boxes.end());
        });
        broadcast.run();
        return viewer.get();
    };
    const auto without = boxes_with("");
    EXPECT_FALSE(without.empty());
    EXPECT_EQ(boxes_with("mosaic=16"), without);
    EXPECT_EQ(boxes_with("median=3"), without);
}

TEST_P(Broadcast, ReportsAFailureToViewers) {
    BroadcastJob broadcast(options(broken_source(4)));
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        return error_of([&] {
            while (client.next()) {
            }
        });
    });
    EXPECT_EQ(error_of([&] { broadcast.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(viewer.get(), ErrorCode::source_lost);
    EXPECT_EQ(broadcast.result().figures.frames, 4);
    EXPECT_EQ(broadcast.result().viewers.viewers_total, 1);
}

TEST_P(Broadcast, StopsWaitingForViewersOnRequest) {
    std::stop_source stop;
    auto waiting = options(camera());
    waiting.job.stop = stop.get_token();
    BroadcastJob broadcast(waiting);
    stop.request_stop();
    EXPECT_EQ(broadcast.run().figures.frames, 0);
}

TEST_P(Broadcast, HidesTheSourceFolderFromViewers) {
    BroadcastJob broadcast(options(broken_source(4)));
    std::string reported;
    auto viewer = std::async(std::launch::async, [&] {
        auto client = patient_viewer(broadcast);
        return client.info().source;
    });
    EXPECT_EQ(viewer.get().find(folder_ / ""), std::string::npos);
    EXPECT_NE(broadcast.source().name.find(folder_ / ""), std::string::npos);
}

// Broadcasts the camera to a job that receives it.
class Receive : public Broadcast {
protected:
    void SetUp() override {
        Broadcast::SetUp();
        if (IsSkipped()) return;
        auto served = options(camera());
        served.job.stop = stop_.get_token();
        served.refine_seconds = 0;
        broadcast_.emplace(served);
        running_ = std::async(std::launch::async, [this] { broadcast_->run(); });
    }
    ReceiveOptions receiving() const {
        return {.job = job(), .url = to_string(broadcast_->address()), .recording = folder_ / "seen.bgr"};
    }

    std::stop_source stop_;
    std::optional<BroadcastJob> broadcast_;
    std::future<void> running_;
};

FRAMEWIRE_ON_EVERY_BACKEND(Receive);

TEST_P(Receive, ShowsAndRecordsPictures) {
    auto options = receiving();
    std::vector<Bytes> shown;
    Shape reported{};
    options.on_stream = [&](const net::StreamInfo& stream, const Shape& shape) {
        reported = shape;
        EXPECT_EQ(stream.threshold, threshold);
        EXPECT_TRUE(folder_.names().empty()) << "outputs are touched last";
    };
    options.on_picture = [&](HostView<const std::uint8_t> picture) {
        shown.emplace_back(picture.data(), picture.data() + frame_bytes);
    };
    ReceiveJob receive(options);
    const auto& result = receive.run();
    running_.get();
    EXPECT_EQ(reported.width, width);
    EXPECT_EQ(result.ending, Ending::complete);
    EXPECT_EQ(result.figures.frames, static_cast<std::int64_t>(shown.size()));
    EXPECT_EQ(result.state.frame, frames - 1);
    EXPECT_TRUE(raw_frames(folder_ / "seen.bgr") == shown);
    const auto last = camera_frames().back();
    for (std::size_t at = 0; at < frame_bytes; ++at) ASSERT_LE(std::abs(shown.back()[at] - last[at]), threshold);
}

TEST_P(Receive, FailsIfACallbackThrows) {
    write_file(folder_ / "seen.bgr", "finished");
    auto options = receiving();
    options.job.replace = true;
    options.on_end = [] { throw std::runtime_error("the window is gone"); };
    ReceiveJob receive(options);
    EXPECT_THROW(receive.run(), std::runtime_error);
    EXPECT_EQ(receive.result().ending, Ending::broken_off);
    EXPECT_EQ(read_file(folder_ / "seen.bgr").size(), std::string("finished").size());
    running_.get();
}

TEST_P(Receive, LeavesNoFileIfTheStreamIsRefused) {
    auto options = receiving();
    options.on_stream = [](const net::StreamInfo&, const Shape&) { fail(ErrorCode::config, "no window"); };
    EXPECT_EQ(error_of([&] { ReceiveJob receive(options); }), ErrorCode::config);
    EXPECT_TRUE(folder_.names().empty());
    // the viewer may have left before the waiting thread noticed its presence
    stop_.request_stop();
    running_.get();
}

}  // namespace
}  // namespace framewire::jobs
