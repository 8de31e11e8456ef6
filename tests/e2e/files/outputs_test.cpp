// Tests outputs that already exist, and outputs of runs that fail.
#include "e2e/places.hpp"
#include "e2e/program.hpp"
#include "e2e/window/display.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <thread>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;
using std::chrono::milliseconds;

const std::string small_synth = "synth:size=64x48:fps=30:seed=1";
// Source that produces frames in real time, so that a recording runs for as long as a test needs.
const std::string paced = "lavfi:testsrc2=size=64x48:rate=200,realtime";

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu", "--progress", "none"});
    return run_framewire(std::move(arguments));
}

void make(const std::string& path, const char* frames = "5") {
    const auto made = run({"-i", small_synth, "-o", path, "--frames", frames});
    ASSERT_EQ(made.code, 0) << made.err;
}

// Runs the program through a shell, which closes or redirects descriptors according to `redirections`.
std::vector<std::string> through_shell(const std::string& redirections, std::vector<std::string> arguments) {
    auto command = framewire(std::move(arguments));
    command.insert(command.begin(), {"sh", "-c", "exec \"$0\" \"$@\" " + redirections});
    return command;
}

TEST(Outputs, TheInputFileIsRejectedAsOutput) {
    const TemporaryFolder folder;
    make(folder / "a.avi");
    const auto before = contents(folder / "a.avi");
    ASSERT_EQ(::symlink("a.avi", (folder / "soft.avi").c_str()), 0);
    ASSERT_EQ(::link((folder / "a.avi").c_str(), (folder / "hard.avi").c_str()), 0);
    for (const char* name : {"a.avi", "./a.avi", "soft.avi", "hard.avi"}) {
        const auto output = folder / name;
        const std::vector<std::vector<std::string>> commands = {
            {"run", "-y", "-i", folder / "a.avi", "-o", output},
            {"run", "-y", "-i", folder / "a.avi", "-o", folder / "new.avi", "--stats", output},
            {"detect", "-y", "-i", folder / "a.avi", "-o", output},
            {"detect", "-y", "-i", folder / "a.avi", "-o", folder / "new.jsonl", "--annotate", output},
            {"detect", "-y", "-i", folder / "a.avi", "-o", folder / "new.jsonl", "--mask", output},
            {"serve", "-y", "-i", folder / "a.avi", "--listen", "127.0.0.1:0", "--stats", output},
            {"hog", "-y", "-i", folder / "a.avi", "-o", output}};
        for (const auto& command : commands) {
            const auto result = run_framewire(command);
            EXPECT_EQ(result.code, 2) << command[0] << " " << name << "\n" << result.err;
            EXPECT_NE(result.err.find("is the input"), std::string::npos) << result.err;
        }
    }
    EXPECT_EQ(contents(folder / "a.avi"), before);
    EXPECT_EQ(folder.names(), (Names{"a.avi", "hard.avi", "soft.avi"}));
}

TEST(Outputs, TwoOutputsWithTheSameNameAreRejected) {
    const TemporaryFolder folder;
    const auto result =
        run({"-i", small_synth, "-o", folder / "a.mkv", "--stats", folder / "./a.mkv", "--frames", "2"});
    EXPECT_EQ(result.code, 2) << result.err;
    const auto truth =
        run({"-i", small_synth + ":truth=" + (folder / "a.mkv"), "-o", folder / "a.mkv", "--frames", "2"});
    EXPECT_EQ(truth.code, 2) << truth.err;
    EXPECT_TRUE(folder.names().empty());
}

TEST(Outputs, ExistingFilesAreRejectedKeptOrReplaced) {
    const TemporaryFolder folder;
    for (const char* name : {"a.mp4", "a.mkv", "a.m3u8", "a.y4m", "a%02d.png"}) {
        make(folder / name);
        const auto before = folder.names();
        const auto refused = run({"-i", small_synth, "-o", folder / name, "--frames", "3"});
        EXPECT_EQ(refused.code, 74) << name << refused.err;
        EXPECT_NE(refused.err.find("-y"), std::string::npos) << refused.err;
        const auto kept = run({"-n", "-i", small_synth, "-o", folder / name, "--frames", "3"});
        EXPECT_EQ(kept.code, 0) << name << kept.err;
        EXPECT_EQ(folder.names(), before) << name;
        EXPECT_EQ(run({"-y", "-i", small_synth, "-o", folder / name, "--frames", "3"}).code, 0) << name;
    }
    for (const char* name : {"a.mp4", "a.mkv", "a.m3u8", "a.y4m"}) EXPECT_EQ(frames_in(folder / name), 3) << name;
    const auto both = run({"-y", "-n", "-i", small_synth, "-o", folder / "b.mkv", "--frames", "3"});
    EXPECT_EQ(both.code, 2) << both.err;
}

