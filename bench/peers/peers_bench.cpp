// Whole jobs beside `ffmpeg -vf`: the same file in, the filter that both programs have, y4m or H.264 out. A row counts
// only after the frames were counted and the luma of the two outputs compared.

#include "framewire/core/error.hpp"
#include "framewire/media/y4m/y4m.hpp"
#include "kit/programs.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace peers_bench {

constexpr int turns = 5, quick_turns = 3;
constexpr int made_frames = 240, quick_made_frames = 96;
constexpr int compared_frames = 6;

// A filter in both programs' words. Their pictures' luma differs by less than `least_db` says; lower where a method
// differs in what it is and not in what it is for.
struct Peer {
    const char *name, *framewire, *ffmpeg;
    double least_db;
};

// Of the same picture, of the same purpose, and where only the size can be held to.
constexpr double same = 32, alike = 18, any = 5;

// FFmpeg's filters work on YUV, framewire's on BGR.
constexpr Peer peers[]{
    {"no filter", "", "null", 60},
    {"adjust", "adjust=brightness=20:contrast=1.2", "eq=brightness=0.067:contrast=1.2:saturation=1.2", alike},
    {"gray", "gray", "hue=s=0", alike},
    {"binarize", "binarize=fixed:level=128", "lutyuv=y='if(gt(val,126),235,16)':u=128:v=128", any},
    {"mean 3", "mean=3", "avgblur=1", same},
    {"mean 21", "mean=21", "avgblur=10", same - 6},
    {"gaussian, sigma 1", "gaussian=7:sigma=1", "gblur=sigma=1", same},
    {"gaussian, sigma 5", "gaussian=31:sigma=5", "gblur=sigma=5", same - 6},
    {"median 3", "median=3", "median=1", alike},
    {"median 5", "median=5", "median=2", alike},
    {"median 15", "median=15", "median=7", alike},
    {"mosaic 16", "mosaic=16", "pixelize=w=16:h=16", same - 6},
    {"convolve 3x3", "convolve='0 -1 0 -1 5 -1 0 -1 0'",
     "convolution='0 -1 0 -1 5 -1 0 -1 0:0 -1 0 -1 5 -1 0 -1 0:0 -1 0 -1 5 -1 0 -1 0'", alike},
    {"convolve 5x5", "convolve='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':divisor=256",
     "convolution=0m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':0rdiv=0.00390625:"
     "1m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':1rdiv=0.00390625:"
     "2m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':2rdiv=0.00390625",
     same},
    {"dilate 3x3", "dilate=3:shape=rect", "dilation", alike},
    {"erode 3x3", "erode=3:shape=rect", "erosion", alike},
    {"text", "text=framewire:x=40:y=40:size=48", "drawtext=text=framewire:x=40:y=40:fontsize=48:fontcolor=white",
     alike},
    {"scale to half, area", "scale=50%:50%:area", "scale=iw/2:ih/2:flags=area", same},
    {"scale to half, bilinear", "scale=50%:50%:bilinear", "scale=iw/2:ih/2:flags=bilinear", same},
    {"scale to half, bicubic", "scale=50%:50%:bicubic", "scale=iw/2:ih/2:flags=bicubic", same},
    {"scale to half, lanczos", "scale=50%:50%:lanczos", "scale=iw/2:ih/2:flags=lanczos", same - 4},
    {"scale to 4/3, bicubic", "scale=iw*4/3:-2:bicubic", "scale=iw*4/3:-2:flags=bicubic", same},
    {"crop to half", "crop=50%:50%", "crop=iw/2:ih/2", same},
    {"pad", "pad=iw+64:ih+32:32:16", "pad=iw+64:ih+32:32:16", same},
    {"flip", "flip", "hflip", same},
    {"flip, vertical", "flip=vertical", "vflip", same},
    {"rotate by 90", "rotate=90", "transpose=clock", same},
    {"rotate by 11", "rotate=11:size=same", "rotate=11*PI/180", alike},
    {"fps 10", "fps=10", "fps=10", any},
    {"deinterlace, linear", "deinterlace=linear", "pp=li", any},
    {"deinterlace, blend", "deinterlace=blend", "pp=lb", any},
    {"deinterlace, adaptive", "deinterlace", "yadif", any},
    {"gaussian beside its original", "gaussian=7:sigma=1,compare", "split[a][b];[b]gblur=sigma=1[c];[a][c]hstack",
     same},
};

