#include "framewire/media/sources.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media_testing.hpp"

#include <algorithm>
#include <fstream>
#include <set>

namespace framewire {
namespace {

using namespace testing;

std::string_view kind_of(const std::string& text) { return parse_source(text).kind->name; }

std::string refusal(const std::string& text, ErrorCode code = ErrorCode::usage) {
    std::string message;
    EXPECT_EQ(error_of([&] { open_source(text); }, &message), code) << text;
    return message;
}

TEST(SourceRegistry, EveryKindHasAHelpTextAndAUniqueName) {
    std::set<std::string_view> names;
    for (const auto& kind : source_registry()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_FALSE(kind.form.empty() || kind.summary.empty() || kind.examples.empty()) << kind.name;
        EXPECT_TRUE(!kind.prefix.empty() || !kind.endings.empty() || kind.matches) << kind.name;
        for (const auto& parameter : kind.parameters) {
            EXPECT_FALSE(parameter.help.empty()) << kind.name << " " << parameter.name;
            if (parameter.default_value.empty()) continue;
            EXPECT_EQ(problem_with(parameter, parameter.default_value), "") << kind.name << " " << parameter.name;
        }
    }
}

TEST(SourceRegistry, FindsKindsByPrefixPathAndExtension) {
    EXPECT_EQ(kind_of("-"), "stdin");
    EXPECT_EQ(kind_of("synth"), "synth");
    EXPECT_EQ(kind_of("synth:size=64x48"), "synth");
    EXPECT_EQ(kind_of("synthesis.mp4"), "video");
    EXPECT_EQ(kind_of("raw:a.bgr:size=2x2"), "raw");
    EXPECT_EQ(kind_of("raw"), "video") << "a file of this name";
    EXPECT_EQ(kind_of("/dev/video0"), "camera");
    EXPECT_EQ(kind_of("v4l2:/dev/video0:fps=30"), "camera");
    EXPECT_EQ(kind_of("lavfi:testsrc2=size=64x48"), "lavfi");
    EXPECT_EQ(kind_of("rtsp://host/a.png"), "network");
    EXPECT_EQ(kind_of("img%04d.png"), "sequence");
    EXPECT_EQ(kind_of("a.Y4M"), "y4m");
    EXPECT_EQ(kind_of("a.PNG"), "png");
    EXPECT_EQ(kind_of("a.jpg"), "image");
    EXPECT_EQ(kind_of("a.m3u8"), "playlist");
    EXPECT_EQ(kind_of("a.mp4"), "video");
    EXPECT_EQ(kind_of("file://-"), "video");
    EXPECT_EQ(kind_of("file://synth:size=1x1"), "video");
    EXPECT_EQ(kind_of("file:///dev/video0"), "video");
    const TemporaryFolder folder;
    EXPECT_EQ(kind_of(folder / ""), "folder");
    std::ofstream(folder / "img%d.png") << "x";
    EXPECT_EQ(kind_of(folder / "img%d.png"), "png") << "it is there, whatever its name";
}

TEST(SourceRegistry, ImageExtensionsBelongToImageKinds) {
    for (const auto& kind : source_registry()) {
        const bool images = kind.name == "png" || kind.name == "image";
        for (const auto ending : kind.endings) EXPECT_EQ(is_image_name("a" + std::string(ending)), images) << ending;
    }
}

TEST(SourceRegistry, ExamplesMatchTheirKind) {
    for (const auto& kind : source_registry()) {
        if (kind.name == "folder") continue;  // this kind only matches an existing folder
        for (const auto example : kind.examples) EXPECT_EQ(kind_of(std::string(example)), kind.name) << example;
    }
}

TEST(SourceRegistry, ParsesPathAndParameters) {
    const auto raw = parse_source("raw:a:b=c:d.bgr:size=3x4:fps=10");
    EXPECT_EQ(raw.path, "a:b=c:d.bgr");
    EXPECT_EQ(raw.values.size("size"), (std::pair{3, 4}));
    const auto synth = parse_source("synth:size=64x48:noise=2.5");
    EXPECT_EQ(synth.values.real("noise"), 2.5);
    EXPECT_EQ(synth.values.integer("objects"), 5);
    EXPECT_FALSE(synth.values.has("frames"));
    EXPECT_EQ(parse_source("lavfi:testsrc2=size=64x48:rate=5").path, "testsrc2=size=64x48:rate=5");
    EXPECT_EQ(parse_source("file://a.mp4").path, "a.mp4");
}

TEST(SourceRegistry, ListsFilesReadAndWritten) {
    EXPECT_EQ(files_read_by("-"), std::vector<std::string>{"-"});
    EXPECT_EQ(files_read_by("raw:a.bgr:size=1x1"), std::vector<std::string>{"a.bgr"});
    EXPECT_EQ(files_read_by("file://a.mp4"), std::vector<std::string>{"a.mp4"});
    for (const auto* text : {"synth", "/dev/video0", "rtsp://host/a", "lavfi:testsrc"})
        EXPECT_TRUE(files_read_by(text).empty()) << text;
    EXPECT_EQ(files_written_by("synth:truth=a b.jsonl"), std::vector<std::string>{"a b.jsonl"});
    EXPECT_TRUE(files_written_by("synth").empty());
    EXPECT_TRUE(files_written_by("a.mp4").empty());
}

TEST(SourceRegistry, SuggestsTheNearestName) {
    EXPECT_EQ(refusal("synth:sice=64x48"),
              "synth has no parameter 'sice'; its parameters: size, fps, noise, objects, seed, frames, truth; did you "
              "mean 'size'?");
    EXPECT_EQ(refusal("synth:noise=51"),
              "synth: noise '51' is out of range; allowed: a number from 0 to 50 with up to 3 decimals");
    EXPECT_EQ(refusal("raw:a.bgr"), "raw needs 'size', WIDTHxHEIGHT with sides of 1 to 16384 pixels");
    EXPECT_NE(refusal("raw::size=2x2").find("has no path; expected raw:PATH"), std::string::npos);
    EXPECT_NE(refusal("synht:size=64x48", ErrorCode::no_input).find("no such file; did you mean 'synth:'?"),
              std::string::npos);
    EXPECT_EQ(refusal("/no/such/a.mp4", ErrorCode::no_input), "/no/such/a.mp4: no such file");
    EXPECT_NE(refusal("").find("the source is empty"), std::string::npos);
}

// A video file takes a while to open, and most of a short loop is spent there.
TEST(LoopingSource, EndsQuietlyIfItIsStoppedWhileItOpensAgain) {
    std::stop_source stop;
    int openings = 0;
    const auto open = [&] {
        if (++openings == 3) {
            stop.request_stop();
            fail(ErrorCode::no_input, "stopped while opening");
        }
        return open_source("synth:size=16x16:frames=2");
    };
    const auto source = make_looping_source(open, stop.get_token());
    HostImage image(source->info().shape);
    FrameTime time;
    int frames = 0;
    while (source->read(image.view(), time)) ++frames;
    EXPECT_EQ(frames, 4);
    EXPECT_FALSE(source->read(image.view(), time));
}

TEST(LoopingSource, ReportsThatItCannotOpenAgain) {
    int openings = 0;
    const auto open = [&] {
        if (++openings == 2) fail(ErrorCode::no_input, "the file is gone");
        return open_source("synth:size=16x16:frames=2");
    };
    const auto source = make_looping_source(open, {});
    HostImage image(source->info().shape);
    FrameTime time;
    for (int frame = 0; frame < 2; ++frame) EXPECT_TRUE(source->read(image.view(), time));
    EXPECT_EQ(error_of([&] { source->read(image.view(), time); }), ErrorCode::no_input);
}

}  // namespace
}  // namespace framewire