TEST(Outputs, ReplacedFilesKeepTheirPermissions) {
    const TemporaryFolder folder;
    make(folder / "a.mp4");
    ASSERT_EQ(::chmod((folder / "a.mp4").c_str(), 0640), 0);
    ASSERT_EQ(run({"-y", "-i", small_synth, "-o", folder / "a.mp4", "--frames", "3"}).code, 0);
    struct stat status {};
    ASSERT_EQ(::stat((folder / "a.mp4").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
}

// `script` runs the program with a terminal and answers its question.
TEST(Outputs, ReplacingAFileIsConfirmedOnATerminal) {
    const TemporaryFolder folder;
    make(folder / "a.mkv");
    const auto command =
        std::string(program_path) + " run --backend cpu -i " + small_synth + " --frames 3 -o " + (folder / "a.mkv");
    for (const auto& [answer, code, frames] : {std::tuple{"n", 74, 5}, std::tuple{"y", 0, 3}}) {
        std::ofstream(folder / "answer") << answer << "\n";
        const auto result = Program({"script", "-qec", command, "/dev/null"}, folder / "answer").wait();
        EXPECT_EQ(result.code, code) << result.out;
        EXPECT_NE(result.out.find("replace? [y/N]"), std::string::npos) << result.out;
        EXPECT_EQ(frames_in(folder / "a.mkv"), frames);
    }
}

// The shell creates the file before the program starts, so the file already exists.
TEST(Outputs, StandardOutputMayBeAFileWithAnyName) {
    const TemporaryFolder folder;
    for (const char* name : {"-", "/dev/stdout"}) {
        const auto result = Program(through_shell("> " + (folder / "boxes.jsonl"),
                                                  {"detect", "-i", small_synth, "--frames", "3", "-o", name}))
                                .wait();
        EXPECT_EQ(result.code, 0) << name << result.err;
        const auto lines = contents(folder / "boxes.jsonl");
        EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3) << name;
    }
}

TEST(Outputs, ANumberPatternInAVideoNameIsRejected) {
    const TemporaryFolder folder;
    const auto result = run({"-i", small_synth, "-o", folder / "out%d.mp4", "--frames", "2"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find("only image formats"), std::string::npos) << result.err;
    EXPECT_TRUE(folder.names().empty());
    make(folder / "clip.mp4");
    for (const char* name : {"in1.mp4", "in2.mp4"}) std::filesystem::copy(folder / "clip.mp4", folder / name);
    const auto read = run({"-i", folder / "in%d.mp4", "-o", folder / "out.mkv"});
    EXPECT_EQ(read.code, 2) << read.err;
    EXPECT_NE(read.err.find("is a video"), std::string::npos) << read.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "out.mkv"));
}

class InterruptedOutput : public testing::TestWithParam<std::tuple<int, const char*>> {};

// A program receives SIGHUP when its terminal closes.
TEST_P(InterruptedOutput, KeepsPartialOutputAndNeverReplacesAFinishedFile) {
    const auto [number, ending] = GetParam();
    const TemporaryFolder folder;
    const auto output = folder / ("a" + std::string(ending));
    const auto breaking = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"run", "--backend", "cpu", "--progress", "json", "-i", paced, "-o", output};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Program program(framewire(arguments));
        EXPECT_TRUE(program.wait_for_err("\"frame\":")) << program.err();
        program.signal(number);
        const auto result = program.wait();
        EXPECT_EQ(result.code, 128 + number) << result.err;
        return result;
    };
    breaking({});
    const int frames = frames_in(output);
    EXPECT_GT(frames, 0);
    EXPECT_TRUE(std::filesystem::exists(output));
    const auto finished = contents(output);
    const auto again = breaking({"-y"});
    EXPECT_EQ(contents(output), finished);
    EXPECT_EQ(frames_in(output), frames);
    EXPECT_NE(again.err.find("a" + std::string(ending) + ".part"), std::string::npos) << again.err;
    EXPECT_GT(frames_in(output + ".part"), 0);
}

