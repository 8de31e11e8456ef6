#pragma once

#include "framewire/jobs/cameras.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/net/client.hpp"
#include "framewire/service/live_camera.hpp"
#include "kit/eventually.hpp"

#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

// Fixtures shared by the tests of served cameras and their control requests.

namespace framewire::jobs {

/// Serves cameras on a thread until the end of the test.
class Serving {
public:
    explicit Serving(CamerasOptions options)
        : job_([&] {
              options.job.stop = stop_.get_token();
              return options;
          }()),
          thread_([this] {
              try {
                  job_.run();
              } catch (const std::exception& error) {
                  ADD_FAILURE() << "the job ended: " << error.what();
              }
          }) {}
    ~Serving() { stop_.request_stop(); }

    service::LiveCamera& camera() const { return *job_.live().front(); }
    net::StreamAddress address() const { return {job_.address(), camera().name()}; }
    /// Waits until `there` returns true.
    static void until(const std::function<bool()>& there) { ASSERT_TRUE(kit::eventually(there)); }
    void wait_for_frames(std::uint64_t count) const {
        const auto before = camera().picture_version();
        until([&] { return camera().picture_version() >= before + count; });
    }

private:
    std::stop_source stop_;
    CamerasJob job_;
    std::jthread thread_;
};

/// Base class for tests of control requests, with one camera named "door".
class LiveTest : public JobTest {
protected:
    static constexpr int fps = 50;
    static std::string source() { return fmt::format("synth:size=128x96:fps={}:noise=3:objects=4:seed=7", fps); }

    CamerasOptions options(codec::Mode mode = codec::Mode::lossless, int threshold = 20) const {
        CamerasOptions options{.job = job()};
        options.listener.listen = {"127.0.0.1", 0};
        BroadcastOptions camera{.job = job(), .input = {.source = source(), .accepts_control = true}};
        camera.encoder = {.mode = mode, .threshold = threshold};
        camera.server.stream = "door";
        options.cameras.push_back(camera);
        options.live.record_folder = folder_ / "";
        return options;
    }

    static Bytes bytes_of(const HostView<const std::uint8_t>& picture) {
        return {picture.data(), picture.data() + picture.shape().bytes()};
    }
    /// Returns the message with which `request` is rejected.
    static std::string refusal(const std::function<void()>& request, ErrorCode code = ErrorCode::usage) {
        std::string words;
        EXPECT_EQ(testing::error_of(request, &words), code) << words;
        return words;
    }
};

}  // namespace framewire::jobs
