#include "framewire/media/sinks/sink_registry.hpp"

#include "framewire/media/media_testing.hpp"

#include <filesystem>
#include <set>

namespace framewire {
namespace sink_registry_test {

using namespace testing;

std::string refusal(const std::string& text) {
    std::string message;
    EXPECT_EQ(error_of([&] { parse_sink(text); }, &message), ErrorCode::usage) << text;
    return message;
}

TEST(SinkRegistry, EveryKindHasAHelpTextAndUniqueExtensions) {
    std::set<std::string_view> names, endings;
    for (const auto& kind : sink_registry()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_FALSE(kind.summary.empty()) << kind.name;
        for (const auto ending : kind.endings) EXPECT_TRUE(endings.insert(ending).second) << ending;
        for (const auto& parameter : kind.parameters) EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    }
}

TEST(SinkRegistry, FindsKindsByExtensionAndUrl) {
    const auto kind = [](const std::string& text) { return parse_sink(text).kind->name; };
    for (const auto* text : {"a.mp4", "A.MP4", "b.MoV", "c.webm", "d.ts", "e.GIF", "f.mkv", "g.avi", "h.m4v"})
        EXPECT_EQ(kind(text), "video") << text;
    for (const auto* text : {"a.jpg", "a.JPEG", "a%d.webp"}) EXPECT_EQ(kind(text), "image") << text;
    for (const auto* text : {"a.tif", "a.TIFF", "a.bmp"}) EXPECT_EQ(kind(text), "lossless image") << text;
    EXPECT_EQ(kind("a.PNG"), "png");
    EXPECT_EQ(kind("a.Y4M"), "y4m");
    EXPECT_EQ(kind("a.BGR"), "raw");
    EXPECT_EQ(kind("a.M3U8"), "hls");
    EXPECT_EQ(kind("-"), "stdout");
    EXPECT_EQ(kind("rtsp://host:8554/a.mp4"), "network");
    EXPECT_EQ(parse_sink("A.MP4").ending, ".mp4");
}

TEST(SinkRegistry, ParsesParametersAfterThePath) {
    const auto call = parse_sink("out.mp4:codec=libx265:crf=18.5:preset=slow");
    EXPECT_EQ(call.path, "out.mp4");
    EXPECT_EQ(call.values.text("codec"), "libx265");
    EXPECT_EQ(call.values.real("crf"), 18.5);
    EXPECT_EQ(call.values.text("preset"), "slow");
    EXPECT_FALSE(call.values.has("bitrate"));
    const auto address = parse_sink("rtsp://me:secret@host:8554/a:b=c:codec=libx265");
    EXPECT_EQ(address.path, "rtsp://me:secret@host:8554/a:b=c");
    EXPECT_EQ(address.values.text("codec"), "libx265");
}

TEST(SinkRegistry, KeepsColonsInPaths) {
    for (const auto* text : {"a:b.mp4", "10:30:00.mkv", "a:crf=1.mp4", "dir:x=y/out.mp4", "c:/a.avi"})
        EXPECT_EQ(parse_sink(text).path, text);
    EXPECT_EQ(parse_sink("10:30.mkv:crf=4").path, "10:30.mkv");
    EXPECT_EQ(parse_sink("file://a.mp4:crf=1.mp4").path, "a.mp4:crf=1.mp4") << "all of it is the path";
    EXPECT_EQ(parse_sink("file:///tmp/a.mp4").path, "/tmp/a.mp4");
}

TEST(SinkRegistry, SuggestsTheNearestName) {
    EXPECT_EQ(
        refusal("a.mp4:crt=18"),
        "a.mp4 has no parameter 'crt'; its parameters are codec, crf, bitrate, preset, tune, gop, pixels; did you "
        "mean 'crf'?");
    EXPECT_NE(refusal("a.mp4:crf=x").find("a.mp4: crf 'x' is no number"), std::string::npos);
    EXPECT_NE(refusal("a.jpg:quality=0").find("out of range"), std::string::npos);
    EXPECT_NE(refusal("a.txt").find("known are .mp4"), std::string::npos);
    EXPECT_NE(refusal("").find("known are .mp4"), std::string::npos);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(SinkRegistry, RejectsEncodersWithAReason) {
    const TemporaryFolder folder;
    const Shape shape{1, 48, 64, 3};
    std::string message;
    const auto code_of = [&](const std::string& text) {
        return error_of([&] { open_sink(folder / text, shape, {25, 1}); }, &message);
    };
    EXPECT_EQ(code_of("a.mp4:codec=libx246"), ErrorCode::usage);
    EXPECT_NE(message.find("did you mean 'libx264'"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.mp4:codec=libvpx"), ErrorCode::usage);
    EXPECT_NE(message.find("mp4 does not take libvpx"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.avi:crf=4"), ErrorCode::usage);
    EXPECT_NE(message.find("mjpeg has no crf"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.avi:preset=slow"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:preset=slwo"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:pixels=bgr24"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:crf=3:bitrate=1000000"), ErrorCode::usage);
    EXPECT_TRUE(folder.names().empty());
}

TEST(SinkRegistry, ReadsBackEveryImageFormat) {
    const TemporaryFolder folder;
    const Shape shape{1, 45, 63, 3};
    const auto frame = smooth_frame(shape, 0);
    for (const auto& [name, least_db] :
         {std::pair{"a.tif", 199.0}, std::pair{"a.BMP", 199.0}, std::pair{"a.tiff", 199.0},
          std::pair{"a.webp:quality=100", 199.0}, std::pair{"b.WEBP", 30.0}, std::pair{"a.JPG", 35.0},
          std::pair{"c.jpg:quality=20", 20.0}}) {
        write_video(folder / name, shape, {frame});
        const auto path = parse_sink(folder / name).path;
        const auto reading = read_video(path);
        ASSERT_EQ(reading.frames.size(), 1U) << name << reading.message;
        EXPECT_GE(psnr(reading.frames[0], frame), least_db) << name;
    }
    EXPECT_LT(std::filesystem::file_size(folder / "c.jpg"), std::filesystem::file_size(folder / "a.JPG"));
}

TEST(SinkRegistry, ReadsBackEveryVideoFormat) {
    const TemporaryFolder folder;
    const Shape shape{1, 64, 96, 3};
    std::vector<Bytes> frames;
    for (int number = 0; number < 7; ++number) frames.push_back(smooth_frame(shape, number));
    for (const auto& [name, least_db] :
         {std::pair{"a.MOV", 33.0}, std::pair{"a.webm", 30.0}, std::pair{"a.ts", 33.0}, std::pair{"a.gif", 27.0},
          std::pair{"a.m4v", 33.0}, std::pair{"a.mkv:codec=libx264", 33.0}, std::pair{"a.mp4:codec=libx265", 33.0}}) {
        write_video(folder / name, shape, frames);
        const auto reading = read_video(parse_sink(folder / name).path);
        EXPECT_FALSE(reading.error) << name << reading.message;
        ASSERT_EQ(reading.frames.size(), frames.size()) << name;
        for (std::size_t at = 0; at < frames.size(); ++at)
            EXPECT_GE(psnr(reading.frames[at], frames[at]), least_db) << name;
        EXPECT_NEAR(reading.times.back().seconds, 6 / 25.0, 1e-2) << name;
    }
}

TEST(SinkRegistry, PutsTheIndexOfMp4First) {
    const TemporaryFolder folder;
    const Shape shape{1, 64, 96, 3};
    for (const auto* name : {"a.mp4", "b.mov"}) {
        write_video(folder / name, shape, std::vector<Bytes>(30, smooth_frame(shape, 0)));
        const auto bytes = read_file(folder / name);
        std::vector<std::string> boxes;
        for (std::size_t at = 0; at + 8 <= bytes.size();) {
            const auto size = std::size_t{bytes[at]} << 24 | std::size_t{bytes[at + 1]} << 16 |
                              std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
            boxes.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                               bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8);
            ASSERT_GE(size, 8U);
            at += size;
        }
        std::erase_if(boxes, [](const auto& box) { return box == "free" || box == "wide"; });
        EXPECT_EQ(boxes, (std::vector<std::string>{"ftyp", "moov", "mdat"})) << name;
    }
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.mp4", "b.mov"})) << "nothing else stays";
}

#endif

TEST(SinkRegistry, DoesNotParsePathsAfterFile) {
    const TemporaryFolder folder;
    for (const std::string name : {"a%d.png", "a%04d.png", "%d%d.png", "b:quality=3.png", "tcp:%d.png"}) {
        const auto text = literal_sink(folder / name);
        EXPECT_EQ(files_of_sink(text), std::vector<std::string>{folder / name});
        const Shape shape{1, 4, 4, 3};
        const auto frame = random_frame(shape, 1);
        const auto sink = open_sink(text, shape, {1, 1});
        sink->write(view_of(frame, shape), {});
        sink->finish();
        EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    }
    EXPECT_EQ(literal_sink(""), "");
}

TEST(SinkRegistry, WritesRawBytesToStandardOutput) {
    EXPECT_EQ(parse_sink("-").values.text("format"), "y4m");
    EXPECT_EQ(parse_sink("-:format=bgr").values.text("format"), "bgr");
    const Shape frame{1, 4, 4, 3};
    EXPECT_EQ(error_of([&] { open_sink("-:format=gray", frame, {1, 1}); }), ErrorCode::usage) << "it is BGR";
    EXPECT_EQ(error_of([&] { open_sink("-:format=bgr:pixels=yuv420p", frame, {1, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { parse_sink("-:format=rgb"); }), ErrorCode::usage);
}

}  // namespace sink_registry_test
}  // namespace framewire