INSTANTIATE_TEST_SUITE_P(All, InterruptedOutput,
                         testing::Combine(testing::Values(SIGINT, SIGHUP), testing::Values(".mp4", ".mkv", ".m3u8")));

TEST(Outputs, AnIgnoredHangupSignalStaysIgnored) {
    const TemporaryFolder folder;
    Program program({"sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", program_path, "run", "--backend", "cpu",
                     "--progress", "json", "-i", paced, "-o", folder / "a.mkv", "--frames", "300"});
    ASSERT_TRUE(program.wait_for_err("\"frame\":")) << program.err();
    program.signal(SIGHUP);
    EXPECT_EQ(program.wait().code, 0);
    EXPECT_EQ(frames_in(folder / "a.mkv"), 300);
}

// --- kill -9 ---

// Returns the number of frames that a reader gets from an unfinished recording.
int frames_left_in(const std::string& path) {
    const auto probed = Program({"ffprobe", "-v", "quiet", "-select_streams", "v:0", "-count_frames", "-show_entries",
                                 "stream=nb_read_frames", "-of", "csv=p=0", path})
                            .wait();
    return probed.out.empty() ? -1 : std::atoi(probed.out.c_str());
}

// Returns the number of frames that the program had reported one second before its last report.
int frames_a_second_before(const std::string& progress) {
    std::istringstream lines(progress);
    std::vector<std::pair<double, int>> said;
    for (std::string line; std::getline(lines, line);)
        if (const auto json = Json::parse(line, nullptr, false); json.is_object() && json.contains("frame"))
            said.emplace_back(json["seconds"], json["frame"]);
    int frames = 0;
    for (const auto& [seconds, count] : said)
        if (seconds <= said.back().first - 1) frames = count;
    return frames;
}

// Returns the number of frames in a playlist, from its segments' lengths at 200 frames per second.
int frames_listed(const std::string& playlist) {
    double seconds = 0;
    for (auto at = playlist.find("#EXTINF:"); at != std::string::npos; at = playlist.find("#EXTINF:", at + 1))
        seconds += std::strtod(playlist.c_str() + at + 8, nullptr);
    return static_cast<int>(200 * seconds) - 2;  // lengths are rounded
}

struct Recording {
    std::string name;  // name of the output file
    bool viewed;       // true: recorded by `view`; false: by `run`
    bool replaces;     // true if the recording replaces a finished file
    std::unique_ptr<Program> program;
    std::string finished;  // bytes of the file that is to be replaced
};

constexpr int frames_in_encoder = 64;  // x264's lookahead, its reordering and one frame per thread

