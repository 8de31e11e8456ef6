#include "framewire/jobs/find.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace framewire::jobs {
namespace {

constexpr int scene_width = 256, scene_height = 128, rate = 10;
constexpr int events = 40;
constexpr double event_every_s = 8;

// An object that crosses a part of the picture.
struct Event {
    double begin, seconds;
    int x, y, size;
    double speed;  // pixels per second
    std::uint8_t level;
};

// Returns known events: objects of different sizes, speeds and contrasts.
std::vector<Event> known_events() {
    std::mt19937 random(11);
    const auto from = [&](int least, int most) { return least + static_cast<int>(random() % (most - least + 1u)); };
    std::vector<Event> all;
    for (int number = 0; number < events; ++number) {
        const int size = from(16, 40);
        const double seconds = from(15, 35) * 0.1;
        all.push_back({event_every_s * number + 3 + 0.1 * from(0, 10), seconds, from(0, 60),
                       from(0, scene_height - size), size, from(20, 60) * 1.0,
                       static_cast<std::uint8_t>(number % 2 ? from(10, 30) : from(215, 240))});
    }
    return all;
}

// Draws a frame of a static scene with the objects of this moment and noise from -4 to 4.
void draw(HostView<std::uint8_t> image, double seconds, const std::vector<Event>& all, std::mt19937& random) {
    static const auto noise = [] {
        std::vector<int> values(1 << 16);
        std::mt19937 generator(13);
        for (auto& value : values) value = static_cast<int>(generator() % 5 + generator() % 5) - 4;
        return values;
    }();
    std::vector<Event> shown;
    std::ranges::copy_if(all, std::back_inserter(shown), [&](const Event& event) {
        return seconds >= event.begin && seconds < event.begin + event.seconds;
    });
    for (int y = 0; y < scene_height; ++y) {
        std::array<int, scene_width> levels;
        for (int x = 0; x < scene_width; ++x) levels[static_cast<std::size_t>(x)] = 90 + (x / 16 + y / 16) % 3 * 25;
        for (const auto& event : shown) {
            if (y < event.y || y >= event.y + event.size) continue;
            const int left = event.x + static_cast<int>(event.speed * (seconds - event.begin));
            for (int x = left; x < std::min(left + event.size, scene_width); ++x)
                levels[static_cast<std::size_t>(x)] = event.level;
        }
        const auto* of_row = noise.data() + random() % (noise.size() - 3 * scene_width);
        auto* row = image.row(0, y);
        for (int i = 0; i < 3 * scene_width; ++i)
            row[i] = static_cast<std::uint8_t>(std::clamp(levels[static_cast<std::size_t>(i / 3)] + of_row[i], 0, 255));
    }
}

// Returns the path of the scene's recording in a mode, which is written when it is first needed.
std::string recording(const std::string& mode) {
    static const TemporaryFolder folder;
    const std::string path = folder / (mode + ".fwd");
    if (std::filesystem::exists(path)) return path;
    const Shape shape{1, scene_height, scene_width, 3};
    const auto sink = open_sink(path + ":mode=" + mode, shape, {rate, 1}, {.encoder_threads = 1});
    HostImage image(shape);
    std::mt19937 random(12);
    const auto all = known_events();
    for (int frame = 0; frame < static_cast<int>(events * event_every_s * rate); ++frame) {
        const double seconds = frame / double{rate};
        draw(image.view(), seconds, all, random);
        sink->write(image.view(), {frame, seconds});
    }
    sink->finish();
    return path;
}

// A recording is searched on the CPU, whatever the machine has.
class FindByChanges : public ::testing::Test {
protected:
    FindOptions options(const std::string& source) const {
        // A history of 6 s, so that the background of an event is learnt after the event before.
        return {.job = {.backend = BackendChoice::automatic, .threads = 2},
                .input = {.source = source},
                .detector = {.parameters = {.background = MixtureParameters{.history = 60}}}};
    }
    // Decodes every frame: a limit on the frames rules out reading the changes alone.
    FindOptions decoding(const std::string& source) const {
        auto all = options(source);
        all.job.backend = BackendChoice::cpu;
        all.job.frames = 1'000'000;
        return all;
    }

    TemporaryFolder folder_;
};

// Expects the same events within a second.
void expect_same(const std::vector<MotionRange>& found, const std::vector<MotionRange>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i].begin_seconds, expected[i].begin_seconds, 1) << i;
        EXPECT_NEAR(found[i].end_seconds, expected[i].end_seconds, 1) << i;
    }
}

// The recording's changes lead to the same events as decoding the source and looking at every frame: in lossless
// recordings, where objects add less to a block than its noise, and in bounded ones, where they leave traces.
TEST_F(FindByChanges, FindsTheSameEventsAsTheDetectorOnTheSource) {
    FindJob every(decoding(recording("lossless")));
    const auto& expected = every.run();
    EXPECT_FALSE(expected.from_changes);
    const auto known = known_events();
    ASSERT_EQ(expected.ranges.size(), known.size());
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(expected.ranges[i].begin_seconds, known[i].begin, 1);
    for (const std::string mode : {"exact", "bounded", "lossless"}) {
        SCOPED_TRACE(mode);
        FindJob find(options(recording(mode)));
        const auto& found = find.run();
        EXPECT_TRUE(found.from_changes);
        EXPECT_EQ(found.figures.frames, expected.figures.frames);
        expect_same(found.ranges, expected.ranges);
    }
}

