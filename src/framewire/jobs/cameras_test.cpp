#include "framewire/jobs/cameras.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/net/client.hpp"
#include "kit/captured_log.hpp"
#include "kit/eventually.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace framewire::jobs {
namespace {

TEST(CameraText, SplitsAtTheFirstEqualsSign) {
    const auto expect = [](const char* text, const char* name, const char* rest) {
        const auto parts = camera_source(text);
        EXPECT_EQ(parts.name, name) << text;
        EXPECT_EQ(parts.rest, rest) << text;
    };
    expect("door=synth", "door", "synth");
    expect("door=synth:size=64x48", "door", "synth:size=64x48");
    expect("Yard_2.b-c=rtsp://a/b?c=d", "Yard_2.b-c", "rtsp://a/b?c=d");
    expect("door=", "door", "");
    expect("..=synth", "..", "synth");
    for (const auto* text : {"synth", "synth:size=64x48", "rtsp://a/b?c=d", "./a=b.mp4", "folder/a=b.mp4", "=synth",
                             "a b=synth", "lavfi:color=c=red"})
        expect(text, "", text);
}

TEST(CameraText, PrefersAnExistingFile) {
    const testing::TemporaryFolder folder;
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(folder / "x").parent_path());
    testing::write_file("a=b.bgr", "0", 1);
    const auto there = camera_source("a=b.bgr"), elsewhere = camera_source("a=c.bgr");
    std::filesystem::current_path(here);
    EXPECT_EQ(there.name, "");
    EXPECT_EQ(there.rest, "a=b.bgr");
    EXPECT_EQ(elsewhere.name, "a");
}

TEST(CameraText, AcceptsOnlyKnownCameraNames) {
    const std::vector<std::string> names{"door", "yard"};
    EXPECT_EQ(camera_text("door=gaussian=5", names).name, "door");
    EXPECT_EQ(camera_text("door=gaussian=5", names).rest, "gaussian=5");
    EXPECT_EQ(camera_text("gaussian=5", names).name, "");
    EXPECT_EQ(camera_text("gaussian=5", names).rest, "gaussian=5");
    EXPECT_EQ(camera_text("gray", names).rest, "gray");
}

TEST(CameraText, ReplacesThePlaceholder) {
    EXPECT_EQ(with_camera_name("day/{name}-{name}.fwd:key=2", "door"), "day/door-door.fwd:key=2");
    EXPECT_EQ(with_camera_name("{nam}{name", "door"), "{nam}{name");
    EXPECT_EQ(with_camera_name("", "door"), "");
}

class Cameras : public JobTest {
protected:
    CamerasOptions options(const std::vector<std::pair<std::string, std::string>>& named_sources) const {
        CamerasOptions options{.job = job()};
        options.listener.listen = {"127.0.0.1", 0};
        for (const auto& [name, source] : named_sources) {
            BroadcastOptions camera{.job = job(), .input = {.source = source}};
            camera.encoder.mode = codec::Mode::lossless;
            camera.server.stream = name;
            camera.wait_for_viewers = 1;
            camera.hurries = true;
            options.cameras.push_back(camera);
        }
        return options;
    }

    // Returns small cameras with these seeds, and makes them in `paced` with their own rate, for two seconds.
    CamerasOptions small_cameras(int count, bool paced) const {
        std::vector<std::pair<std::string, std::string>> sources;
        for (int number = 0; number < count; ++number)
            sources.emplace_back(fmt::format("camera-{}", number), small_camera(number, paced ? 100 : 20));
        auto made = options(sources);
        for (auto& camera : made.cameras) camera.hurries = !paced;
        return made;
    }
    static std::string small_camera(int number, int length) {
        return fmt::format("synth:size=64x48:fps=50:noise=2:seed={}:frames={}", number, length);
    }

