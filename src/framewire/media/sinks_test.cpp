#include "framewire/media/sinks.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/npy.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <set>

// Writing planes must give the same file as writing the images from which they were made.

namespace framewire {
namespace {

using namespace testing;

Bytes written(const std::string& target, const std::string& path, const Shape& shape, const PictureFacts& facts,
              bool as_planes) {
    const auto sink = open_sink(target, shape, {30, 1}, {.replace = true, .facts = facts});
    YuvPicturePool pool;
    for (int number = 0; number < 12; ++number) {
        const auto bytes = smooth_frame(shape, number);
        const HostView<const std::uint8_t> image(bytes.data(), shape);
        const FrameTime time{number, number / 30.0};
        if (!as_planes) {
            sink->write(image, time);
            continue;
        }
        const auto planes = sink->planes();
        EXPECT_TRUE(planes) << target;
        if (!planes) return {};
        const auto picture = pool.take(*planes);
        ImageToYuv(*planes, shape.channels, media_threads()).run(image, picture->view());
        sink->write_planes(picture, time);
    }
    sink->finish();
    return read_file(path);
}

void expect_same(const std::string& name, const std::string& keys, const Shape& shape, const PictureFacts& facts) {
    SCOPED_TRACE(name + keys + ", " + to_string(shape));
    const TemporaryFolder folder;
    const auto path = folder / name;
    const auto want = written(path + keys, path, shape, facts, false);
    EXPECT_FALSE(want.empty());
    EXPECT_TRUE(written(path + keys, path, shape, facts, true) == want);
}

TEST(SinkPlanes, ProduceTheSameY4mAsImages) {
    const PictureFacts facts{.coding = YuvCoding{YuvMatrix::bt709, false}, .format = yuv_420};
    expect_same("a.y4m", "", {1, 96, 128, 3}, facts);
    expect_same("a.y4m", "", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", ":range=full", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", ":pixels=yuv422p", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", "", {1, 97, 131, 3}, {});
    expect_same("a.y4m", "", {1, 97, 131, 1}, facts);
}

#ifdef FRAMEWIRE_FFMPEG
// The formats include encoders that keep pictures for a while.
TEST(SinkPlanes, ProduceTheSameEncodedFilesAsImages) {
    for (const auto& [name, keys] :
         {std::pair{"a.mp4", ":preset=veryfast"}, std::pair{"a.mp4", ":pixels=yuv444p"},
          std::pair{"a.mp4", ":pixels=nv12"}, std::pair{"a.avi", ":codec=ffv1:pixels=yuv420p"}, std::pair{"a.avi", ""},
          std::pair{"a.avi", ":codec=mpeg4"}})
        expect_same(name, keys, {1, 98, 132, 3}, {});
}

TEST(SinkPlanes, AreUnavailableForOtherFormats) {
    const TemporaryFolder folder;
    for (const auto* name : {"a.bgr", "a%d.png", "a.gif", "a.mkv", "a.webp"})
        EXPECT_EQ(open_sink(folder / name, {1, 96, 128, 3}, {30, 1}, {})->planes(), std::nullopt) << name;
}
#endif

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
    EXPECT_EQ(refusal("a.mp4:crt=18"),
              "a.mp4 has no parameter 'crt'; its parameters: codec, crf, bitrate, preset, gop, tune, pixels; did you "
              "mean 'crf'?");
    EXPECT_NE(refusal("a.mp4:crf=x").find("a.mp4: crf 'x' is not a number"), std::string::npos);
    EXPECT_NE(refusal("a.jpg:quality=0").find("out of range"), std::string::npos);
    EXPECT_NE(refusal("a.txt").find("known: .mp4"), std::string::npos);
    EXPECT_NE(refusal("").find("known: .mp4"), std::string::npos);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(SinkRegistry, RejectsUnusableEncodersAndOptions) {
    const TemporaryFolder folder;
    const Shape shape{1, 48, 64, 3};
    std::string message;
    const auto code_of = [&](const std::string& text) {
        return error_of([&] { open_sink(folder / text, shape, {25, 1}); }, &message);
    };
    EXPECT_EQ(code_of("a.mp4:codec=libx246"), ErrorCode::usage);
    EXPECT_NE(message.find("did you mean 'libx264'"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.mp4:codec=libvpx"), ErrorCode::usage);
    EXPECT_NE(message.find("mp4 does not accept the encoder libvpx"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.avi:crf=4"), ErrorCode::usage);
    EXPECT_NE(message.find("mjpeg does not support crf"), std::string::npos) << message;
    EXPECT_EQ(code_of("a.avi:preset=slow"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:preset=slwo"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:pixels=bgr24"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:crf=3:bitrate=1M"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:bitrate=fast"), ErrorCode::usage);
    EXPECT_EQ(code_of("a.mp4:bitrate=3G"), ErrorCode::usage);
    EXPECT_TRUE(folder.names().empty());
}

TEST(SinkRegistry, EveryImageFormatRoundTrips) {
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

TEST(SinkRegistry, EveryVideoFormatRoundTrips) {
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

TEST(SinkRegistry, WritesTheMp4IndexBeforeTheData) {
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

TEST(SinkRegistry, TakesFileUrlsLiterally) {
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

TEST(SinkRegistry, ParsesTheFormatOfStandardOutput) {
    EXPECT_EQ(parse_sink("-").values.text("format"), "y4m");
    EXPECT_EQ(parse_sink("-:format=bgr").values.text("format"), "bgr");
    const Shape frame{1, 4, 4, 3};
    EXPECT_EQ(error_of([&] { open_sink("-:format=gray", frame, {1, 1}); }), ErrorCode::usage) << "it is BGR";
    EXPECT_EQ(error_of([&] { open_sink("-:format=bgr:pixels=yuv420p", frame, {1, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { parse_sink("-:format=rgb"); }), ErrorCode::usage);
}

using namespace testing;

class JoinedFile : public ::testing::Test {
protected:
    std::vector<FilePart> parts(const std::string& name, int count) const {
        std::vector<FilePart> parts;
        for (int part = 0; part < count; ++part) parts.push_back({folder_ / (std::to_string(part) + name)});
        return parts;
    }
    std::optional<ErrorCode> failure(const std::vector<FilePart>& parts, const std::string& name) const {
        return error_of([&] { join_files(parts, folder_ / name, {.replace = true}); });
    }

    TemporaryFolder folder_;
};

TEST_F(JoinedFile, ConcatenatesLines) {
    write_file(folder_ / "0.jsonl", "{\"a\":1}\n{}\n");
    write_file(folder_ / "1.jsonl", "");
    write_file(folder_ / "2.jsonl", "{\"b\":2}\n");
    join_files(parts(".jsonl", 3), folder_ / "all.jsonl", {});
    const auto bytes = read_file(folder_ / "all.jsonl");
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "{\"a\":1}\n{}\n{\"b\":2}\n");
    EXPECT_EQ(failure(parts(".jsonl", 4), "other.jsonl"), ErrorCode::no_input) << "the fourth is not there";
    EXPECT_EQ(failure(parts(".jsonl", 3), "all.json"), ErrorCode::usage);
    EXPECT_EQ(failure({}, "all.jsonl"), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { join_files(parts(".jsonl", 3), folder_ / "all.jsonl", {}); }), ErrorCode::io);
}

TEST_F(JoinedFile, ConcatenatesFrames) {
    const Shape shape{1, 13, 17, 3};
    std::vector<Bytes> frames;
    for (int frame = 0; frame < 7; ++frame) frames.push_back(smooth_frame(shape, frame));
    for (const std::string ending : {".y4m", ".bgr"}) {
        write_video(folder_ / ("whole" + ending), shape, frames);
        for (int part = 0; part < 3; ++part)
            write_video(folder_ / (std::to_string(part) + ending), shape,
                        {frames.begin() + 3 * part, frames.begin() + std::min(7, 3 * part + 3)});
        join_files(parts(ending, 3), folder_ / ("all" + ending), {});
        EXPECT_EQ(read_file(folder_ / ("all" + ending)), read_file(folder_ / ("whole" + ending))) << ending;
    }
    write_video(folder_ / "1.y4m", {1, 17, 13, 3}, frames);
    EXPECT_EQ(failure(parts(".y4m", 3), "all.y4m"), ErrorCode::no_input);
}

template <class Value>
void write_arrays(const std::string& path, NpyValues kind, int first, int count) {
    NpyFile file(path, {2, 3}, true, {.replace = true}, kind);
    std::vector<Value> values(6);
    for (int array = first; array < first + count; ++array) {
        std::iota(values.begin(), values.end(), static_cast<Value>(10 * array));
        file.write(values.data(), values.size());
    }
    file.finish();
}

TEST_F(JoinedFile, ConcatenatesArrays) {
    const auto check = [&](auto value, NpyValues kind) {
        using Value = decltype(value);
        write_arrays<Value>(folder_ / "0.npy", kind, 0, 3);
        write_arrays<Value>(folder_ / "1.npy", kind, 3, 1);
        write_arrays<Value>(folder_ / "whole.npy", kind, 0, 4);
        EXPECT_EQ(failure(parts(".npy", 2), "all.npy"), std::nullopt);
        EXPECT_EQ(read_file(folder_ / "all.npy"), read_file(folder_ / "whole.npy"));
    };
    check(1.0F, NpyValues::float32);
    check(std::int32_t{1}, NpyValues::int32);
}

TEST_F(JoinedFile, RejectsTruncatedArrays) {
    write_arrays<float>(folder_ / "0.npy", NpyValues::float32, 0, 3);
    const auto good = read_file(folder_ / "0.npy");
    const auto with = [&](const Bytes& bytes) {
        write_file(folder_ / "1.npy", bytes.data(), bytes.size());
        return failure(parts(".npy", 2), "all.npy");
    };
    EXPECT_EQ(with(good), std::nullopt);
    for (std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{100}, std::size_t{192}, good.size() - 1})
        EXPECT_EQ(with({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)}), ErrorCode::no_input)
            << bytes;
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string text(good.begin(), good.end());
        text.replace(text.find(what), what.size(), by);
        return with({text.begin(), text.end()});
    };
    EXPECT_EQ(replaced("(3, 2, 3)", "(9, 2, 3)"), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3)", "(3, 6, 1)"), ErrorCode::no_input) << "of another shape than the first's";
    EXPECT_EQ(replaced("<f4", "<i4"), ErrorCode::no_input);
    EXPECT_EQ(replaced("<f4", ">f4"), ErrorCode::no_input);
    EXPECT_EQ(replaced("False", "True "), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3), }               ", "(3, 99999999999999999), }  "), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3)", "(0, 0, 3)"), ErrorCode::no_input);
}

// The log shows the warning about an unfinished output after the header of the first part was read and before its
// arrays are read.
TEST_F(JoinedFile, RejectsArraysThatShrinkWhileBeingJoined) {
    write_arrays<float>(folder_ / "0.npy", NpyValues::float32, 0, 3);
    write_file(folder_ / "all.npy.part", "unfinished");
    int warnings = 0;
    const auto shorten = [&](LogLevel, std::string_view) {
        ++warnings;
        std::filesystem::resize_file(folder_ / "0.npy", NpyFile::header_bytes + 30);
    };
    const auto before = set_log_output({.sink = shorten});
    const auto found = failure(parts(".npy", 1), "all.npy");
    set_log_output(before);
    EXPECT_EQ(warnings, 1);
    EXPECT_EQ(found, ErrorCode::no_input);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "all.npy"));
}

using namespace testing;

TEST(SegmentNames, MatchOnlyStrftimeResults) {
    const auto names = SegmentNames::parse("rec/cam-%Y%m%d-%H%M%S.mp4");
    for (const auto* name : {"cam-20261122-235959.mp4", "cam-20261122-235959-2.mp4", "cam-20261122-000000-17.mp4"})
        EXPECT_TRUE(names.matches(name)) << name;
    for (const auto* name :
         {"cam-20261122-235959.mkv", "cam-20261322-235959.mp4", "cam-20261122-245959.mp4", "cam-20261122-235959-1.mp4",
          "cam-20261122-235959-02.mp4", "cam-20261122-235959x.mp4", "xcam-20261122-235959.mp4",
          "cam-2026112-235959.mp4", "cam-20261122-235959.mp4.part", "cam-20261122-235959-.mp4", "cam-.mp4", ""})
        EXPECT_FALSE(names.matches(name)) << name;
    EXPECT_TRUE(SegmentNames::parse("100%%-%F_%T.y4m").matches("100%-2026-11-22_10:00:00.y4m"));
}

TEST(SegmentNames, FreePathSkipsUsedNames) {
    const TemporaryFolder folder;
    const auto names = SegmentNames::parse(folder / "p-%Y-%H%M%S.avi");
    const auto now = std::chrono::system_clock::now();
    const auto first = names.free_path(now);
    EXPECT_TRUE(names.matches(std::filesystem::path(first).filename().string())) << first;
    write_file(first, "x");
    const auto second = names.free_path(now);
    EXPECT_EQ(second, first.substr(0, first.size() - 4) + "-2.avi");
    write_file(second + ".part", "x");
    EXPECT_EQ(names.free_path(now), first.substr(0, first.size() - 4) + "-3.avi") << "one is being written there";
}

TEST(SegmentNames, FindOnlySegments) {
    const TemporaryFolder folder;
    const auto names = SegmentNames::parse(folder / "p-%H%M%S.avi");
    for (const auto* name :
         {"p-100000.avi", "p-090000.avi", "p-110000.avi.part", "p-other.avi", "q-100000.avi", "p-100000.txt"})
        write_file(folder / name, name);
    std::filesystem::create_symlink(folder / "q-100000.avi", folder / "p-120000.avi");
    std::filesystem::create_directory(folder / "p-130000.avi");
    std::filesystem::last_write_time(folder / "p-100000.avi",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    std::filesystem::last_write_time(folder / "p-090000.avi",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    std::vector<std::string> found;
    for (const auto& piece : names.existing()) found.push_back(std::filesystem::path(piece.path).filename());
    EXPECT_EQ(found, (std::vector<std::string>{"p-100000.avi", "p-090000.avi", "p-110000.avi.part"}));
}

TEST(SegmentNames, RejectMissingTimesAndUnknownConversions) {
    std::string message;
    const auto code_of = [&](const std::string& path) {
        return error_of([&] { SegmentNames::parse(path); }, &message);
    };
    EXPECT_EQ(code_of("out.mp4"), ErrorCode::usage);
    EXPECT_NE(message.find("segments need a time in their name"), std::string::npos) << message;
    EXPECT_EQ(code_of("out%%.mp4"), ErrorCode::usage);
    EXPECT_EQ(code_of("out-%A.mp4"), ErrorCode::usage);
    EXPECT_NE(message.find("'%A' is not supported"), std::string::npos) << message;
    EXPECT_EQ(code_of("out-%"), ErrorCode::usage);
    EXPECT_EQ(code_of("%Y/out-%H.mp4"), ErrorCode::usage);
}

TEST(Amounts, AreParsedWithUnits) {
    EXPECT_EQ(seconds_of("90"), 90);
    EXPECT_EQ(seconds_of("1.5h"), 5400);
    EXPECT_EQ(seconds_of("10m"), 600);
    EXPECT_EQ(seconds_of("7d"), 7 * 86400);
    EXPECT_EQ(bytes_of("200G"), 200e9);
    EXPECT_EQ(bytes_of("1B"), 1);
    for (const auto* text : {"", "m", "10x", "-5s", "0", "1e300h", "nan", "inf", "10 m", "200G"})
        EXPECT_FALSE(seconds_of(text)) << text;
    for (const auto* text : {"", "G", "10", "10m", "-5G", "0B", "1e300T", "nanG"}) EXPECT_FALSE(bytes_of(text)) << text;
    EXPECT_EQ(bits_per_second_of("2M"), 2e6);
    EXPECT_EQ(bits_per_second_of("1.5G"), 1.5e9);
    EXPECT_EQ(bits_per_second_of("500k"), 5e5);
    EXPECT_EQ(bits_per_second_of("1000"), 1000);
    for (const auto* text : {"", "M", "999", "0.5k", "2T", "1001G", "-2M", "2 M", "2Mb", "nan", "infM"})
        EXPECT_FALSE(bits_per_second_of(text)) << text;
}

using namespace testing;

constexpr Shape shape{1, 48, 64, 3};

// Returns a frame with a gray value that identifies it.
Bytes numbered_frame(int number) {
    return Bytes(static_cast<std::size_t>(shape.bytes()), static_cast<std::uint8_t>(20 + number));
}

// Records frames at 10 per second.
void record(const std::string& target, int frames, const SegmentOptions& segments) {
    const auto sink = open_sink(target, shape, {10, 1}, {.segments = segments});
    for (int number = 0; number < frames; ++number)
        sink->write(view_of(numbered_frame(number), shape), {number, number / 10.0, {}});
    sink->finish();
}

// Returns the paths of the segments, sorted by the times in their names.
std::vector<std::string> pieces(const TemporaryFolder& folder) {
    std::vector<std::string> paths;
    for (const auto& name : folder.names()) paths.push_back(folder / name);
    return paths;
}

TEST(Segments, ContainEachFrameExactlyOnce) {
    const TemporaryFolder folder;
    record(folder / "cam-%Y%m%d-%H%M%S.y4m", 75, {.seconds = 2});
    const auto paths = pieces(folder);
    ASSERT_EQ(paths.size(), 4U);
    int next = 0;
    for (const auto& path : paths) {
        const auto reading = read_video(path);
        EXPECT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.frames.size(), next < 60 ? 20U : 15U);
        for (const auto& frame : reading.frames) EXPECT_EQ(frame, numbered_frame(next++));
        EXPECT_EQ(reading.times.front().seconds, 0);
    }
    EXPECT_EQ(next, 75);
}

TEST(Segments, AreNumberedIfTheirNamesCollide) {
    const TemporaryFolder folder;
    record(folder / "cam-%Y.y4m", 45, {.seconds = 1});
    EXPECT_EQ(folder.names().size(), 5U);
}

TEST(Segments, OldestAreRemovedButOtherFilesAreKept) {
    const TemporaryFolder folder;
    write_file(folder / "cam-notes.y4m", "mine");
    write_file(folder / "cam-20200101-000000.y4m", std::string(100'000, 'x'));
    write_file(folder / "cam-20200101-000000.mkv", "another pattern's");
    std::filesystem::last_write_time(folder / "cam-20200101-000000.y4m",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
    const auto target = folder / "cam-%Y%m%d-%H%M%S.y4m";
    record(target, 20, {.seconds = 1, .keep_seconds = 24 * 3600});
    auto names = folder.names();
    EXPECT_EQ(names.size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(folder / "cam-20200101-000000.y4m"));
    // A segment has ten frames of 9222 bytes.
    record(target, 60, {.seconds = 1, .keep_bytes = 200'000});
    EXPECT_EQ(SegmentNames::parse(target).existing().size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(folder / "cam-notes.y4m"));
    EXPECT_TRUE(std::filesystem::exists(folder / "cam-20200101-000000.mkv"));
    // The newest segment is kept whatever its size.
    record(target, 20, {.seconds = 1, .keep_bytes = 1});
    EXPECT_EQ(SegmentNames::parse(target).existing().size(), 1U);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(Segments, RejectTargetsThatCannotBeSegmented) {
    const TemporaryFolder folder;
    for (const auto* target : {"a-%H.png", "a-%H.m3u8"})
        EXPECT_EQ(error_of([&] { record(folder / target, 1, {.seconds = 1}); }), ErrorCode::usage) << target;
    EXPECT_EQ(error_of([&] { record("-", 1, {.seconds = 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { record(folder / "a.y4m", 1, {.seconds = 1}); }), ErrorCode::usage) << "no time in it";
    EXPECT_TRUE(folder.names().empty());
}

TEST(Segments, StartWithAKeyframeAndArePlayable) {
    const TemporaryFolder folder;
    record(folder / "cam-%H%M%S.mp4", 35, {.seconds = 1});
    const auto paths = pieces(folder);
    ASSERT_EQ(paths.size(), 4U);
    int next = 0;
    for (const auto& path : paths) {
        const auto command = "ffprobe -v error -read_intervals %+#1 -show_entries packet=flags -of csv=p=0 " + path +
                             " > " + path + ".probe";
        ASSERT_EQ(std::system(command.c_str()), 0);
        const auto probe = read_file(path + ".probe");
        EXPECT_EQ(probe.empty() ? '?' : static_cast<char>(probe[0]), 'K') << path;
        const auto reading = read_video(path);
        EXPECT_FALSE(reading.error) << reading.message;
        for (const auto& frame : reading.frames) EXPECT_GE(psnr(frame, numbered_frame(next++)), 38) << next;
    }
    EXPECT_EQ(next, 35);
}

#endif

}  // namespace
}  // namespace framewire