TEST_F(FindByChanges, DecodesOnlyWhereMoreChanges) {
    auto first = options(recording("exact"));
    // The zone contains no object after the first one, whose block it is.
    const auto event = known_events().front();
    first.detector.region = std::vector<Zone>{{event.x, event.y, 60, event.size}};
    FindJob find(first);
    const auto& found = find.run();
    ASSERT_FALSE(found.ranges.empty());
    EXPECT_NEAR(found.ranges.front().begin_seconds, event.begin, 1);
    EXPECT_LT(found.decoded_frames, found.figures.frames);
}

TEST_F(FindByChanges, ZonesAndRulesAreThoseOfTheDetector) {
    for (const int area : {100, 200}) {
        const auto with = [&](FindOptions all) {
            all.detector.region = std::vector<Zone>{{0, 0, scene_width, scene_height / 2}};
            all.detector.parameters.min_area = area;
            all.rules = {.after_frames = 5, .gap_seconds = 1, .min_seconds = 0.5};
            FindJob find(all);
            return find.run().ranges;
        };
        const auto expected = with(decoding(recording("lossless")));
        EXPECT_GT(expected.size(), 1u);
        EXPECT_LT(expected.size(), std::size_t{events});
        expect_same(with(options(recording("exact"))), expected);
    }
}

// A truncated recording is searched up to its end before the error.
TEST_F(FindByChanges, KeepsWhatIsReadOfATruncatedRecording) {
    const auto path = folder_ / "cut.fwd";
    std::filesystem::copy_file(recording("exact"), path);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    FindJob whole(options(recording("exact"))), cut(options(path));
    const auto expected = whole.run().ranges;
    EXPECT_THROW(cut.run(), Error);
    const auto& found = cut.result().ranges;
    EXPECT_GT(found.size(), 10u);
    ASSERT_LT(found.size(), expected.size());
    for (std::size_t i = 0; i + 1 < found.size(); ++i)
        EXPECT_NEAR(found[i].begin_seconds, expected[i].begin_seconds, 1);
}

TEST_F(FindByChanges, ClipsContainTheSecondsAround) {
    const auto all = options(recording("exact"));
    FindJob find(all);
    const auto& found = find.run();
    ASSERT_GT(found.ranges.size(), 1u);
    const auto& range = found.ranges[1];
    const auto run = clip_of(all, found, range, {.folder = folder_ / "", .before_seconds = 1, .after_seconds = 0.5});
    EXPECT_TRUE(run.output.ends_with(".fwd")) << run.output;
    RunJob clip(run);
    const auto count = clip.run().figures.frames;
    EXPECT_NEAR(static_cast<double>(count) / rate, range.end_seconds - range.begin_seconds + 1.5, 0.21);
}

// An object that stops is found for as long as an adaptive background keeps it, in seconds at the recording's rate,
// also if only the parts of a recording that change are searched.
TEST_F(FindByChanges, FollowsAnObjectThatStopsForAsLongAsItIsKept) {
    constexpr double comes = 12, stops = 14, length = 85;
    // It moves from column 20 to column 100.
    const std::vector<Event> object{{comes, stops - comes, 20, 40, 30, 40, 230}, {stops, length, 100, 40, 30, 0, 230}};
    const auto path = folder_ / "stopping.fwd";
    const Shape shape{1, scene_height, scene_width, 3};
    const auto sink = open_sink(path + ":mode=exact", shape, {rate, 1}, {.encoder_threads = 1});
    HostImage image(shape);
    std::mt19937 random(5);
    for (int frame = 0; frame < static_cast<int>(length * rate); ++frame) {
        draw(image.view(), frame / double{rate}, object, random);
        sink->write(image.view(), {frame, frame / double{rate}});
    }
    sink->finish();
    for (const double keep : {5.0, 63.0}) {
        SCOPED_TRACE(keep);
        auto all = options(path), every = decoding(path);
        for (auto* each : {&all, &every})
            each->detector.parameters.background = AdaptiveParameters{.keep_seconds = keep};
        FindJob find(all), decode(every);
        const auto &found = find.run(), &expected = decode.run();
        EXPECT_TRUE(found.from_changes);
        ASSERT_EQ(expected.ranges.size(), 1u);
        EXPECT_NEAR(expected.ranges[0].end_seconds, stops + keep, 3);
        expect_same(found.ranges, expected.ranges);
    }
}

// Other sources are decoded on the chosen backend.
class Find : public JobTest {};

FRAMEWIRE_ON_EVERY_BACKEND(Find);

TEST_P(Find, SearchesOtherSourcesWithTheDetector) {
    FindOptions all{.job = job(), .input = {.source = camera()}};
    all.detector.parameters = {.background = FirstFrame{}, .blur_px = 3, .diameter_px = 3, .min_area = 10};
    all.rules = {.after_frames = 1, .gap_seconds = 1};
    FindJob find(all);
    const auto& found = find.run();
    EXPECT_FALSE(found.from_changes);
    EXPECT_EQ(found.decoded_frames, JobTest::frames);
    EXPECT_FALSE(found.ranges.empty());
}

}  // namespace
}  // namespace framewire::jobs