struct Output {
    const char *name, *ending;
    std::vector<std::string> ffmpeg;
    std::string keys;  // of framewire's -o
    bool is_file;      // else standard output, which nobody keeps
};

const Output y4m_output{"y4m", "y4m", {"-f", "yuv4mpegpipe", "-strict", "-1"}, "", false};
const Output mp4_output{
    "mp4", "mp4", {"-c:v", "libx264", "-preset", "veryfast", "-crf", "23"}, ":preset=veryfast:crf=23", true};

// One of the programs at a job, and what its runs took.
struct Runner {
    std::string name;
    std::function<ProgramUse()> run;             // the whole job, timed
    std::function<std::int64_t()> frames;        // that the last one wrote
    std::function<void(const std::string&)> to;  // its first frames, as y4m in a file
    std::vector<ProgramUse> uses{};
};

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> ffmpeg_on(const std::string& input) {
    return {"ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", input};
}

// The first frames of a video, as y4m.
void take_first(const std::string& video, const std::string& path) {
    run_program(joined(ffmpeg_on(video), {"-frames:v", std::to_string(compared_frames), "-pix_fmt", "yuv420p", "-f",
                                          "yuv4mpegpipe", path}));
}

Runner ffmpeg_runner(const MemoryFolder& folder, const std::string& input, const Peer& peer, const Output& output) {
    const auto progress = folder / "progress", made = folder / (std::string("ffmpeg.") + output.ending);
    const auto job = joined(ffmpeg_on(input), {"-an", "-fps_mode", "passthrough", "-vf", peer.ffmpeg});
    const auto whole =
        joined(joined(joined(job, output.ffmpeg), {"-progress", progress}), {output.is_file ? made : "/dev/null"});
    return {"FFmpeg", [=] { return run_program(whole); },
            [=] {
                std::int64_t frames = -1;
                std::ifstream file(progress);
                for (std::string line; std::getline(file, line);)
                    if (line.starts_with("frame=")) frames = std::stoll(line.substr(6));
                std::filesystem::remove(progress);
                return frames;
            },
            [=](const std::string& path) {
                if (output.is_file) return take_first(made, path);
                run_program(
                    joined(joined(job, {"-frames:v", std::to_string(compared_frames)}), joined(output.ffmpeg, {path})));
            }};
}

Runner framewire_runner(const MemoryFolder& folder, const std::string& input, const Peer& peer, const Output& output) {
    const auto stats = folder / "stats.json", made = folder / (std::string("framewire.") + output.ending);
    std::vector<std::string> job{framewire_program(), "run",   "-i",         input,  "--backend", "cpu",
                                 "--log-level",       "error", "--progress", "none", "-y",        "--no-audio"};
    if (*peer.framewire) job = joined(job, {"-f", peer.framewire});
    const auto whole = joined(job, {"--stats", stats, "-o", output.is_file ? made + output.keys : "-"});
    return {"framewire", [=] { return run_program(whole); },
            [=] {
                const auto figures = nlohmann::json::parse(std::ifstream(stats));
                std::filesystem::remove(stats);
                return figures.at("frames").get<std::int64_t>();
            },
            [=](const std::string& path) {
                if (output.is_file) return take_first(made, path);
                run_program(joined(job, {"--frames", std::to_string(compared_frames), "-o", path}));
            }};
}

// The luma of a y4m file's frames, of limited range.
struct Luma {
    Y4mHeader header;
    std::vector<std::string> frames;
};