// Kills thirty recordings at random moments.
TEST(Outputs, KilledRunsLeavePlayableFilesAndKeepFinishedOnes) {
    constexpr int rounds = 5;
    std::minstd_rand random(20261122);
    Program server(framewire({"serve", "--backend", "cpu", "-i", small_synth, "--rate", "200", "--listen",
                              "127.0.0.1:0", "--progress", "none"}));
    ASSERT_TRUE(server.wait_for_err("serving")) << server.err();
    const auto words = server.err();
    const auto begin = words.find("tcp://");
    const auto url = words.substr(begin, words.find('\n', begin) - begin);
    for (int round = 0; round < rounds; ++round) {
        const TemporaryFolder folder;
        std::vector<Recording> recordings;
        for (const bool viewed : {false, true})
            for (const char* ending : {".mp4", ".mkv", ".m3u8"}) {
                const auto name = (viewed ? "view" : "run") + std::string(ending);
                recordings.push_back({name, viewed, round % 2 == 1, nullptr, {}});
            }
        for (auto& recording : recordings) {
            const auto path = folder / recording.name;
            if (recording.replaces) {
                make(path, "40");
                recording.finished = contents(path);
            }
            std::vector<std::string> arguments = recording.viewed
                                                     ? std::vector<std::string>{"view", url, "--no-window"}
                                                     : std::vector<std::string>{"run", "--backend", "cpu", "-i", paced};
            arguments.insert(arguments.end(), {"-o", path, "--progress", "json", "--log-level", "error"});
            if (recording.replaces) arguments.push_back("-y");
            recording.program = std::make_unique<Program>(framewire(arguments));
        }
        for (auto& recording : recordings)
            ASSERT_TRUE(recording.program->wait_for_err("\"frame\":")) << recording.program->err();
        const milliseconds moment_of_the_kill(1000 + random() % 2500);
        std::this_thread::sleep_for(moment_of_the_kill);
        for (auto& recording : recordings) {
            const auto path = folder / recording.name;
            const bool hls = path.ends_with(".m3u8");
            // A playlist that is not finished lies beside the finished one.
            const auto left = hls && !recording.replaces ? path : path + ".part";
            const auto listed = hls && std::filesystem::exists(left) ? contents(left) : std::string();
            recording.program->signal(SIGKILL);
            const auto result = recording.program->wait();
            ASSERT_EQ(result.code, 128 + SIGKILL) << result.err;
            if (recording.replaces) {
                EXPECT_EQ(contents(path), recording.finished) << recording.name;
                EXPECT_EQ(frames_in(path), 40) << recording.name;
            }
            if (!hls) {
                const int finished = frames_a_second_before(result.err) - frames_in_encoder;
                EXPECT_GE(frames_left_in(left), finished) << recording.name << "\n" << result.err;
            } else if (!listed.empty()) {
                // A slow viewer skips states, so each second of its recording contains fewer frames.
                EXPECT_GE(frames_left_in(left), recording.viewed ? 1 : frames_listed(listed)) << recording.name;
            }
        }
        // The next runs report the leftovers and remove them.
        for (auto& recording : recordings) {
            const auto path = folder / recording.name;
            const bool left = std::filesystem::exists(path + ".part");
            const auto next = run({"-y", "-i", small_synth, "-o", path, "--frames", "7"});
            ASSERT_EQ(next.code, 0) << next.err;
            if (left) {
                EXPECT_NE(next.err.find(recording.name + ".part"), std::string::npos) << next.err;
            }
            EXPECT_EQ(frames_in(path), 7) << recording.name;
        }
        for (const auto& name : folder.names()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    }
}

// --- descriptors and pipes ---

TEST(Outputs, ClosedStandardStreamsAreNotReusedAsFiles) {
    const TemporaryFolder folder;
    const auto input = Program(through_shell("<&-", {"run", "-i", "-", "-o", folder / "a.mkv"})).wait();
    EXPECT_EQ(input.code, 69) << input.err;
    EXPECT_NE(input.err.find("standard input"), std::string::npos) << input.err;
    const auto output = Program(through_shell(">&-", {"detect", "-i", small_synth, "--frames", "3"})).wait();
    EXPECT_EQ(output.code, 74) << output.err;
    EXPECT_NE(output.err.find("standard output"), std::string::npos) << output.err;
    EXPECT_TRUE(folder.names().empty());
    const auto all =
        Program(through_shell("<&- >&- 2>&-", {"run", "-i", small_synth, "-o", folder / "b.bgr", "--frames", "3"}))
            .wait();
    EXPECT_EQ(all.code, 0);
    EXPECT_EQ(contents(folder / "b.bgr").size(), 3u * 64 * 48 * 3);
}

// Returns true if the process handles SIGTERM and each of its threads is waiting.
bool waits(pid_t process) {
    const auto folder = "/proc/" + std::to_string(process);
    std::ifstream status(folder + "/status");
    std::uint64_t handled = 0;
    for (std::string word; status >> word;)
        if (std::uint64_t signals = 0; (word == "SigBlk:" || word == "SigCgt:") && status >> std::hex >> signals)
            handled |= signals;
    if ((handled >> (SIGTERM - 1) & 1) == 0) return false;
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator(folder + "/task", gone)) {
        std::ifstream file(thread.path() / "stat");
        file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
        char state = 0;
        if (!(file >> state) || state != 'S') return false;
    }
    return !gone;
}

class UnreadPipe : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(UnreadPipe, TheFirstSignalEndsTheProgram) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe.y4m").c_str(), 0600), 0);
    auto arguments = GetParam();
    for (auto& argument : arguments) {
        if (argument == "PIPE") argument = folder / "pipe.y4m";
        if (argument == "OUT") argument = folder / "out";
    }
    Program program(framewire(arguments));
    // The program may wait briefly while it starts, so the test must see it waiting several times.
    int looks = 0;
    ASSERT_TRUE(becomes_true([&] { return (looks = waits(program.id()) ? looks + 1 : 0) == 5; })) << program.err();
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(std::chrono::seconds(60)).code, 128 + SIGTERM) << program.err();
}

