#include "framewire/jobs/clips.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/live_testing_testing.hpp"

#include <sys/resource.h>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace framewire::jobs {
namespace {

constexpr int rate = 10, bits = 8, cell = 16;
constexpr Shape shape{1, 96, bits* cell, 3};

TEST(Clips, TextHasFolderAndSeconds) {
    const auto plain = parse_clips("out/clips");
    EXPECT_EQ(plain.folder, "out/clips");
    EXPECT_EQ(plain.before_seconds, 5);
    EXPECT_EQ(plain.after_seconds, 5);
    EXPECT_EQ(plain.most_seconds, 120);
    const auto all = parse_clips("C:x/:most=60:before=0:after=2.5");
    EXPECT_EQ(all.folder, "C:x/");
    EXPECT_EQ(all.before_seconds, 0);
    EXPECT_EQ(all.after_seconds, 2.5);
    EXPECT_EQ(all.most_seconds, 60);
    EXPECT_EQ(parse_clips("a:b=1/").folder, "a:b=1/");
    for (const auto* wrong : {"", ":before=1", "a:before=-1", "a:before=301", "a:most=0", "a:after=x", "a:befor=1",
                              "a:before=1:before=2", "a:before=1:x=2"})
        EXPECT_EQ(testing::error_of([&] { parse_clips(wrong); }), ErrorCode::usage) << wrong;
}

// Whatever a source is called, its clips are in their folder.
TEST(Clips, NamesHaveNoFolder) {
    for (const auto* source :
         {"../..", "..", "/etc/passwd", "a/..", "x/../../y.mp4", "synth:truth=../a", "http://h/../b", "a\\..\\b", ""}) {
        const std::filesystem::path path = "clips/" + clip_name(source, 0, 61);
        EXPECT_EQ(path.lexically_normal().parent_path(), "clips") << path;
    }
    EXPECT_EQ(clip_name("a/street.mp4", 0, 3725.9), "street-01h02m05s");
    EXPECT_EQ(clip_name("a/street.fwd", 1'795'979'000'000'000, 35.5), "street-20261129-190355Z");
}

TEST(Clips, LongRangesAreSplit) {
    EXPECT_EQ(parts_of({1, 10}, 0), (std::vector<ClipRange>{{1, 10}}));
    EXPECT_EQ(parts_of({1, 10}, 9), (std::vector<ClipRange>{{1, 10}}));
    EXPECT_EQ(parts_of({1, 10}, 4), (std::vector<ClipRange>{{1, 5}, {5, 9}, {9, 10}}));
}

// Returns the ranges for frames of one second each, from the definition: runs of frames with motion, longer while
// something moves in them, and joined if they overlap.
std::vector<ClipRange> expected_ranges(const std::vector<bool>& moves, int after_frames, double before, double after) {
    std::vector<ClipRange> all;
    const auto size = static_cast<int>(moves.size());
    for (int begin = 0; begin < size; ++begin) {
        if (!moves[std::size_t(begin)] || (begin > 0 && moves[std::size_t(begin - 1)])) continue;
        int end = begin;
        while (end + 1 < size && moves[std::size_t(end + 1)]) ++end;
        if (end - begin + 1 >= after_frames) {
            if (!all.empty() && begin - before <= all.back().end_seconds)
                all.back().end_seconds = end + after;
            else
                all.push_back({begin - before, end + after});
        } else if (!all.empty()) {
            for (int frame = begin; frame <= end; ++frame)
                if (frame <= all.back().end_seconds) all.back().end_seconds = frame + after;
        }
    }
    return all;
}

TEST(Clips, TimesAreThoseOfTheDefinition) {
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
        const int after_frames = 1 + static_cast<int>(random() % 4);
        const double before = int(random() % 6), after = int(random() % 6);
        const unsigned often = 2 + random() % 8;
        std::vector<bool> moves(120);
        for (std::size_t at = 1; at < moves.size(); ++at)
            moves[at] = random() % often == 0 ? !moves[at - 1] : bool(moves[at - 1]);
        ClipTimes times(before, after);
        std::vector<ClipRange> found;
        double passed = -std::numeric_limits<double>::infinity();
        for (std::size_t at = 0; at < moves.size(); ++at) {
            times.add(double(at), {moves[at], moves[at], after_frames});
            ASSERT_GE(times.horizon_seconds(), passed);
            if (const auto& range = times.range()) {
                if (found.empty() || found.back().begin_seconds != range->begin_seconds) {
                    ASSERT_GE(range->begin_seconds, passed) << "a frame of the range has been passed on before";
                    found.push_back(*range);
                }
                const bool grows = found.back() != *range;
                ASSERT_TRUE(!grows || std::floor(found.back().end_seconds) + 1 >= passed)
                    << "a frame that the range includes now was passed on before, as not wanted";
                found.back() = *range;
            }
            passed = times.horizon_seconds();
        }
        ASSERT_EQ(found, expected_ranges(moves, after_frames, before, after)) << round;
    }
}

// Draws the frame's number as cells in the upper rows, which clips must show.
void draw_number(HostView<std::uint8_t> image, int number) {
    for (int bit = 0; bit < bits; ++bit)
        for (int y = 0; y < cell; ++y)
            std::fill_n(image.row(0, y) + 3 * cell * bit, 3 * cell, std::uint8_t(number >> bit & 1 ? 230 : 20));
}

int number_in(const testing::Bytes& frame) {
    int number = 0;
    for (int bit = 0; bit < bits; ++bit)
        if (frame[std::size_t(3 * (cell / 2 * shape.width + cell * bit + cell / 2))] > 125) number |= 1 << bit;
    return number;
}

// Returns the mean of the rows below the numbers.
double level_of(const testing::Bytes& frame) {
    const auto from = std::size_t(3 * 2 * cell * shape.width);
    double sum = 0;
    for (auto at = from; at < frame.size(); ++at) sum += frame[at];
    return sum / double(frame.size() - from);
}

// Frame of a clip.
struct Filmed {
    int number;
    double level;
};

// Returns the frames of all clips, in the order of their first frames. Expects that nothing else is in the folder.
std::vector<std::vector<Filmed>> clips_in(const std::string& folder) {
    std::vector<std::vector<Filmed>> all;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        EXPECT_EQ(file.path().extension(), "." + usual_clip_ending()) << file.path();
        std::vector<Filmed> clip;
        for (const auto& frame : testing::read_video(file.path().string()).frames)
            clip.push_back({number_in(frame), level_of(frame)});
        EXPECT_FALSE(clip.empty()) << file.path();
        all.push_back(std::move(clip));
    }
    std::ranges::sort(all, {}, [](const auto& clip) { return clip.empty() ? 0 : clip.front().number; });
    return all;
}

// Expects that a clip has the frames from `first` to `last`, each once.
void expect_frames(const std::vector<Filmed>& clip, int first, int last) {
    ASSERT_EQ(static_cast<int>(clip.size()), last - first + 1);
    for (std::size_t at = 0; at < clip.size(); ++at) EXPECT_EQ(clip[at].number, first + static_cast<int>(at));
}

class ClipRecording : public ::testing::Test {
protected:
    // A frame of the stream: what happens in it, and how bright it is.
    struct Sent {
        bool moves = false, signal = true, replaces = false;
        std::uint8_t level = 90;
        bool noisy = false;
    };

