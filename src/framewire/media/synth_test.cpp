#include "framewire/media/synth.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/synth_noise.hpp"
#include "framewire/plan/frame.hpp"
#include "kit/filter_check.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace framewire {
namespace {

using namespace testing;

std::uint64_t checksum(const std::vector<Bytes>& frames) {
    std::uint64_t sum = 14695981039346656037u;  // FNV-1a
    for (const auto& frame : frames)
        for (const auto byte : frame) sum = (sum ^ byte) * 1099511628211u;
    return sum;
}

std::vector<nlohmann::json> read_lines(const std::string& path) {
    std::ifstream file(path);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
}

TEST(Arithmetic, ComputesSinesRootsAndQuotients) {
    using namespace synth;
    for (int turn = 0; turn < 65536; turn += 97)
        EXPECT_NEAR(static_cast<double>(sine(turn)) / 4096, std::sin(turn * 2 * 3.14159265358979 / 65536), 0.002)
            << turn;
    for (const std::int64_t value : {0LL, 1LL, 2LL, 3LL, 4LL, 99LL, 100LL, 1'000'000LL, (1LL << 60) - 1}) {
        const auto root = square_root(value);
        EXPECT_LE(root * root, value);
        EXPECT_GT((root + 1) * (root + 1), value);
    }
    EXPECT_EQ(floor_divide(-1, 16), -1);
    EXPECT_EQ(floor_divide(-16, 16), -1);
    EXPECT_EQ(floor_divide(-17, 16), -2);
    EXPECT_EQ(floor_divide(17, 16), 1);
}

TEST(Noise, HasTheRequestedDeviationAndNoBias) {
    const Shape shape{1, 400, 400, 3};
    const Bytes gray(static_cast<std::size_t>(shape.bytes()), 128);
    for (const int sigma : {1, 6, 20}) {
        HostImage image(shape);
        synth::SensorNoise(3, sigma * 1000).add(view_of(gray, shape), 5, image.view());
        double sum = 0, squares = 0;
        for (std::int64_t at = 0; at < shape.bytes(); ++at) {
            const double difference = image.view().data()[at] - 128.0;
            sum += difference;
            squares += difference * difference;
        }
        const auto count = static_cast<double>(shape.bytes());
        EXPECT_NEAR(sum / count, 0, 0.02 * sigma + 0.01);
        EXPECT_NEAR(std::sqrt(squares / count), std::sqrt(sigma * sigma + 1.0 / 12), 0.02 * sigma);
    }
}

class SynthOnBackends : public kit::BackendTest {};
FRAMEWIRE_ON_EVERY_BACKEND(SynthOnBackends);

// The sizes include odd widths, and GPU memory has its own strides.
TEST_P(SynthOnBackends, CapturedFramesMatchReadFrames) {
    auto& executor = kit::executor(GetParam());
    for (const auto* text : {"synth:size=321x181:frames=90:objects=9", "synth:size=64x48:noise=0:objects=3:frames=40",
                             "synth:size=1x1:frames=2", "synth:size=320x180:fps=2:objects=40:frames=30"}) {
        SCOPED_TRACE(text);
        const auto read = open_source(text), captured = open_source(text);
        const auto& shape = read->info().shape;
        HostImage want(shape);
        Frame frame(shape, executor);
        FrameTime time, time_captured;
        int number = 0;
        for (; read->read(want.view(), time); ++number) {
            // Read some frames on the host in between, which leaves the picture on the GPU outdated.
            if (number % 7 == 3) {
                ASSERT_TRUE(captured->read(frame.fill_on_host(), time_captured));
            } else {
                ASSERT_TRUE(captured->capture(frame, time_captured));
                EXPECT_EQ(frame.filled_on_gpu(), GetParam() == Backend::cuda);
                frame.upload();
                if (frame.filled_on_gpu()) frame.download();
                frame.wait();
            }
            ASSERT_EQ(kit::first_difference(std::as_const(frame).host(), std::as_const(want).view()), std::nullopt)
                << "frame " << number;
            EXPECT_EQ(time_captured.index, time.index);
        }
        EXPECT_GT(number, 1);
        EXPECT_FALSE(captured->capture(frame, time_captured));
    }
}

// The hash is the same on every machine; a deliberate change of the picture changes it.
TEST(Synth, IsReproducible) {
    const auto reading = read_video("synth:size=320x180:frames=60");
    EXPECT_EQ(reading.frames.size(), 60U);
    EXPECT_EQ(reading.info.shape, (Shape{1, 180, 320, 3}));
    EXPECT_EQ(reading.info.frames, 60);
    EXPECT_FALSE(reading.info.live);
    EXPECT_EQ(checksum(reading.frames), 157916234000820818u);
    EXPECT_EQ(checksum(read_video("synth:size=320x180:frames=60").frames), checksum(reading.frames));
    EXPECT_NE(checksum(read_video("synth:size=320x180:frames=60:seed=2").frames), checksum(reading.frames));
}

TEST(Synth, IsStaticWithoutObjectsAndNoise) {
    const auto reading = read_video("synth:size=97x61:noise=0:objects=0:frames=5:fps=50");
    ASSERT_EQ(reading.frames.size(), 5U);
    for (const auto& frame : reading.frames) EXPECT_EQ(frame, reading.frames[0]);
    EXPECT_DOUBLE_EQ(reading.times[4].seconds, 0.08);
    // The picture must not be a plain surface: it has many colours, both dark and bright.
    std::set<std::uint8_t> values(reading.frames[0].begin(), reading.frames[0].end());
    EXPECT_GT(values.size(), 128U);
}

TEST(Synth, WritesGroundTruthBoxesOfMovingObjects) {
    const TemporaryFolder folder;
    const auto reading =
        read_video("synth:size=320x180:noise=0:objects=5:fps=10:frames=80:truth=" + (folder / "truth.jsonl"));
    const auto lines = read_lines(folder / "truth.jsonl");
    ASSERT_EQ(reading.frames.size(), 80U) << reading.message;
    ASSERT_EQ(lines.size(), 80U);
    const auto& empty_room = reading.frames[0];
    EXPECT_TRUE(lines[0]["objects"].empty()) << "the first frame is the background";
    std::set<int> ids;
    for (std::size_t number = 0; number < lines.size(); ++number) {
        const auto& line = lines[number];
        EXPECT_EQ(line["frame"], number);
        EXPECT_NEAR(line["time"].get<double>(), static_cast<double>(number) / 10, 1e-6);
        EXPECT_EQ(line["width"], 320);
        EXPECT_EQ(line["height"], 180);
        Bytes inside(320 * 180, 0);
        for (const auto& object : line["objects"]) {
            ids.insert(object["id"].get<int>());
            const int x = object["box"][0], y = object["box"][1], w = object["box"][2], h = object["box"][3];
            ASSERT_TRUE(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= 320 && y + h <= 180) << line;
            EXPECT_LE(object["area"].get<int>(), w * h);
            EXPECT_GE(object["centroid"][0].get<double>(), x);
            EXPECT_LE(object["centroid"][0].get<double>(), x + w);
            EXPECT_GE(object["centroid"][1].get<double>(), y);
            EXPECT_LE(object["centroid"][1].get<double>(), y + h);
            for (int row = y; row < y + h; ++row)
                for (int column = x; column < x + w; ++column) inside[static_cast<std::size_t>(row * 320 + column)] = 1;
        }
        // All pixels that differ from the empty room by more than the detector's threshold must be inside a box.
        int outside = 0, changed = 0;
        for (std::size_t pixel = 0; pixel < inside.size(); ++pixel) {
            int difference = 0;
            for (std::size_t channel = 0; channel < 3; ++channel)
                difference = std::max(difference, std::abs(reading.frames[number][pixel * 3 + channel] -
                                                           empty_room[pixel * 3 + channel]));
            if (difference <= 20) continue;
            ++changed;
            outside += !inside[pixel];
        }
        EXPECT_LE(outside, changed / 50) << "frame " << number;  // edge pixels that are partly covered
        EXPECT_GE(changed, line["objects"].empty() ? 0 : 1) << "frame " << number;
    }
    EXPECT_EQ(ids, (std::set<int>{1, 2, 3, 4, 5}));
}

TEST(Synth, TruthFileAppearsWhenTheSourceIsClosed) {
    const TemporaryFolder folder;
    {
        const auto source = open_source("synth:size=16x16:truth=" + (folder / "t.jsonl"));
        HostImage image(source->info().shape);
        FrameTime time;
        for (int frame = 0; frame < 3; ++frame) ASSERT_TRUE(source->read(image.view(), time));
        EXPECT_FALSE(std::filesystem::exists(folder / "t.jsonl"));
        EXPECT_FALSE(source->info().frames);
    }
    EXPECT_EQ(read_lines(folder / "t.jsonl").size(), 3U);
    EXPECT_EQ(read_video("synth:size=16x16:truth=" + (folder / "no/t.jsonl")).error, ErrorCode::io);
}

TEST(Synth, AcceptsAnySize) {
    for (const auto* size : {"1x1", "1x200", "200x1", "2x3", "333x17", "17x333"}) {
        const auto reading = read_video(fmt::format("synth:size={}:objects=64:frames=40:fps=2", size));
        EXPECT_FALSE(reading.error) << size << reading.message;
        EXPECT_EQ(reading.frames.size(), 40U);
    }
}

TEST(Synth, RejectsInvalidParameters) {
    for (const auto* text : {"synth:sice=1x1", "synth:size=0x0", "synth:noise=51", "synth:noise=-1", "synth:objects=65",
                             "synth:fps=0", "synth:frames=0", "synth:seed=x", "synth:size"})
        EXPECT_EQ(error_of([&] { open_source(text); }), ErrorCode::usage) << text;
    EXPECT_EQ(error_of([&] { open_source("synth:size=100x100", {.max_pixels = 9'999}); }), ErrorCode::usage);
}

}  // namespace
}  // namespace framewire