INSTANTIATE_TEST_SUITE_P(
    All, UnreadPipe,
    testing::Values(std::vector<std::string>{"run", "-i", small_synth, "-o", "PIPE"},
                    std::vector<std::string>{"run", "-i", "PIPE", "-o", "OUT.mkv"},
                    std::vector<std::string>{"hog", "-i", small_synth, "--people", "PIPE", "-o", "OUT.jsonl"},
                    std::vector<std::string>{"detect", "-i", small_synth, "--background", "PIPE", "-o", "OUT.jsonl"},
                    std::vector<std::string>{"detect", "-i", small_synth, "--roi-mask", "PIPE", "-o", "OUT.jsonl"},
                    std::vector<std::string>{"detect", "-i", small_synth, "-o", "PIPE"}));

// --- full disks and lost displays ---

TEST(Outputs, AFullDiskLeavesCompleteHlsSegments) {
    const TemporaryFolder folder;
    // The limit on file sizes allows the first segment, but not a later segment of noise.
    const auto result =
        Program({"sh", "-c", "ulimit -f 2000; exec \"$0\" \"$@\"", program_path, "run", "--backend", "cpu", "-i",
                 "lavfi:testsrc2=size=320x240:rate=25,noise=alls=100:allf=t+u:enable='gte(t,2)'", "-o",
                 folder / "a.m3u8"})
            .wait();
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_EQ(folder.names(), (Names{"a.m3u8", "a0.ts"}));
    EXPECT_EQ(frames_left_in(folder / "a.m3u8"), 50);
}

TEST(Outputs, AFullDiskKeepsTheRecordedFrames) {
    for (const char* name : {"a.mp4", "a.mkv", "a.y4m", "a.bgr"}) {
        const TemporaryFolder folder;
        const auto result =
            Program({"sh", "-c", "ulimit -f 16000; exec \"$0\" \"$@\"", program_path, "run", "--backend", "cpu", "-i",
                     "lavfi:testsrc2=size=320x240:rate=50,noise=alls=100:allf=t+u,realtime", "-o", folder / name,
                     "--frames", "2000"})
                .wait();
        EXPECT_EQ(result.code, 74) << name << result.err;
        const auto part = std::string(name) + ".part";
        EXPECT_EQ(folder.names(), Names{part}) << result.err;
        EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
        if (part != "a.bgr.part") {
            EXPECT_GT(frames_left_in(folder / part), 0) << name;
        }
    }
}

TEST(Outputs, ALostDisplayLeavesACompleteRecording) {
    const TemporaryFolder folder;
    Program server(framewire({"serve", "--backend", "cpu", "-i", small_synth, "--listen", "127.0.0.1:0"}));
    ASSERT_TRUE(server.wait_for_err("serving")) << server.err();
    const auto words = server.err();
    const auto begin = words.find("tcp://");
    const auto url = words.substr(begin, words.find('\n', begin) - begin);
    Program display(display_server("320x240x24"));
    ASSERT_TRUE(display.wait_for_err("\n")) << display.err();
    const auto number = std::atoi(display.err().c_str());
    Program viewer({"env", "DISPLAY=:" + std::to_string(number), "SDL_VIDEODRIVER=x11", program_path, "view", url, "-o",
                    folder / "a.mp4", "--progress", "json"});
    ASSERT_TRUE(viewer.wait_for_err("\"frame\":")) << viewer.err();
    display.signal(SIGKILL);
    const auto result = viewer.wait();
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find("the display was lost"), std::string::npos) << result.err;
    EXPECT_EQ(folder.names(), Names{"a.mp4"});
    EXPECT_GT(frames_in(folder / "a.mp4"), 0);
}

