// Recording a stream while it is sent.

#include "framewire/media/fwd/recorder.hpp"

#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/media/fwd/fwd_testing.hpp"
#include "framewire/media/threads.hpp"
#include "kit/captured_log.hpp"
#include "kit/eventually.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace framewire {
namespace recorder_test {

using namespace testing;

constexpr Shape shape{1, 40, 70, 3};

// A stream in `bounded` mode and its recording.
struct Stream {
    explicit Stream(fwd::Recorder& to) : recorder(&to) {}

    void send(const Bytes& camera, double seconds) {
        packed.clear();
        first ? packer.pack_first(view_of(camera, shape), picture.view(), 20, packed)
              : packer.pack_step(view_of(camera, shape), picture.view(), 20, packed);
        const FrameTime time{0, seconds, {}};
        if (!first && recorder->wants_picture(time))
            recorder->add_picture(time, 20, [&](auto to) { copy(std::as_const(picture).view(), to); });
        else
            recorder->add(packed, time);
        first = false;
        const auto view = std::as_const(picture).view();
        sent.emplace_back(view.data(), view.data() + shape.bytes());
    }

    fwd::Recorder* recorder;
    delta::BoundedPacker packer{shape, 1};
    HostImage picture{shape};
    std::vector<std::uint8_t> packed;
    std::vector<Bytes> sent;
    bool first = true;
};

const fwd::Recording recording{.shape = shape, .mode = delta::Mode::bounded, .threshold = 20, .rate = {25, 1}};

TEST(FwdRecorder, WritesTheSentFrames) {
    const TemporaryFolder folder;
    fwd::Recorder recorder(folder / "a.fwd", recording, 0.2, {}, media_threads());
    Stream stream(recorder);
    int number = 0;
    for (const auto& frame : film_frames(shape, 12)) stream.send(frame, number++ / 25.0);
    recorder.finish(Ending::complete);
    const auto plain = fwd::plain::read_plain(read_file(folder / "a.fwd"));
    ASSERT_EQ(plain.frames.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_TRUE(plain.frames[i].picture == stream.sent[i]) << i;
        EXPECT_EQ(plain.frames[i].whole, i % 5 == 0) << i;
    }
    EXPECT_TRUE(read_video(folder / "a.fwd").frames == stream.sent);
}

TEST(FwdRecorder, AFullDiskEndsOnlyTheRecording) {
    kit::CapturedLog log;
    fwd::Recorder recorder("/dev/full", recording, 100, {}, media_threads());
    Stream stream(recorder);
    const auto frames = film_frames(shape, 3);
    stream.send(frames[0], 0);
    EXPECT_TRUE(kit::eventually([&] { return !recorder.goes_on(); }));
    stream.send(frames[1], 1);
    EXPECT_NE(log.text().find("the stream goes on without being recorded"), std::string::npos) << log.text();
    EXPECT_EQ(error_of([&] { recorder.finish(Ending::complete); }), ErrorCode::io);
}

TEST(FwdRecorder, ASlowDiskDropsFramesUpToAKeyframe) {
    const TemporaryFolder folder;
    const auto pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(end, 0);
    kit::CapturedLog log;
    fwd::Recorder recorder(pipe, recording, 1000, {}, media_threads());
    recorder.limit_waiting(60'000);
    Stream stream(recorder);
    const auto frames = film_frames(shape, 40, 60);
    // More than the pipe (a megabyte) and the recorder can hold together.
    int number = 0;
    for (; number < 4000 && log.lines() == 0; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    EXPECT_NE(log.text().find("more comes than is written"), std::string::npos) << log.text();
    const auto lost_from = static_cast<std::size_t>(number) - 1;
    for (const int until = number + 10; number < until; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    // Once the pipe is read again, recording continues with a keyframe.
    Bytes bytes;
    std::thread reader([&] {
        std::array<std::uint8_t, 4096> some{};
        ::fcntl(end, F_SETFL, 0);
        for (ssize_t got; (got = ::read(end, some.data(), some.size())) > 0;)
            bytes.insert(bytes.end(), some.begin(), some.begin() + got);
    });
    EXPECT_TRUE(kit::eventually([&] { return recorder.wants_picture({}); }));
    const auto again_from = static_cast<std::size_t>(number);
    for (const int until = number + 3; number < until; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    recorder.finish(Ending::complete);
    reader.join();
    ::close(end);
    EXPECT_NE(log.text().find(std::to_string(again_from - lost_from) + " frames were left out"), std::string::npos)
        << log.text();
    auto want = stream.sent;
    want.erase(want.begin() + static_cast<std::ptrdiff_t>(lost_from),
               want.begin() + static_cast<std::ptrdiff_t>(again_from));
    write_file(folder / "a.fwd", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.fwd");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.frames.size(), want.size());
    EXPECT_TRUE(reading.frames == want);
    EXPECT_NEAR(reading.times[lost_from].seconds, static_cast<double>(again_from) / 25, 1e-5);
}

}  // namespace recorder_test
}  // namespace framewire
