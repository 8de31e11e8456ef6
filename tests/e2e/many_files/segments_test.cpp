// Tests long files that are processed in segments and joined: outputs equal those of an uncut run, however a run ended.
#include "e2e/program.hpp"
#include "e2e/shell.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace framewire::e2e {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// Returns the sound packets in playback order.
std::string sound(const std::string& path) {
    return printed_by("ffmpeg -nostdin -v error -i " + path + " -map 0:a -f framemd5 -");
}

// Returns the lines as a sorted set, because the packet order differs after an encoder restarts.
std::multiset<std::string> sorted_lines(const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.insert(line);
    return lines;
}

// Returns every file and folder below a folder, files with their bytes, except done markers.
std::map<std::string, std::string> outputs_in(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto name = fs::relative(entry.path(), folder).native();
        if (name == ".framewire" || name.ends_with(".done")) continue;
        files[name] = entry.is_directory() ? "a folder" : contents(entry.path());
    }
    return files;
}

class Segments : public testing::Test {
protected:
    // Makes a clip of 12 s at 25 frames per second with these FFmpeg encoder options.
    std::string clip(const std::string& name, const std::string& encoding, const std::string& more = "") const {
        fs::create_directories(folder_ / "clips");
        const auto path = folder_ / ("clips/" + name);
        EXPECT_TRUE(
            ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=12 " + more + " " + encoding + " " + path));
        return path;
    }
    std::string h264(const std::string& name = "a.mp4") const { return clip(name, "-c:v libx264 -g 25 -bf 3"); }
    // Makes a clip with sound and a title.
    std::string beep() const {
        return clip("a.mp4", "-c:v libx264 -g 25 -bf 3 -c:a aac -metadata title=Beep",
                    "-f lavfi -i sine=frequency=440:duration=12");
    }

    std::string run(int code, const std::string& into, Arguments arguments) const {
        arguments.insert(arguments.end(), {"--backend", "cpu", "--progress", "none", "-o", folder_ / into});
        const auto result = run_framewire(std::move(arguments));
        EXPECT_EQ(result.code, code) << result.err;
        return result.err;
    }

    // Runs the command uncut and cut, and compares the outputs; returns the messages of the second run.
    std::string expect_equal(const Arguments& arguments, const Arguments& cutting = {"--segment", "2s"}) const {
        SCOPED_TRACE(testing::PrintToString(arguments));
        fs::remove_all(folder_ / "uncut");
        fs::remove_all(folder_ / "cut");
        run(0, "uncut/", arguments);
        auto cut = arguments;
        cut.insert(cut.end(), cutting.begin(), cutting.end());
        auto said = run(0, "cut/", cut);
        const auto uncut = outputs_in(folder_ / "uncut"), joined = outputs_in(folder_ / "cut");
        EXPECT_FALSE(uncut.empty());
        EXPECT_TRUE(uncut == joined) << said;
        return said;
    }

    TemporaryFolder folder_;
};

TEST_F(Segments, JoinedOutputsEqualThoseOfAnUnsplitRun) {
    const auto a = h264();
    const auto made = [](int pieces) {
        return "1 of 1 files processed; " + std::to_string(pieces) + " of " + std::to_string(pieces) + " segments";
    };
    EXPECT_TRUE(has(expect_equal({"run", "-i", a, "-f", "gray", "--ending", "y4m"}), made(6)));
    EXPECT_TRUE(has(expect_equal({"run", "-i", a, "-f", "noise,heatmap", "--ending", "bgr", "--jobs", "2"}), made(6)));
    expect_equal({"run", "-i", a, "-f", "deinterlace,noise=threshold=3,text='{frame} {time}'", "--ending", "y4m"});
    expect_equal({"run", "-i", a, "-f", "noise,fps=7,heatmap", "--ending", "y4m"});
    expect_equal({"run", "-i", a, "-f", "fps=30000/1001,noise", "--ending", "bgr"});
    expect_equal({"run", "-i", a, "-f", "noise,fps=7", "--rate", "12", "--ending", "y4m"});
    expect_equal({"run", "-i", a, "-f", "noise,boxes=background=first", "--ending", "y4m"});
    expect_equal({"hog", "-i", a});
}

TEST_F(Segments, RecordsMasksAndLabelsAreJoined) {
    const auto a = h264(), picture = folder_ / "picture.png";
    run(0, "picture.png", {"run", "-i", a, "--frames", "1"});
    const auto outputs = [&](const std::string& into, const std::string& background, const Arguments& more) {
        fs::remove_all(folder_ / into);
        Arguments arguments{"detect",       "-i",         a,    "--background", background,     "--format",
                            "mot",          "--min-area", "9",  "--mask",       folder_ / into, "--labels",
                            folder_ / into, "--ending",   "y4m"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        run(0, into, arguments);
        return outputs_in(folder_ / into);
    };
    for (const auto& background : {std::string("first"), picture}) {
        const auto uncut = outputs("u/", background, {});
        EXPECT_EQ(uncut.size(), 3u);
        EXPECT_TRUE(outputs("c/", background, {"--segment", "3s", "--jobs", "2"}) == uncut) << background;
    }
    expect_equal({"detect", "-i", a, "--background", "first"});
}

TEST_F(Segments, AreExactForEveryKindOfVideo) {
    const std::string x264 = "-c:v libx264 -x264-params ";
    const std::pair<const char*, std::string> kinds[] = {
        {"open.mkv", x264 + "open-gop=1:keyint=25:bframes=4:b-pyramid=normal"},
        {"refresh.mp4", x264 + "intra-refresh=1:keyint=25:bframes=0"},
        {"late.ts", "-c:v libx264 -g 25 -bf 2 -output_ts_offset 4000"},
        {"vfr.mkv", "-vf \"select='not(mod(n,3))+gt(mod(n,50),30)'\" -fps_mode vfr -c:v libx264 -g 20"},
        {"mpeg2.ts", "-c:v mpeg2video -g 12 -bf 2"},
        {"vp8.webm", "-c:v libvpx -g 25 -b:v 200k -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 16"},
        {"intra.avi", "-c:v mjpeg"},
        {"yuv.y4m", "-pix_fmt yuv420p"}};
    for (const auto& [name, encoding] : kinds) {
        const auto said =
            expect_equal({"run", "-i", clip(name, encoding), "-f", "noise=threshold=3", "--ending", "y4m"});
        EXPECT_TRUE(has(said, "segments of long files processed")) << name << said;
    }
    // The packets of this file have no presentation times.
    EXPECT_TRUE(
        has(expect_equal({"run", "-i", clip("old.avi", "-c:v mpeg4 -g 25 -bf 2"), "--ending", "y4m"}), "is not split"));
}

TEST_F(Segments, JoinedVideoHasOneCopyOfTheAudio) {
    const auto a = beep();
    const auto pictures = [](const std::string& path) {
        return printed_by("ffmpeg -nostdin -v error -i " + path + " -map 0:v -fps_mode passthrough -f framemd5 -");
    };
    const auto times = [](const std::string& path) {
        return printed_by("ffprobe -v error -show_entries packet=stream_index,pts_time -of csv=p=0 " + path +
                          " | sort");
    };
    for (const std::string ending : {"mkv", "avi", "mp4"}) {
        const Arguments arguments{"run", "-i", a, "-f", "gray", "--ending", ending};
        run(0, "u/", arguments);
        auto cut = arguments;
        cut.insert(cut.end(), {"--segment", "3s", "--jobs", "2"});
        EXPECT_TRUE(has(run(0, "c/", cut), "4 of 4 segments")) << ending;
        const auto u = folder_ / ("u/a." + ending), c = folder_ / ("c/a." + ending);
        EXPECT_EQ(frames_in(c), 300) << ending;
        EXPECT_EQ(times(c), times(u)) << ending;
        EXPECT_EQ(sound(c), sound(u)) << ending;
        EXPECT_FALSE(sound(c).empty()) << ending;
        EXPECT_EQ(probed(c, "format_tags=title"), probed(u, "format_tags=title")) << ending;
        // The H.264 encoder restarts with each segment: its losses differ, but are not greater.
        EXPECT_TRUE(ending == "mp4" ? psnr(c, u, "average") > 38 : pictures(c) == pictures(u)) << ending;
    }
    run(0, "silent/", {"run", "-i", a, "--no-audio", "--segment", "3s"});
    EXPECT_EQ(probed(folder_ / "silent/a.mp4", "stream=codec_type"), "video\n");
}

// At this rate, segments start between the milliseconds that MP4 can express.
TEST_F(Segments, TimestampsOfEncodedVideoArePreservedAtAnyRate) {
    const auto a = clip("a.mp4", "-c:v libx264 -g 25 -bf 3", "-r 30000/1001");
    for (const auto& [ending, rate] : {std::pair{"mp4", "max"}, {"mp4", "12"}, {"mkv", "max"}, {"avi", "12"}}) {
        SCOPED_TRACE(ending + std::string(" ") + rate);
        const Arguments arguments{"run", "-i", a, "-f", "gray", "--rate", rate, "--ending", ending};
        run(0, "u/", arguments);
        auto cut = arguments;
        cut.insert(cut.end(), {"--segment", "3s"});
        EXPECT_TRUE(has(run(0, "c/", cut), "4 of 4 segments"));
        const auto u = folder_ / ("u/a." + std::string(ending)), c = folder_ / ("c/a." + std::string(ending));
        EXPECT_EQ(probed(c, "stream=avg_frame_rate"), probed(u, "stream=avg_frame_rate"));
        const auto times = [](const std::string& path) { return probed(path, "packet=pts_time", "-select_streams v"); };
        EXPECT_EQ(times(c).size(), times(u).size());
        EXPECT_TRUE(sorted_lines(times(c)) == sorted_lines(times(u)));
    }
}

// Annotated outputs of any format get the film's sound; masks do not.
TEST_F(Segments, JoinedAnnotatedVideoKeepsTheAudio) {
    const auto a = beep(), model = folder_ / "model.npy";
    run(0, "model.npy", {"hog", "-i", a, "-f", "crop=32:32:0:0", "--frames", "1", "--norm", "l2hys"});
    const Arguments kinds[] = {
        {"detect", "--background", "first", "--mask", folder_ / "masks/"},
        {"hog", "--people", model, "--window", "32x32"},
    };
    const auto annotated = [&](Arguments arguments, const std::string& into, const Arguments& more) {
        const Arguments all{"-i", a, "--ending", "mkv", "--annotate", folder_ / into};
        arguments.insert(arguments.end(), all.begin(), all.end());
        arguments.insert(arguments.end(), more.begin(), more.end());
        fs::remove_all(folder_ / "masks");
        run(0, "records-" + into, arguments);
        return folder_ / (into + "a.mkv");
    };
    for (const auto& kind : kinds) {
        SCOPED_TRACE(kind.front());
        const auto of = [&](const std::string& what) { return kind.front() + "-" + what + "/"; };
        const auto uncut = annotated(kind, of("u"), {}), cut = annotated(kind, of("c"), {"--segment", "3s"});
        EXPECT_TRUE(has(sound(uncut), "0,"));
        EXPECT_TRUE(sound(cut) == sound(uncut));
        EXPECT_EQ(probed(cut, "format_tags=title"), "Beep\n");
        EXPECT_EQ(frames_in(cut), 300);
        if (kind.front() == "detect") {
            EXPECT_EQ(probed(folder_ / "masks/a.mkv", "stream=codec_type"), "video\n");
        }
        const auto silent = annotated(kind, of("s"), {"--segment", "3s", "--no-audio"});
        EXPECT_EQ(probed(silent, "stream=codec_type"), "video\n");
        EXPECT_EQ(probed(silent, "format_tags=title"), "Beep\n");
    }
}

TEST_F(Segments, AResumedRunGivesTheSameOutputsAsAnUnsplitRun) {
    h264("a.mp4");
    h264("b.mp4");
    const auto command = [&](const std::string& into, const Arguments& more = {}) {
        Arguments arguments{
            "run", "--backend",       "cpu",      "--progress", "none", "-i",          folder_ / "clips",
            "-f",  "median=33,noise", "--ending", "y4m",        "-o",   folder_ / into};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return framewire(arguments);
    };
    const Arguments cut{"--segment", "2s", "--jobs", "2"};
    EXPECT_EQ(Program(command("uncut/")).wait().code, 0);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Program(command("once/", cut)).wait().code, 0);
    const auto run_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    const auto uncut = outputs_in(folder_ / "uncut");
    EXPECT_TRUE(outputs_in(folder_ / "once") == uncut);

    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    int kept = 0;
    for (int time = 0; time < (kit::brief() ? 5 : 20); ++time) {
        {
            const Program killed(command("cut/", cut));  // killed when it goes out of scope
            const std::chrono::microseconds moment_of_the_kill(
                std::uniform_int_distribution<std::int64_t>(0, run_us)(random));
            std::this_thread::sleep_for(moment_of_the_kill);
        }
        const auto parts = folder_ / "cut/.framewire/.parts";
        if (fs::exists(parts))
            kept += std::ranges::any_of(fs::recursive_directory_iterator(parts),
                                        [](const auto& entry) { return entry.path().extension() == ".done"; })
                        ? 1
                        : 0;
        else if (fs::exists(folder_ / "cut/b.y4m"))
            fs::remove_all(folder_ / "cut");  // the run finished, or was killed before its first done marker
    }
    EXPECT_GT(kept, 0) << "no killed run left finished segments";
    RecordProperty("killed_with_pieces", kept);
    const auto last = Program(command("cut/", cut)).wait();
    EXPECT_EQ(last.code, 0) << last.err;
    EXPECT_TRUE(outputs_in(folder_ / "cut") == uncut) << testing::PrintToString(folder_.names());
    EXPECT_TRUE(has(Program(command("cut/", cut)).wait().err, "0 of 2 files processed, 2 already done"));
}

TEST_F(Segments, CanBeShardedAndJoined) {
    const auto a = h264("a.mp4"), b = clip("b.mp4", "-frames:v 20 -c:v libx264");
    const auto share = [&](int code, const Arguments& more) {
        Arguments arguments{"hog", "-i", a, b, "--segment", "2s"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(code, "cut/", arguments);
    };
    EXPECT_TRUE(has(share(0, {"--shard", "1/4"}), "info: 2 of 2 segments"));
    EXPECT_TRUE(has(share(0, {"--shard", "2/4"}), "1 of 1 files processed; 2 of 2 segments")) << "the short one";
    EXPECT_FALSE(fs::exists(folder_ / "cut/a.npy"));
    EXPECT_TRUE(has(share(0, {"--shard", "3/4"}), "info: 1 of 1 segments"));
    EXPECT_TRUE(has(share(0, {"--stats", folder_ / "stats.json"}),
                    "1 of 2 files processed, 1 already done; 1 of 6 segments of long files processed, 5 already done"));
    const auto stats = nlohmann::json::parse(contents(folder_ / "stats.json"));
    EXPECT_EQ(stats["files"], 2);
    EXPECT_EQ(stats["parts"]["made"], 1);
    EXPECT_EQ(stats["parts"]["were_done"], 5);
    EXPECT_TRUE(has(share(0, {"--shard", "4/4"}), "0 of 0 files processed"));
    run(0, "uncut/", {"hog", "-i", a, b});
    EXPECT_TRUE(outputs_in(folder_ / "cut") == outputs_in(folder_ / "uncut"));
}

TEST_F(Segments, AnUnsplitRunRemovesLeftoverSegments) {
    const auto a = h264();
    const Arguments arguments{"run", "-i", a, "--ending", "y4m"};
    auto share = arguments;
    share.insert(share.end(), {"--segment", "2s", "--shard", "1/4"});
    run(0, "out/", share);
    EXPECT_TRUE(fs::exists(folder_ / "out/.framewire/.parts/a.y4m"));
    run(0, "out/", arguments);
    EXPECT_FALSE(fs::exists(folder_ / "out/.framewire/.parts"));
    EXPECT_EQ(frames_in(folder_ / "out/a.y4m"), 300);
}

TEST_F(Segments, JobsThatCannotBeSplitExactlyAreRejected) {
    const auto a = h264();
    const auto refused = [&](Arguments arguments, const std::string& words) {
        arguments.insert(arguments.end(), {"-i", a, "--segment", "2s"});
        const auto said = run(2, "out/", arguments);
        EXPECT_TRUE(has(said, words)) << said;
        EXPECT_FALSE(fs::exists(folder_ / "out"));
    };
    refused({"detect"}, "the background adaptive learns from all previous frames");
    refused({"detect", "--background", "mean:0.02"}, "--warm-up");
    refused({"run", "-f", "boxes", "--ending", "y4m"}, "the background adaptive learns");
    refused({"detect", "--background", "first", "--format", "coco"}, "cannot be joined");
    refused({"run", "--ending", "png"}, "cannot be joined");
    refused({"run", "--start", "1"}, "--start");
    refused({"run", "--frames", "9"}, "--frames");
    refused({"run", "--segment-time", "10m"}, "--segment-time");
    EXPECT_TRUE(has(run(2, "out/", {"run", "-i", a, "--warm-up", "3s"}), "--segment"));
    EXPECT_TRUE(has(run(2, "out.y4m", {"run", "-i", a, "--segment", "3s"}), "-o FOLDER/"));
    EXPECT_TRUE(has(run(2, "out/", {"run", "-i", a, "--segment", "0.5s"}), "is not a valid length"));
}

// Models that learn process the warm-up first: if it covers everything before the segment, the result equals that of an
// uncut run.
TEST_F(Segments, LearningModelsAreWarmedUp) {
    const auto a = h264();
    const Arguments detect{"detect", "-i", a, "--background", "mixture:history=50", "--min-area", "4"};
    EXPECT_TRUE(has(expect_equal(detect, {"--segment", "4s", "--warm-up", "1h"}), "3 of 3 segments"));
    auto cut = detect;
    cut.insert(cut.end(), {"--segment", "4s", "--warm-up", "2s"});
    run(0, "short/", cut);
    std::ifstream records(folder_ / "short/a.jsonl");
    int lines = 0;
    for (std::string line; std::getline(records, line); ++lines) EXPECT_EQ(nlohmann::json::parse(line)["frame"], lines);
    EXPECT_EQ(lines, 300);
}

// Changing segment boundaries, warm-up or sound options gives other outputs.
TEST_F(Segments, AreRecreatedWhenTheirOptionsChange) {
    const auto a = beep();
    const auto made = [&](const Arguments& more) {
        Arguments arguments{"detect", "-i", a, "--min-area", "9", "--annotate", folder_ / "seen/"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return has(run(0, "out/", arguments), "1 of 1 files processed");
    };
    const Arguments cut{"--segment", "3s", "--warm-up", "1s"};
    EXPECT_TRUE(made(cut));
    EXPECT_FALSE(made(cut));
    EXPECT_FALSE(made({"--segment", "3s", "--warm-up", "1s", "--jobs", "2"}));
    EXPECT_TRUE(made({"--segment", "4s", "--warm-up", "1s"}));
    EXPECT_TRUE(made({"--segment", "4s", "--warm-up", "2s"}));
    EXPECT_TRUE(made({"--segment", "4s", "--warm-up", "2s", "--no-audio"}));
    EXPECT_TRUE(made({}));
}

TEST_F(Segments, ADamagedFileIsProcessedAsAWhole) {
    // Frames have checksums, so that detecting a broken one does not depend on the decoder's threads.
    const auto a = clip("a.mkv", "-c:v ffv1 -level 3 -slicecrc 1 -g 1");
    auto bytes = contents(a);
    for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 200; ++at) bytes[at] = '\x55';
    std::ofstream(a, std::ios::binary) << bytes;
    run(69, "uncut/", {"run", "-i", a, "--ending", "y4m"});
    const auto said = run(69, "cut/", {"run", "-i", a, "--ending", "y4m", "--segment", "2s"});
    EXPECT_TRUE(has(said, "processing it as a whole")) << said;
    EXPECT_FALSE(fs::exists(folder_ / "cut/a.y4m"));
    EXPECT_TRUE(contents(folder_ / "cut/a.y4m.part") == contents(folder_ / "uncut/a.y4m.part"));
}

TEST_F(Segments, ForeignFilesAreReplacedOnlyOnRequest) {
    const auto a = h264();
    fs::create_directory(folder_ / "out");
    std::ofstream(folder_ / "out/a.y4m") << "mine";
    const Arguments cut{"run", "-i", a, "--ending", "y4m", "--segment", "2s"};
    EXPECT_TRUE(has(run(74, "out/", cut), "already exists"));
    auto kept = cut;
    kept.emplace_back("-n");
    EXPECT_TRUE(has(run(0, "out/", kept), "1 left unchanged"));
    EXPECT_EQ(contents(folder_ / "out/a.y4m"), "mine");
    EXPECT_FALSE(fs::exists(folder_ / "out/.framewire/.parts"));
    kept.back() = "-y";
    run(0, "out/", kept);
    EXPECT_EQ(frames_in(folder_ / "out/a.y4m"), 300);
}

TEST_F(Segments, AreExactForARealClip) {
    const std::string vtest = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
    FRAMEWIRE_NEEDS(fs::exists(vtest), "vtest.avi is missing (Debian: opencv-doc)");
    const auto small = folder_ / "v.mp4";
    ASSERT_TRUE(ffmpeg("-i " + vtest + " -vf scale=192:144 -c:v libx264 -g 50 " + small));
    expect_equal({"detect", "-i", small, "--background", "first", "--min-area", "20"}, {"--segment", "20s"});
    expect_equal({"run", "-i", vtest, "--ending", "gray", "-f", "scale=96:72,noise,gray=channels=1"},
                 {"--segment", "20s"});
}

}  // namespace
}  // namespace framewire::e2e
