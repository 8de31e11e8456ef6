#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/run.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {
namespace {

class Detect : public JobTest {
protected:
    DetectOptions options(const std::string& source) const {
        return {
            .job = job(),
            .input = {.source = source},
            .detector = {.parameters = {.background = FirstFrame{}, .blur_px = 3, .diameter_px = 3, .min_area = 10}},
            .output = folder_ / "out.jsonl",
            .annotate = folder_ / "boxes.bgr",
            .mask = folder_ / "mask.gray"};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Detect);

TEST_P(Detect, WritesRecordsBoxesAndMasks) {
    DetectJob detect(options(camera()));
    const auto& result = detect.run();
    EXPECT_EQ(result.ending, Ending::complete);
    EXPECT_EQ(result.figures.frames, frames);
    EXPECT_GT(result.objects, 0);
    EXPECT_EQ(result.left_out, 0);
    EXPECT_EQ(lines_in(folder_ / "out.jsonl"), frames);
    const auto boxes = raw_frames(folder_ / "boxes.bgr");
    EXPECT_EQ(boxes.size(), std::size_t{frames});
    EXPECT_FALSE(boxes == camera_frames()) << "boxes are drawn";
    const auto mask = read_file(folder_ / "mask.gray");
    EXPECT_EQ(mask.size(), std::size_t{frames} * width * height);
    EXPECT_GT(std::ranges::count(mask, 255), 0);
    ASSERT_EQ(result.description.filters.size(), 1u);
    EXPECT_EQ(result.description.filters.front().filter, "detect");
}

TEST_P(Detect, TracksAlikeOnEveryBackend) {
    std::vector<Bytes> records;
    for (const bool on_cpu : {false, true}) {
        auto asked = options("synth:size=320x180:objects=3:seed=5:frames=150");
        asked.job.replace = true;
        if (on_cpu) asked.job.backend = BackendChoice::cpu;
        asked.detector.parameters = {};
        asked.detector.tracker = TrackerParameters{};
        asked.trails_seconds = 1;
        DetectJob(asked).run();
        records.push_back(read_file(folder_ / "out.jsonl"));
        records.push_back(read_file(folder_ / "boxes.bgr"));
    }
    const std::string text(records[0].begin(), records[0].end());
    EXPECT_NE(text.find(R"("track":1,"age":)"), text.npos);
    EXPECT_EQ(records[0], records[2]);
    EXPECT_EQ(records[1], records[3]);
}

// More frames than a ring has slots, from a camera that moves by whole pixels: objects are found where they are in the
// frames, and on every backend alike.
TEST_P(Detect, StabilisesTheCamera) {
    static constexpr int count = 150, range = 4, shaking = 60;
    const Shape shape{1, 120, 200, 3}, wide{count, 120 + 2 * range, 200 + 2 * range, 3};
    HostImage scene(wide.with_frames(1));
    kit::fill(scene.view(), kit::Fill::noise, 3);
    // The scene's blocks of 5 px have random gray values; an object of 40x30 pixels passes again and again. The camera
    // begins to shake when the background has been learnt.
    Bytes camera;
    const auto object_at = [](int frame) { return std::pair(10 + frame * 6 % 150, 30 + frame / 4); };
    const auto camera_at = [](int frame) {
        constexpr int places = 2 * range + 1;
        return frame < shaking ? std::pair(range, range) : std::pair(frame * 3 % places, frame * 5 % places);
    };
    for (int frame = 0; frame < count; ++frame) {
        const auto [dx, dy] = camera_at(frame);
        const auto [left, top] = object_at(frame);
        for (int y = dy; y < shape.height + dy; ++y)
            for (int x = dx; x < shape.width + dx; ++x)
                for (int channel = 0; channel < 3; ++channel) {
                    const bool object = frame > 20 && x >= left && x < left + 40 && y >= top && y < top + 30;
                    const int gray = 60 + scene.view().row(0, y / 5)[x / 5] / 3;
                    camera.push_back(static_cast<std::uint8_t>(object ? 250 - channel : gray));
                }
    }
    write_file(folder_ / "shaken.bgr", camera.data(), camera.size());
    std::vector<Bytes> masks;
    for (const auto& [stabilise, on_cpu] : {std::pair(true, false), std::pair(true, true), std::pair(false, true)}) {
        auto asked = options(fmt::format("raw:{}:size=200x120:fps=25:format=bgr", folder_ / "shaken.bgr"));
        asked.job.replace = true;
        if (on_cpu) asked.job.backend = BackendChoice::cpu;
        asked.detector.parameters = {.stabilise = stabilise};
        DetectJob(asked).run();
        masks.push_back(read_file(folder_ / "mask.gray"));
    }
    EXPECT_EQ(masks[0], masks[1]);
    // Returns pixels of the late masks that are set outside of the object or not set inside of it.
    const auto wrong = [&](const Bytes& mask) {
        std::int64_t pixels = 0;
        for (int frame = shaking; frame < count; ++frame) {
            const auto [left, top] = object_at(frame);
            const auto [dx, dy] = camera_at(frame);
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const bool object = x >= left - dx && x < left - dx + 40 && y >= top - dy && y < top - dy + 30;
                    pixels +=
                        object != (mask[static_cast<std::size_t>((frame * shape.height + y) * shape.width + x)] > 0);
                }
        }
        return pixels / (count - shaking);
    };
    EXPECT_LT(wrong(masks[0]), 250) << "pixels per frame, of 1200 in the object";
    EXPECT_GT(wrong(masks[2]), 2000);
}

TEST_P(Detect, TrailsNeedATracker) {
    auto asked = options(camera());
    asked.trails_seconds = 1;
    EXPECT_THROW(DetectJob{asked}, Error);
}

// Events in the records are those of the job's count, pair up, and refer to boxes inside the frame. Without zones the
// records have no such member.
TEST_P(Detect, WritesEventsInZones) {
    auto asked = options(camera());
    asked.zones = ZoneSet::parse(R"({"zones":[{"name":"all","polygon":[[0,0],[1,0],[1,1],[0,1]]},
        {"name":"middle","line":[[0.5,0],[0.5,1]]}],"hysteresis":0.02})",
                                 "zones");
    DetectJob detect(asked);
    const auto events = detect.run().events;
    EXPECT_GT(events, 0);
    std::ifstream records(folder_ / "out.jsonl");
    std::int64_t found = 0;
    std::map<std::int64_t, int> inside;
    for (std::string line; std::getline(records, line);) {
        const auto record = nlohmann::json::parse(line);
        for (const auto& event : record.at("events")) {
            ++found;
            if (event["zone"] != "all") continue;
            const int entered = inside[event["track"].get<std::int64_t>()] += event["event"] == "enter" ? 1 : -1;
            EXPECT_TRUE(entered == 0 || entered == 1) << event;
        }
    }
    EXPECT_EQ(found, events);
    EXPECT_FALSE(inside.empty());

    // Zones alone mean the default tracker, and records name the same tracks as events.
    const auto with_zones = read_file(folder_ / "out.jsonl");
    asked.job.replace = true;
    asked.detector.tracker = TrackerParameters{};
    DetectJob(asked).run();
    EXPECT_EQ(read_file(folder_ / "out.jsonl"), with_zones);
    const std::string text(with_zones.begin(), with_zones.end());
    for (const auto& [track, count] : inside)
        EXPECT_NE(text.find("\"track\":" + std::to_string(track) + ",\"age\":"), text.npos) << track;

    asked.zones = {};
    EXPECT_EQ(DetectJob(asked).run().events, 0);
    const auto bytes = read_file(folder_ / "out.jsonl");
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()).find("events"), std::string::npos);
}