    // Returns all pictures that a viewer sees of one camera, by frame number. The viewer connects again if the camera
    // needs another job.
    static std::map<std::int64_t, Bytes> see(const net::Address& address, const std::string& name) {
        net::Client client({address, name}, {.reconnect = std::chrono::seconds(10)});
        std::map<std::int64_t, Bytes> seen;
        while (client.next()) {
            const auto& picture = client.picture();
            seen[client.state().frame] = Bytes(picture.data(), picture.data() + picture.shape().bytes());
        }
        return seen;
    }

    // Serves four cameras on these processors, and calls `fail` in the middle. Checks that every viewer sees the last
    // frame of its camera, and only pictures that the camera has captured.
    CamerasResult serve_through(const std::shared_ptr<GpuFleet>& fleet, const std::function<void()>& fail) const {
        auto four = small_cameras(4, true);
        four.cameras[0].record = folder_ / "first.fwd";
        four.job.gpus = fleet;
        CamerasJob job(four);
        std::vector<std::future<std::map<std::int64_t, Bytes>>> viewers;
        for (const auto& camera : four.cameras)
            viewers.push_back(std::async(std::launch::async, [&] { return see(job.address(), camera.server.stream); }));
        const std::jthread breaker([&] {
            EXPECT_TRUE(kit::eventually([&] {
                return std::ranges::all_of(job.live(),
                                           [](const auto& camera) { return camera->picture_version() > 10; });
            }));
            fail();
        });
        const auto& result = job.run();
        for (std::size_t at = 0; at < viewers.size(); ++at) {
            const auto captured = read_video(small_camera(static_cast<int>(at), 100)).frames;
            const auto seen = viewers[at].get();
            if (seen.empty()) {
                ADD_FAILURE() << "the viewer of camera " << at << " saw nothing";
                continue;
            }
            EXPECT_EQ(seen.rbegin()->first, 99);
            for (const auto& [frame, picture] : seen)
                EXPECT_EQ(picture, captured.at(static_cast<std::size_t>(frame))) << at << " " << frame;
            EXPECT_FALSE(result.cameras[at].failure);
            EXPECT_GE(result.cameras[at].broadcast.figures.frames, 85);
        }
        // The recording of the first camera continues in a second file if the camera moves.
        const auto recorded = read_video(folder_ / "first.fwd").frames.size();
        EXPECT_GT(recorded, 0u);
        if (recorded < 85) EXPECT_GT(read_video(folder_ / "first-2.fwd").frames.size(), 0u);
        return result;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Cameras);

class GpuCrash : public Cameras {
protected:
    // Lets a kernel write where it may not. CUDA then refuses all work of this process.
    static void crash(int gpu) {
        Executor executor(BackendChoice::cuda, 1, gpu);
        const Shape shape{1, 64, 64, 3}, gray = shape.with_channels(1);
        auto* const nowhere = reinterpret_cast<std::uint8_t*>(std::uintptr_t{4096});
        const Gray filter({.channels = 1}, shape, executor);
        executor.in_its_space([&]<MemorySpace space>() {
            filter.run(FilterImages<space>{
                View<const std::uint8_t, space>(nowhere, shape), {}, View<std::uint8_t, space>(nowhere, gray)});
        });
        EXPECT_THROW(executor.synchronize(), Error);
    }