    // Records clips of frames at 10 frames per second.
    void record(const std::vector<Sent>& frames, const ClipOptions& options, std::int64_t limit_bytes = 0) {
        ClipRecorder recorder(options, {.name = "door", .shape = shape, .rate = {rate, 1}, .waits = true},
                              {.encoder_threads = 1, .hurry = true, .once_only = true});
        if (limit_bytes > 0) recorder.limit_waiting(limit_bytes);
        std::mt19937 random(3);
        for (int number = 0; number < static_cast<int>(frames.size()); ++number) {
            const auto& frame = frames[std::size_t(number)];
            recorder.add({}, {number, number / double{rate}, Clock::now()}, frame.signal, frame.replaces,
                         [&](HostView<std::uint8_t> picture) {
                             std::fill_n(picture.data(), shape.bytes(), frame.level);
                             if (frame.noisy)
                                 std::generate_n(picture.data(), shape.bytes(), [&] { return std::uint8_t(random()); });
                             draw_number(picture, number);
                         });
            recorder.note({frame.moves, frame.moves, 3});
        }
        recorder.finish();
    }
    static std::vector<Sent> frames(int count, const std::vector<std::pair<int, int>>& moving) {
        std::vector<Sent> all(static_cast<std::size_t>(count));
        for (const auto& [first, last] : moving)
            for (int number = first; number <= last; ++number) all[std::size_t(number)].moves = true;
        return all;
    }
    ClipOptions options(double before, double after, double most = 0) const {
        return {.folder = folder_ / "clips", .before_seconds = before, .after_seconds = after, .most_seconds = most};
    }