TEST(Outputs, LosslessModeRejectsAThreshold) {
    const auto result = run_framewire({"serve", "-i", small_synth, "--mode", "lossless", "--threshold", "20",
                                       "--listen", "127.0.0.1:0", "--frames", "1"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find("--threshold 20"), std::string::npos) << result.err;
    const auto zero = run_framewire({"serve", "-i", small_synth, "--mode", "lossless", "--threshold", "0", "--listen",
                                     "127.0.0.1:0", "--frames", "1", "--rate", "max"});
    EXPECT_EQ(zero.code, 0) << zero.err;
}

TEST(Outputs, UnknownExtensionsAreRejected) {
    const TemporaryFolder folder;
    make(folder / "a.avi");
    ASSERT_EQ(run({"-i", small_synth, "-o", folder / "p.png", "--frames", "1"}).code, 0);
    std::filesystem::create_directory(folder / "pictures");
    const auto clip = folder / "a.avi", picture = folder / "p.png", model = std::string("model.npy");
    const auto before = folder.names();
    struct Case {
        std::vector<std::string> arguments;
        std::string path, allowed;
    };
    const std::vector<Case> cases{
        {{"run", "-i", clip, "-o"}, "b.csv", ".mkv"},
        {{"run", "-i", clip, "-o", folder / "b.mkv", "--stats"}, "s.csv", ".json"},
        {{"detect", "-i", clip, "-o"}, "b.csv", ".jsonl"},
        {{"detect", "-i", clip, "-o"}, "b.json", ".jsonl"},
        {{"detect", "-i", clip, "-o"}, "boxes", ".jsonl"},
        {{"detect", "-i", clip, "--format", "coco", "-o"}, "b.jsonl", ".json"},
        {{"detect", "-i", clip, "--format", "mot", "-o"}, "b.json", ".txt"},
        {{"detect", "-i", clip, "-o", folder / "b.jsonl", "--annotate"}, "b.xyz", ".mkv"},
        {{"detect", "-i", clip, "-o", folder / "b.jsonl", "--mask"}, "b.csv", ".mkv"},
        {{"detect", "-i", clip, "-o", folder / "b.jsonl", "--labels"}, "b.csv", ".npy"},
        {{"detect", "-i", clip, "-o", folder / "b.jsonl", "--stats"}, "b.txt", ".json"},
        {{"hog", "-i", picture, "-o"}, "h.csv", ".npy"},
        {{"hog", "-i", picture, "-o", folder / "h.npy", "--stats"}, "h.csv", ".json"},
        {{"hog", "-i", picture, "--people", model, "-o"}, "b.csv", ".jsonl"},
        {{"hog", "-i", picture, "--people", model, "-o", folder / "b.jsonl", "--annotate"}, "b.csv", ".png"},
        {{"hog", "--train", folder / "pictures", folder / "pictures", "-o"}, "m.xml", ".npy"},
        {{"hog", "--train", folder / "pictures", folder / "pictures", "-o", folder / "m.npy", "--folds", "2",
          "--curve"},
         "c.txt",
         ".csv"},
        {{"show", clip, "--stats"}, "s.txt", ".json"},
        {{"view", "tcp://127.0.0.1:1", "--no-window", "-o"}, "v.csv", ".mkv"},
        {{"view", "tcp://127.0.0.1:1", "--no-window", "--stats"}, "v.csv", ".json"},
        {{"serve", "-i", clip, "--listen", "127.0.0.1:0", "--record"}, "r.csv", ".mkv"},
        {{"serve", "-i", clip, "--listen", "127.0.0.1:0", "--stats"}, "r.csv", ".json"},
        {{"run", "-i", clip, "-o", folder / "out/", "--stats"}, "s.csv", ".json"},
        {{"run", "-o", folder / "b.mkv", "-i"}, "synth:frames=2:truth=" + folder / "t.csv", ".jsonl"},
    };
    for (const auto& [arguments, path, allowed] : cases) {
        auto all = arguments;
        all.push_back(path.starts_with("synth") ? path : folder / path);
        const auto result = run_framewire(all);
        EXPECT_EQ(result.code, 2) << all.front() << " " << all.back() << ": " << result.err;
        EXPECT_NE(result.err.find(allowed), std::string::npos) << all.front() << " " << path << ": " << result.err;
    }
    EXPECT_EQ(folder.names(), before);
}

// Extensions are not case-sensitive, and special files need no extension.
TEST(Outputs, UppercaseExtensionsAndSpecialFilesAreAccepted) {
    const TemporaryFolder folder;
    make(folder / "a.avi");
    EXPECT_EQ(run_framewire({"detect", "-i", folder / "a.avi", "-o", folder / "B.JSONL", "--stats", folder / "S.Json",
                             "--labels", folder / "L.NPY"})
                  .code,
              0);
    EXPECT_EQ(run_framewire({"detect", "-i", folder / "a.avi", "-o", folder / "b.ndjson"}).code, 0);
    EXPECT_EQ(contents(folder / "b.ndjson"), contents(folder / "B.JSONL"));
    const auto nowhere = run_framewire({"detect", "-i", folder / "a.avi", "-o", "/dev/null", "--stats", "/dev/null"});
    EXPECT_EQ(nowhere.code, 0) << nowhere.err;
    const auto standard = run_framewire({"detect", "-i", folder / "a.avi", "-o", "/dev/stdout"});
    EXPECT_EQ(standard.code, 0) << standard.err;
    EXPECT_EQ(standard.out, contents(folder / "B.JSONL"));
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    Program reader({"cat", folder / "pipe"});
    const auto piped = run_framewire({"detect", "-i", folder / "a.avi", "-o", folder / "pipe"});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(reader.wait().out, standard.out);
}

// `timeout` signals the process and then its process group: the second signal does not mean that the user is impatient.
TEST(Outputs, AnImmediateSecondSignalDoesNotForceAnAbort) {
    const auto is_pending = [](pid_t process) {
        std::ifstream status("/proc/" + std::to_string(process) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("ShdPnd:"))
                return line.find_first_not_of('0', line.find_last_of("\t ") + 1) < line.size();
        return false;
    };
    for (const auto& [first, second] : {std::pair{SIGTERM, SIGTERM}, {SIGHUP, SIGTERM}, {SIGINT, SIGINT}})
        for (int attempt = 1;; ++attempt) {
            const TemporaryFolder folder;
            Program program(
                framewire({"run", "--backend", "cpu", "-i", paced, "-o", folder / "a.mp4", "--progress", "json"}));
            ASSERT_TRUE(program.wait_for_err("\"frame\":")) << program.err();
            const auto begin = std::chrono::steady_clock::now();
            program.signal(first);
            while (is_pending(program.id()))
                std::this_thread::yield();  // without a pause, the kernel would merge both into one signal
            program.signal(second);
            // If the machine took longer than the program's limit for one stop, the test proves nothing.
            const bool at_once = std::chrono::steady_clock::now() - begin < milliseconds(900);
            const auto result = program.wait();
            if (!at_once && attempt < 20) continue;
            EXPECT_EQ(result.code, 128 + first) << result.err;
            EXPECT_EQ(folder.names(), Names{"a.mp4"});
            EXPECT_GT(frames_in(folder / "a.mp4"), 0);
            break;
        }
}

// The X server stops responding, so that the window waits for it in the middle of a draw; then the X server dies.
TEST(Outputs, ADisplayLostDuringADrawLeavesACompleteRecording) {
    const TemporaryFolder folder;
    Program server(framewire({"serve", "--backend", "cpu", "-i", small_synth, "--listen", "127.0.0.1:0"}));
    ASSERT_TRUE(server.wait_for_err("serving")) << server.err();
    const auto words = server.err();
    const auto begin = words.find("tcp://");
    const auto url = words.substr(begin, words.find('\n', begin) - begin);
    Program display(display_server("320x240x24"));
    ASSERT_TRUE(display.wait_for_err("\n")) << display.err();
    Program viewer({"env", "DISPLAY=:" + std::to_string(std::atoi(display.err().c_str())), "SDL_VIDEODRIVER=x11",
                    program_path, "view", url, "-o", folder / "a.mp4", "--progress", "json"});
    ASSERT_TRUE(viewer.wait_for_err("\"frame\":")) << viewer.err();
    display.signal(SIGSTOP);
    const auto seen = viewer.err().size();
    ASSERT_TRUE(becomes_true([&] { return viewer.err().size() > seen + 300; })) << "the recording does not continue";
    display.signal(SIGKILL);
    const auto result = viewer.wait();
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find("the display was lost"), std::string::npos) << result.err;
    EXPECT_EQ(folder.names(), Names{"a.mp4"});
    EXPECT_GT(frames_in(folder / "a.mp4"), 0);
}

}  // namespace
}  // namespace framewire::e2e