    void serve_through_crash() const {
        std::vector<Processor> gpus;
        for (const auto& gpu : cuda::devices()) gpus.push_back({BackendChoice::cuda, gpu.index});
        const kit::CapturedLog log;
        const auto result =
            serve_through(std::make_shared<GpuFleet>(gpus, Processor{BackendChoice::cpu}), [] { crash(0); });
        for (const auto& camera : result.cameras) EXPECT_EQ(camera.broadcast.figures.gpu, std::nullopt);
        for (const auto& gpu : gpus)
            EXPECT_NE(log.text().find(fmt::format("GPU {} failed: ", gpu.gpu)), std::string::npos) << log.text();
    }
};

INSTANTIATE_TEST_SUITE_P(Backends, GpuCrash, ::testing::Values(Backend::cuda), kit::backend_name);

// In a process of its own, because the GPU cannot be used any more.
TEST_P(GpuCrash, CamerasGoOnWithTheCpu) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [this] {
        try {
            serve_through_crash();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        const auto& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
        for (int part = 0; part < result.total_part_count(); ++part)
            fmt::print(stderr, "{}\n", result.GetTestPartResult(part).message());
        std::_Exit(HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST_P(Cameras, ShareOnePortByName) {
    const std::string small = "synth:size=64x48:fps=20:noise=2:seed=9:frames=20";
    auto both = options({{"door", camera()}, {"yard", small}});
    both.cameras[1].input.filters = "flip=both";
    both.job.statistics_path = folder_ / "stats.json";
    CamerasJob job(both);
    auto door = std::async(std::launch::async, [&] { return see(job.address(), "door"); });
    auto yard = std::async(std::launch::async, [&] { return see(job.address(), "yard"); });
    const auto& result = job.run();

    const auto door_frames = camera_frames();
    for (const auto& [frame, picture] : door.get())
        EXPECT_EQ(picture, door_frames.at(static_cast<std::size_t>(frame))) << frame;
    auto yard_frames = read_video(small).frames;
    const auto seen = yard.get();
    EXPECT_EQ(seen.rbegin()->first, 19);
    for (const auto& [frame, picture] : seen) {
        const auto& captured = yard_frames.at(static_cast<std::size_t>(frame));
        for (std::size_t pixel = 0; pixel < picture.size() / 3; ++pixel)
            ASSERT_EQ(picture[3 * pixel], captured[captured.size() - 3 * (pixel + 1)]) << "turned by half";
    }

    ASSERT_EQ(result.cameras.size(), 2u);
    EXPECT_EQ(result.cameras[0].broadcast.figures.frames, frames);
    EXPECT_EQ(result.cameras[1].broadcast.figures.frames, 20);
    EXPECT_EQ(result.total.frames, frames + 20);
    EXPECT_EQ(result.viewers.viewers_total, 2);
    EXPECT_EQ(result.cameras[0].broadcast.viewers.viewers_total, 1);
    const auto bytes = read_file(both.job.statistics_path);
    const auto json = nlohmann::json::parse(bytes.begin(), bytes.end());
    EXPECT_EQ(json["frames"], frames + 20);
    EXPECT_EQ(json["cameras"]["door"]["frames"], frames);
    EXPECT_EQ(json["cameras"]["yard"]["frames"], 20);
    EXPECT_EQ(json["cameras"]["yard"]["size"]["width"], 64);
    EXPECT_FALSE(json["cameras"]["yard"].contains("failure"));
}

TEST_P(Cameras, StreamsOfEqualShapeStaySeparate) {
    std::vector<std::pair<std::string, std::string>> sources;
    for (int number = 0; number < 5; ++number)
        sources.emplace_back(fmt::format("camera-{}", number),
                             fmt::format("synth:size=64x48:fps=20:noise=2:seed={}:frames=20", number));
    CamerasJob job(options(sources));
    std::vector<std::future<std::map<std::int64_t, Bytes>>> viewers;
    for (const auto& [name, source] : sources)
        viewers.push_back(std::async(std::launch::async, [&] { return see(job.address(), name); }));
    job.run();
    for (std::size_t at = 0; at < sources.size(); ++at) {
        const auto captured = read_video(sources[at].second).frames;
        const auto seen = viewers[at].get();
        ASSERT_FALSE(seen.empty());
        EXPECT_EQ(seen.rbegin()->first, 19);
        for (const auto& [frame, picture] : seen)
            EXPECT_EQ(picture, captured.at(static_cast<std::size_t>(frame))) << sources[at].first << " " << frame;
    }
}

TEST_P(Cameras, AreSpreadOverProcessorsByTheirLoad) {
    auto four = small_cameras(4, false);
    four.cameras[3].input.source = "synth:size=128x96:fps=50:frames=20";
    const auto fleet = std::make_shared<GpuFleet>(two_processors(GetParam()));
    four.job.gpus = fleet;
    CamerasJob job(four);
    // Cameras open at the same time, so their order differs. The last one has four times the pixels.
    const double small = 64 * 48 * 50;
    const auto loads = fleet->loads();
    EXPECT_EQ(loads[0] + loads[1], 7 * small);
    EXPECT_GE(std::ranges::min(loads), small);
    std::vector<std::future<std::map<std::int64_t, Bytes>>> viewers;
    for (const auto& camera : four.cameras)
        viewers.push_back(std::async(std::launch::async, [&] { return see(job.address(), camera.server.stream); }));
    const auto& result = job.run();
    std::set<std::optional<int>> gpus;
    for (std::size_t at = 0; at < viewers.size(); ++at) {
        const auto captured = read_video(four.cameras[at].input.source).frames;
        const auto seen = viewers[at].get();
        ASSERT_FALSE(seen.empty());
        EXPECT_EQ(seen.rbegin()->first, 19);
        for (const auto& [frame, picture] : seen)
            EXPECT_EQ(picture, captured.at(static_cast<std::size_t>(frame))) << at << " " << frame;
        gpus.insert(result.cameras[at].broadcast.figures.gpu);
    }
    const bool two = GetParam() == Backend::cuda && cuda::devices().size() > 1;
    EXPECT_EQ(gpus.size(), two ? 2u : 1u);
    EXPECT_EQ(gpus.contains(0), GetParam() == Backend::cuda);
}

// Frames in flight on the processor that fails are lost.
TEST_P(Cameras, GoOnElsewhereWhenAProcessorFails) {
    const auto fleet = std::make_shared<GpuFleet>(two_processors(GetParam()));
    const kit::CapturedLog log;
    serve_through(fleet, [&] {
        fleet->mark_failed(0, "a test asks for it");
        EXPECT_TRUE(kit::eventually([&] { return fleet->loads() == std::vector<double>{0, 4.0 * 64 * 48 * 50}; }));
    });
    const auto text = log.text();
    EXPECT_NE(text.find(" failed: a test asks for it; it is not used any more\n"), std::string::npos) << text;
    int moved = 0;
    for (auto at = text.find(": goes on with "); at != text.npos; at = text.find(": goes on with ", at + 1)) ++moved;
    EXPECT_EQ(moved, 2) << text;
}

TEST_P(Cameras, EndWhenNoProcessorIsLeft) {
    auto one = small_cameras(1, true);
    const auto fleet = std::make_shared<GpuFleet>(std::vector<Processor>{two_processors(GetParam()).front()});
    one.job.gpus = fleet;
    CamerasJob job(one);
    auto viewer = std::async(std::launch::async, [&] { return error_of([&] { see(job.address(), "camera-0"); }); });
    std::jthread breaker([&] {
        EXPECT_TRUE(kit::eventually([&] { return job.live().front()->picture_version() > 10; }));
        fleet->mark_failed(0, "a test asks for it");
    });
    EXPECT_EQ(error_of([&] { job.run(); }), ErrorCode::internal);
    EXPECT_EQ(viewer.get(), ErrorCode::source_lost);
}

// The other camera's viewer receives its whole stream, and the failed camera's error is thrown at the end.
TEST_P(Cameras, ContinueAfterOneFails) {
    auto both = options({{"broken", broken_source(3)}, {"whole", camera()}});
    both.cameras[0].wait_for_viewers = 0;
    both.job.statistics_path = folder_ / "stats.json";
    const kit::CapturedLog log;
    CamerasJob job(both);
    auto whole = std::async(std::launch::async, [&] {
        EXPECT_TRUE(kit::eventually([&] { return log.text().find("camera 'broken': ") != std::string::npos; }));
        return see(job.address(), "whole");
    });
    std::string message;
    EXPECT_EQ(error_of([&] { job.run(); }, &message), ErrorCode::source_lost);
    EXPECT_NE(message.find("camera 'broken': "), std::string::npos) << message;
    EXPECT_EQ(whole.get().rbegin()->first, frames - 1);
    const auto& result = job.result();
    EXPECT_EQ(result.cameras[0].broadcast.figures.frames, 3);
    EXPECT_TRUE(result.cameras[0].failure);
    EXPECT_FALSE(result.cameras[1].failure);
    const auto bytes = read_file(both.job.statistics_path);
    EXPECT_TRUE(nlohmann::json::parse(bytes.begin(), bytes.end())["cameras"]["broken"].contains("failure"));
}

#ifdef FRAMEWIRE_FFMPEG
// Accepts connections, as the kernel does for any listener, and never answers.
class SilentServer {
public:
    SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (socket_ < 0 || ::bind(socket_, any, length) || ::listen(socket_, 4) || ::getsockname(socket_, any, &length))
            throw std::runtime_error("no socket");
        port_ = ntohs(address.sin_port);
    }
    ~SilentServer() { ::close(socket_); }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;

    std::string address() const { return fmt::format("rtsp://127.0.0.1:{}/door", port_); }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

// Connections time out after 10 s.
TEST_P(Cameras, DoNotWaitForOneThatIsSilent) {
    const SilentServer silent;
    auto asked = options({{"door", silent.address()}, {"yard", endless_camera()}});
    std::stop_source stop;
    asked.job.stop = stop.get_token();
    for (auto& camera : asked.cameras) camera.wait_for_viewers = 0;
    const auto begin = Clock::now();
    CamerasJob cameras(asked);
    std::jthread running([&] { EXPECT_NO_THROW(cameras.run()); });
    const std::shared_ptr<void> at_end(nullptr, [&](void*) { stop.request_stop(); });
    const auto live = cameras.live();
    EXPECT_TRUE(kit::eventually([&] { return live[1]->figures().frames > 0; }));
    EXPECT_LT(milliseconds(begin, Clock::now()), 9000);
    EXPECT_FALSE(live[0]->state().up);
    EXPECT_EQ(live[0]->figures().frames, 0);
}
#endif

TEST_P(Cameras, RejectInvalidOptions) {
    const auto refusal = [&](const CamerasOptions& wrong, std::string_view words) {
        std::string message;
        const auto code = error_of([&] { CamerasJob job(wrong); }, &message);
        EXPECT_NE(message.find(words), std::string::npos) << message;
        return code;
    };
    EXPECT_EQ(refusal(options({}), "no camera"), ErrorCode::usage);
    EXPECT_EQ(refusal(options({{"door", camera()}, {"door", camera()}}), "two cameras"), ErrorCode::usage);
    EXPECT_EQ(refusal(options({{"a b", camera()}}), "'a b'"), ErrorCode::usage);
    for (const auto* unreachable : {".", ".."})
        EXPECT_EQ(refusal(options({{unreachable, camera()}}), "other than . and .."), ErrorCode::usage);
    auto hidden = options({{"door", camera()}});
    for (const auto* path : {"/door", "/door/cams"}) {
        hidden.listener.base_path = path;
        EXPECT_EQ(refusal(hidden, "begins with the name of a camera"), ErrorCode::usage) << path;
    }
    EXPECT_EQ(refusal(options({{"a", camera()}, {"b", "/no/such/file.mkv"}}), "camera 'b'"), ErrorCode::no_input);
    auto misspelt = options({{"a", camera()}, {"b", camera()}});
    misspelt.cameras[1].input.filters = "grey";
    EXPECT_EQ(refusal(misspelt, "did you mean 'gray'?"), ErrorCode::usage);
}

TEST(CameraRecordings, AdditionalFilesAreNumbered) {
    EXPECT_EQ(recording_part("day.fwd", 2), "day-2.fwd");
    EXPECT_EQ(recording_part("a.b/day.1.fwd:key=2", 13), "a.b/day.1-13.fwd:key=2");
}

}  // namespace
}  // namespace framewire::jobs