TEST_P(Detect, RefusesZonesWithoutJsonLines) {
    auto asked = options(camera());
    const EventZone line{.name = "a", .points = {{0, 0}, {1, 1}}, .cross = true};
    asked.zones = ZoneSet({&line, 1});
    asked.format = RecordFormat::mot;
    asked.output = folder_ / "out.txt";
    EXPECT_THROW(files_of(asked), Error);
}

// Annotated frames need the whole image. Without annotation, the detector reads a file's rows as it needs them.
TEST_P(Detect, FindsTheSameObjectsWithoutAnnotation) {
    testing::write_video(folder_ / "frames.bgr", {1, height, width, 3}, camera_frames());
    for (const bool classifies : {false, true}) {
        std::vector<Bytes> records, masks;
        for (const bool whole : {true, false}) {
            auto asked = options(fmt::format("raw:{}:size={}x{}", folder_ / "frames.bgr", width, height));
            asked.job.replace = true;
            if (classifies) asked.detector.parameters = {.min_area = 10};
            if (!whole) asked.annotate.clear();
            DetectJob detect(asked);
            EXPECT_GT(detect.run().objects, 0);
            records.push_back(read_file(folder_ / "out.jsonl"));
            masks.push_back(read_file(folder_ / "mask.gray"));
        }
        EXPECT_EQ(records[0], records[1]);
        EXPECT_EQ(masks[0], masks[1]);
    }
}