    TemporaryFolder folder_;
};

TEST_F(ClipRecording, ClipsBeginBeforeAndEndAfterEvents) {
    // 50 to 69 and 85 to 95 overlap with their surroundings; two frames at 120 are no motion
    record(frames(220, {{50, 69}, {85, 95}, {120, 121}, {150, 160}}), options(2, 1));
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 30, 105);
    expect_frames(clips[1], 130, 170);
}

TEST_F(ClipRecording, NothingBeforeIsNoProblem) {
    record(frames(60, {{1, 5}, {40, 50}}), options(0, 0));
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 1, 5);
    expect_frames(clips[1], 40, 50);
}

TEST_F(ClipRecording, ALongClipGoesOnInAnotherFile) {
    record(frames(200, {{30, 150}}), options(1, 1, 4));
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 4u);
    expect_frames(clips[0], 20, 59);
    expect_frames(clips[1], 60, 99);
    expect_frames(clips[2], 100, 139);
    expect_frames(clips[3], 140, 160);
}

TEST_F(ClipRecording, TheEndOfTheStreamEndsTheClip) {
    record(frames(60, {{50, 59}}), options(2, 5));
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 1u);
    expect_frames(clips[0], 30, 59);
}

// Frames that say "no signal" are in no clip, neither are frames from before them in a later one.
TEST_F(ClipRecording, ALostCameraEndsTheClip) {
    auto all = frames(150, {{50, 79}, {95, 110}});
    for (int number = 80; number < 90; ++number) all[std::size_t(number)].signal = false;
    record(all, options(2, 3));
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 30, 79);
    expect_frames(clips[1], 90, 140);
}

// A hidden area was visible in the frames that wait, so these are not written. The same frames without the request show
// that the test would find them.
TEST_F(ClipRecording, HiddenPicturesAreNotWritten) {
    for (const bool hides : {true, false}) {
        auto all = frames(150, {{50, 120}});
        for (int number = 0; number < 80; ++number) all[std::size_t(number)].level = 200;
        for (int number = 80; number < 150; ++number) all[std::size_t(number)].level = 20;
        all[80].replaces = hides;
        std::filesystem::remove_all(folder_ / "clips");
        record(all, options(2, 1));
        const auto clips = clips_in(folder_ / "clips");
        int last_visible = 0;
        for (const auto& clip : clips)
            for (const auto& frame : clip)
                if (frame.level > 100) last_visible = std::max(last_visible, frame.number);
        if (!hides) {
            EXPECT_EQ(last_visible, 79);
            continue;
        }
        EXPECT_LT(last_visible, 60);
        ASSERT_GE(clips.size(), 1u);
        expect_frames(clips.back(), 80, 130);
        for (const auto& frame : clips.back()) EXPECT_LT(frame.level, 40) << frame.number;
    }
}

TEST_F(ClipRecording, TimesThatJumpBackEndTheClip) {
    ClipRecorder recorder(options(1, 1), {.name = "door", .shape = shape, .rate = {rate, 1}, .waits = true}, {});
    for (int pass = 0; pass < 2; ++pass)
        for (int number = 0; number < 40; ++number) {
            recorder.add({}, {number, number / double{rate}, Clock::now()}, true, false,
                         [&](HostView<std::uint8_t> picture) { draw_number(picture, number + 40 * pass); });
            recorder.note({number >= 30, number >= 30, 3});
        }
    recorder.finish();
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 20, 39);
    expect_frames(clips[1], 60, 79);
}

// The seconds before an event are bounded by bytes, too: clips then begin later, and frames are not lost.
TEST_F(ClipRecording, WaitingFramesAreBounded) {
    record(frames(120, {{80, 90}}), options(5, 1), 30 * shape.bytes());
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 1u);
    const auto first = clips[0].front().number;
    EXPECT_GE(first, 80 - 30);
    EXPECT_LE(first, 80);
    expect_frames(clips[0], first, 100);
}

TEST_F(ClipRecording, EarlierClipsAreNotOverwritten) {
    for (int run = 0; run < 3; ++run) record(frames(40, {{20, 25}}), options(1, 1));
    EXPECT_EQ(clips_in(folder_ / "clips").size(), 3u);
}