Luma read_luma(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    std::getline(file, line);
    Luma luma{parse_y4m_header(line, path, std::int64_t{max_side_px} * max_side_px), {}};
    const auto pixels = std::int64_t{luma.header.width} * luma.header.height;
    while (std::getline(file, line)) {
        std::string frame(static_cast<std::size_t>(luma.header.picture_bytes()), '\0');
        if (!file.read(frame.data(), luma.header.picture_bytes()))
            fail(ErrorCode::internal, "{} ends within a frame", path);
        frame.resize(static_cast<std::size_t>(pixels));
        if (luma.header.coding.full_range)
            for (auto& value : frame)
                value = static_cast<char>(16 + (static_cast<unsigned char>(value) * 219 + 127) / 255);
        luma.frames.push_back(std::move(frame));
    }
    return luma;
}

// Peak signal-to-noise ratio, in dB, of the frames that both have.
double luma_psnr(const Luma& one, const Luma& other) {
    double sum = 0, count = 0;
    for (std::size_t frame = 0; frame < one.frames.size(); ++frame)
        for (std::size_t at = 0; at < one.frames[frame].size(); ++at, ++count)
            sum += std::pow(
                static_cast<unsigned char>(one.frames[frame][at]) - static_cast<unsigned char>(other.frames[frame][at]),
                2);
    return sum == 0 ? 99 : 10 * std::log10(255.0 * 255.0 * count / sum);
}

// What the two wrote, compared; gives how near they are to each other.
double compare_outputs(const MemoryFolder& folder, const Peer& peer, const std::array<Runner, 2>& runners) {
    std::vector<Luma> written;
    for (const auto& runner : runners) {
        const auto path = folder / "compared.y4m";
        runner.to(path);
        written.push_back(read_luma(path));
        std::filesystem::remove(path);
    }
    const auto &ours = written[0].header, &theirs = written[1].header;
    if (ours.width != theirs.width || ours.height != theirs.height)
        fail(ErrorCode::internal, "{}: framewire's pictures are {}x{} and FFmpeg's {}x{}; not timed", peer.name,
             ours.width, ours.height, theirs.width, theirs.height);
    if (written[0].frames.empty() || written[0].frames.size() != written[1].frames.size())
        fail(ErrorCode::internal, "{}: framewire wrote {} frames and FFmpeg {} of {}; not timed", peer.name,
             written[0].frames.size(), written[1].frames.size(), compared_frames);
    const double db = luma_psnr(written[0], written[1]);
    if (!(db >= peer.least_db))
        fail(ErrorCode::internal, "{}: the luma of the two outputs is {:.1f} dB apart, and {:.0f} were asked for",
             peer.name, db, peer.least_db);
    return db;
}

void add_rows(Session& session, const std::string& suite, const std::string& operation,
              const std::array<Runner, 2>& runners, std::int64_t frames) {
    std::array<Row, 2> rows;
    for (std::size_t index = 0; index < 2; ++index) {
        const auto& uses = runners[index].uses;
        const auto per_frame = [&](double ProgramUse::*what, double share) {
            std::vector<double> us;
            for (const auto& use : uses) us.push_back(1e6 * (use.*what) / static_cast<double>(frames));
            std::ranges::sort(us);
            return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1) + 0.5)];
        };
        const auto wall = [&](double share) { return per_frame(&ProgramUse::seconds, share); };
        rows[index] = {suite, operation, runners[index].name, {wall(0.5), wall(0), wall(1)}, 0, {}};
        rows[index].cpu_us = per_frame(&ProgramUse::cpu_seconds, 0.5);
    }
    rows[0].to_peer = rows[1].timing.median_us / rows[0].timing.median_us;
    for (auto& row : rows) session.add(std::move(row));
}