TEST_P(Detect, StepsAndLabelsMatchTheResults) {
    for (const bool classifies : {false, true}) {
        auto asked = options(camera());
        asked.job.replace = true;
        if (classifies) asked.detector.parameters = {.min_area = 10};
        asked.labels = folder_ / "labels.npy";
        asked.steps = {.folder = folder_ / (classifies ? "adaptive" : "report"), .format = "png"};
        DetectJob detect(asked);
        ASSERT_GT(detect.run().objects, 0);
        const auto mask = read_file(folder_ / "mask.gray");
        const auto cleaned = read_video(asked.steps.folder + "/morphology%06d.png").frames;
        ASSERT_EQ(cleaned.size(), std::size_t{frames});
        for (std::size_t frame = 0; frame < cleaned.size(); ++frame)
            EXPECT_TRUE(std::ranges::equal(
                cleaned[frame], std::span(mask).subspan(frame * width * height, std::size_t{width} * height)));
        for (const char* name : {"background", "threshold", "labels"})
            EXPECT_EQ(read_video(asked.steps.folder + "/" + name + "%06d.png").frames.size(), std::size_t{frames});
        EXPECT_EQ(std::filesystem::exists(asked.steps.folder + "/gray000000.png"), !classifies);

        // int32 labels after the header. Each object has as many pixels as its record says.
        const auto file = read_file(asked.labels);
        constexpr std::size_t pixels = std::size_t{frames} * width * height;
        ASSERT_GT(file.size(), 4 * pixels);
        std::vector<std::int32_t> labels(pixels);
        std::memcpy(labels.data(), file.data() + (file.size() - 4 * pixels), 4 * pixels);
        std::int64_t area = 0;
        const auto records = read_file(asked.output);
        const std::string_view text(reinterpret_cast<const char*>(records.data()), records.size());
        for (auto at = text.find("\"area\":"); at != text.npos; at = text.find("\"area\":", at + 1))
            area += std::stoll(std::string(text.substr(at + 7, 12)));
        EXPECT_EQ(std::ranges::count_if(labels, [](auto label) { return label > 0; }), area);
    }
}

// If no image is needed, the detector reads the decoder's planes directly.
TEST_P(Detect, FindsTheSameObjectsInDecodedPlanes) {
    const auto video = folder_ / "film.y4m";
    RunJob({.job = job(), .input = {.source = camera()}, .output = video + ":pixels=yuv420p"}).run();
    for (const char* filters : {"", "flip"}) {
        SCOPED_TRACE(filters);
        auto asked = options(video);
        asked.job.replace = true;
        asked.input.filters = filters;
        asked.detector.parameters = {.min_area = 10};
        EXPECT_GT(DetectJob(asked).run().objects, 0);
        const auto records = read_file(asked.output), mask = read_file(asked.mask);
        asked.annotate = "";
        DetectJob(asked).run();
        EXPECT_EQ(read_file(asked.output), records);
        EXPECT_EQ(read_file(asked.mask), mask);
    }
}

TEST_P(Detect, WritesLabelsAs16BitPng) {
    auto asked = options(camera());
    asked.labels = folder_ / "labels%04d.png";
    DetectJob(asked).run();
    const auto image = read_file(folder_ / "labels0011.png");
    ASSERT_GT(image.size(), 26u);
    EXPECT_EQ(image[24], 16) << "bits";
    EXPECT_EQ(image[25], 0) << "gray";

    asked.job.replace = true;
    asked.labels = folder_ / "labels.png";
    EXPECT_EQ(error_of([&] { DetectJob(asked).run(); }), ErrorCode::usage) << "many frames for one image";
    asked.labels = folder_ / "labels.tif";
    EXPECT_EQ(error_of([&] { DetectJob{asked}; }), ErrorCode::usage);
    asked.labels = "";
    asked.steps = {.folder = folder_ / "steps", .format = "gif"};
    EXPECT_EQ(error_of([&] { DetectJob{asked}; }), ErrorCode::usage);
}

TEST_P(Detect, DetectsOnlyInTheRegion) {
    auto everywhere = options(camera());
    everywhere.annotate = everywhere.mask = "";
    const auto all = DetectJob(everywhere).run().objects;
    auto corner = everywhere;
    corner.output = folder_ / "corner.jsonl";
    corner.detector.region = std::vector<Zone>{{0, 0, 4, 4}};
    EXPECT_LT(DetectJob(corner).run().objects, all);
}

TEST_P(Detect, WritesRecordsBeforeAFailure) {
    DetectJob detect(options(broken_source(5)));
    EXPECT_EQ(error_of([&] { detect.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(detect.result().ending, Ending::broken_off);
    EXPECT_EQ(lines_in(folder_ / "out.jsonl"), 5);
    EXPECT_EQ(raw_frames(folder_ / "boxes.bgr").size(), 5u);
}

TEST_P(Detect, RejectsTwoOutputsOnStandardOutput) {
    auto two = options(camera());
    two.output = two.mask = "-";
    EXPECT_EQ(error_of([&] { DetectJob detect(two); }), ErrorCode::usage);
}

}  // namespace
}  // namespace framewire::jobs