TEST_F(ClipRecording, AFolderThatCannotBeMadeIsAnError) {
    testing::write_file(folder_ / "file", "x", 1);
    ClipOptions inside = options(1, 1);
    inside.folder = folder_ / "file/clips";
    std::string words;
    EXPECT_EQ(testing::error_of([&] { record(frames(40, {{20, 25}}), inside); }, &words), ErrorCode::io);
    EXPECT_NE(words.find("file/clips"), std::string::npos) << words;
    EXPECT_EQ(testing::error_of([&] { prepare_clip_folder(inside.folder); }), ErrorCode::io);
}

#ifdef FRAMEWIRE_FFMPEG
// A limit for the size of files stands for a full disk: the clip of noise does not fit, the other ones do.
TEST_F(ClipRecording, AFullDiskLosesOneClip) {
    auto all = frames(240, {{20, 30}, {120, 150}, {200, 210}});
    for (int number = 110; number < 160; ++number) all[std::size_t(number)].noisy = true;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{150'000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string words;
    const auto code = testing::error_of([&] { record(all, options(1, 1)); }, &words);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(code, ErrorCode::io) << words;
    EXPECT_NE(words.find("door-"), std::string::npos) << words;
    std::vector<std::string> parts;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "clips"))
        if (file.path().extension() == ".part") parts.push_back(file.path().string());
    for (const auto& part : parts) std::filesystem::remove(part);
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 10, 40);
    expect_frames(clips[1], 190, 220);
}
#endif

// Whole jobs: a scene with a block that appears at known times.
class ClipJobs : public LiveTest {
protected:
    // Writes 20 s with the block in the frames 50 to 69, 85 to 95 and 150 to 160.
    std::string scene() const {
        const auto path = folder_ / "scene.fwd";
        if (std::filesystem::exists(path)) return path;
        const auto sink = open_sink(path + ":mode=lossless", shape, {rate, 1});
        HostImage image(shape);
        for (int number = 0; number < 200; ++number) {
            std::fill_n(image.view().data(), shape.bytes(), std::uint8_t(90));
            draw_number(image.view(), number);
            const bool moves =
                (number >= 50 && number < 70) || (number >= 85 && number < 96) || (number >= 150 && number < 161);
            for (int y = 50; moves && y < 80; ++y)
                std::fill_n(image.view().row(0, y) + 3 * (20 + number % 20), 90, std::uint8_t(220));
            sink->write(image.view(), {number, number / double{rate}});
        }
        sink->finish();
        return path;
    }
    static DetectorOptions detector() {
        return {.parameters = {.background = FirstFrame{}, .blur_px = 3, .diameter_px = 3, .min_area = 10},
                .region = std::vector<Zone>{{0, 2 * cell, shape.width, shape.height - 2 * cell}}};
    }
    static ZoneSet zones() {
        return ZoneSet::parse(R"({"zones":[{"name":"all","polygon":[[0,0],[1,0],[1,1],[0,1]],"events":["enter"]}]})",
                              "test");
    }
    BroadcastOptions broadcast(codec::Mode mode = codec::Mode::exact) const {
        BroadcastOptions options{
            .job = job(), .input = {.source = scene()}, .encoder = {.mode = mode, .threshold = 10}};
        options.server.listen = {"127.0.0.1", 0};
        options.server.stream = "door";
        options.hurries = true;
        options.detector = detector();
        options.clips = folder_ / "clips:before=2:after=1";
        return options;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(ClipJobs);

TEST_P(ClipJobs, ServeWritesClipsOfMotion) {
    for (const auto mode : {codec::Mode::exact, codec::Mode::bounded, codec::Mode::lossless}) {
        SCOPED_TRACE(to_string(mode));
        std::filesystem::remove_all(folder_ / "clips");
        BroadcastJob(broadcast(mode)).run();
        const auto clips = clips_in(folder_ / "clips");
        ASSERT_EQ(clips.size(), 2u);
        expect_frames(clips[0], 30, 105);
        expect_frames(clips[1], 130, 170);
    }
}

TEST_P(ClipJobs, ServeWritesClipsOfEventsInZones) {
    auto options = broadcast();
    options.event_zones = zones();
    BroadcastJob(options).run();
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    // a track begins, and so an object is inside, some frames after the object has appeared
    EXPECT_NEAR(clips[0].front().number, 30, 5);
    EXPECT_NEAR(clips[1].front().number, 130, 5);

    options = broadcast();
    options.event_zones = ZoneSet::parse(
        R"({"zones":[{"name":"none","polygon":[[0,0],[0.05,0],[0.05,0.05]],"events":["enter"]}]})", "test");
    std::filesystem::remove_all(folder_ / "clips");
    BroadcastJob(options).run();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "clips")) << "motion outside of the zones";
}