// `frames` of the input are what times are counted by.
void bench_peer(Session& session, const char* suite, const MemoryFolder& folder, const std::string& input,
                std::int64_t frames, const Peer& peer, const Output& output) {
    std::array<Runner, 2> runners{framewire_runner(folder, input, peer, output),
                                  ffmpeg_runner(folder, input, peer, output)};
    for (int turn = 0; turn < (session.quick() ? quick_turns : turns); ++turn) {
        std::array<std::int64_t, 2> written{};
        for (std::size_t index = 0; index < 2; ++index) {
            runners[index].uses.push_back(runners[index].run());
            written[index] = runners[index].frames();
        }
        // Where a rate is changed, the two may cut the last frame's time differently.
        const bool is_rate = std::string_view(peer.name).starts_with("fps");
        if (std::abs(written[0] - written[1]) > (is_rate ? 1 : 0) || (!is_rate && written[0] != frames))
            fail(ErrorCode::internal, "{}: framewire wrote {} frames and FFmpeg {} of {}", peer.name, written[0],
                 written[1], frames);
    }
    const double db = compare_outputs(folder, peer, runners);
    add_rows(session, suite, fmt::format("{} ({:.0f} dB)", peer.name, db), runners, frames);
}

// The video that both read: what was given, or 1080p H.264 with moving figures and some noise. Its colours are pale:
// y4m says no matrix, so small results go to the one that is assumed for them, which FFmpeg leaves, and luma would
// differ.
std::string input_video(const Session& session, const MemoryFolder& folder) {
    if (!session.video().empty()) return session.video();
    const auto path = folder / "in.mp4";
    const int frames = session.quick() ? quick_made_frames : made_frames;
    run_program({"ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i",
                 "testsrc2=size=1920x1080:rate=30,hue=s=0.2,noise=alls=4:allf=t", "-frames:v", std::to_string(frames),
                 "-c:v", "libx264", "-preset", "medium", "-crf", "26", "-pix_fmt", "yuv420p", path});
    return path;
}

// What reading the video costs FFmpeg alone; gives how many frames it has.
std::int64_t bench_decoding(Session& session, const char* suite, const MemoryFolder& folder, const std::string& input) {
    const Output nothing{"nothing", "null", {"-f", "null"}, "", false};
    const Peer decode{"decode alone", "", "null", any};
    auto ffmpeg = ffmpeg_runner(folder, input, decode, nothing);
    std::int64_t frames = 0;
    std::vector<double> seconds, cpu_seconds;
    for (int turn = 0; turn < (session.quick() ? quick_turns : turns); ++turn) {
        const auto use = ffmpeg.run();
        frames = ffmpeg.frames();
        if (frames < compared_frames) fail(ErrorCode::no_input, "{} has {} frames", input, frames);
        seconds.push_back(use.seconds);
        cpu_seconds.push_back(use.cpu_seconds);
    }
    std::ranges::sort(seconds);
    std::ranges::sort(cpu_seconds);
    const double us = 1e6 / static_cast<double>(frames);
    Row row{suite, decode.name, "FFmpeg", {us * seconds[seconds.size() / 2], us * seconds[0], us * seconds.back()},
            0,     {}};
    row.cpu_us = us * cpu_seconds[cpu_seconds.size() / 2];
    session.add(std::move(row));
    return frames;
}

void bench_all(Session& session, const char* suite, const Output& output) {
    const MemoryFolder folder;
    run_program({"ffmpeg", "-version"}, folder / "version");
    std::string version;
    std::getline(std::ifstream(folder / "version") >> std::ws, version);
    fmt::print("{}\n", version);
    const auto input = input_video(session, folder);
    const auto frames = bench_decoding(session, suite, folder, input);
    for (const auto& peer : peers)
        if (session.wants(peer.name)) bench_peer(session, suite, folder, input, frames, peer, output);
}

void bench_peers(Session& session) { bench_all(session, "peers", y4m_output); }
void bench_peers_mp4(Session& session) { bench_all(session, "peers-mp4", mp4_output); }

const SuiteEntry peers_suite{"jobs", "files", bench_peers};
const SuiteEntry peers_mp4_suite{"jobs", "files-mp4", bench_peers_mp4};

}  // namespace peers_bench
}  // namespace framewire::bench