// Viewers have the stream refined, which changes the picture between two frames.
TEST_P(ClipJobs, WatchedStreamsHaveTheSameClips) {
    auto options = broadcast(codec::Mode::bounded);
    options.wait_for_viewers = 1;
    options.refine_seconds = 0.2;
    BroadcastJob job(options);
    std::jthread viewer([&] {
        net::Client client(job.address());
        while (client.next()) {
        }
    });
    job.run();
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    expect_frames(clips[0], 30, 105);
    expect_frames(clips[1], 130, 170);
}

TEST_P(ClipJobs, DetectWritesClips) {
    DetectOptions options{.job = job(), .input = {.source = scene()}, .detector = detector()};
    options.output = folder_ / "objects.jsonl";
    options.clips = folder_ / "clips:before=2:after=1";
    const auto result = DetectJob(options).run();
    const auto clips = clips_in(folder_ / "clips");
    ASSERT_EQ(clips.size(), 2u);
    // the range of a cut includes the frame at its end or not
    for (std::size_t at = 0; at < 2; ++at) {
        const int first = at == 0 ? 30 : 130, last = at == 0 ? 105 : 170;
        EXPECT_NEAR(clips[at].front().number, first, 1);
        EXPECT_NEAR(clips[at].back().number, last, 1);
        expect_frames(clips[at], clips[at].front().number, clips[at].back().number);
    }
    EXPECT_EQ(result.clips, (std::vector<std::string>{folder_ / "clips/scene-00h00m03s." + usual_clip_ending(),
                                                      folder_ / "clips/scene-00h00m13s." + usual_clip_ending()}));
}

TEST_P(ClipJobs, DetectRefusesSourcesThatCannotBeReadAgain) {
    DetectOptions options{.job = job(), .input = {.source = "-"}, .detector = detector()};
    options.clips = folder_ / "clips";
    EXPECT_EQ(testing::error_of([&] { DetectJob{options}; }), ErrorCode::usage);
    options.input = {.source = scene(), .loop = true};
    EXPECT_EQ(testing::error_of([&] { DetectJob{options}; }), ErrorCode::usage);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "clips"));
}

TEST_P(ClipJobs, NamesThatLeaveTheFolderAreRefused) {
    auto options = broadcast();
    for (const auto* name : {"../door", "/etc/door", "..", "a/b", "a\nb"}) {
        options.server.stream = name;
        EXPECT_EQ(testing::error_of([&] { BroadcastJob{options}; }), ErrorCode::usage) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "clips"));
}

// No clip shows the hidden half of the picture together with frames in which it is hidden, and none that begins after
// the request shows it at all, although its seconds before the event would.
TEST_P(ClipJobs, MasksThatAreSetLiveHideTheSecondsBefore) {
    auto all = options(codec::Mode::exact, 10);
    auto& camera = all.cameras.front();
    camera.detector = DetectorOptions{.parameters = {.min_area = 10}};
    camera.clips = folder_ / "clips:before=3:after=0.5:most=2";
    all.events.motion.after_frames = 1;
    const service::LiveZone black{service::LiveZone::Kind::privacy, {0, 0, 64, 96}};
    {
        Serving serving(all);
        serving.wait_for_frames(300);
        serving.camera().set_zones({black});
        serving.wait_for_frames(300);
    }
    int visible = 0, masked = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "clips")) {
        int visible_here = 0, masked_here = 0;
        for (const auto& frame : testing::read_video(file.path().string()).frames) {
            double sum = 0;
            for (int y = 8; y < 88; ++y)
                for (int x = 8; x < 56; ++x) sum += frame[std::size_t(3 * (128 * y + x))];
            ++(sum / (80 * 48) < 10 ? masked_here : visible_here);
        }
        EXPECT_TRUE(visible_here == 0 || masked_here == 0) << file.path();
        visible += visible_here;
        masked += masked_here;
    }
    EXPECT_GT(visible, 0);
    EXPECT_GT(masked, 0);
}

}  // namespace
}  // namespace framewire::jobs
