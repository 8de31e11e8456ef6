#include "framewire/core/dynamic_library.hpp"
#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/find.hpp"
#include "framewire/jobs/hog.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/jobs/show.hpp"
#include "framewire/net/client.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Runs whole jobs on videos that the GPU decodes, and compares all that they write with the same jobs on videos that
// the CPU decodes.

namespace framewire::jobs {
namespace {

using namespace std::chrono_literals;

class DecodedJobs : public JobTest {
protected:
    static constexpr std::int64_t long_frames = 75, short_frames = 15;

    void SetUp() override {
        JobTest::SetUp();
        if (IsSkipped()) return;
        FRAMEWIRE_NEEDS(std::filesystem::is_directory(kit::clips_folder()),
                        "no clips to read: they lie with the sources");
    }

    static std::string long_clip() { return kit::clips_folder() + "long.mp4"; }
    static std::string short_clip() { return kit::clips_folder() + "h264.mp4"; }
    static DecodeChoice choice(bool on_gpu) { return on_gpu ? DecodeChoice::cuda : DecodeChoice::cpu; }
    static DecodeStatistics place(bool on_gpu) { return {on_gpu ? Backend::cuda : Backend::cpu, {}}; }

    // Runs a job that writes files to the folder `to`.
    using Run = std::function<JobResult(const JobOptions& job, const InputOptions& input, const std::string& to)>;

    // Runs a job on each backend, with both decoders, and compares the files byte by byte. Also expects the number of
    // frames, and that the decoders were used as asked.
    void expect_same(const std::string& what, InputOptions input, std::int64_t count, const Run& run) {
        for (const auto backend : kit::backends()) {
            if (kit::why_not(backend)) continue;
            SCOPED_TRACE(fmt::format("{}, filters on {}", what, to_string(backend)));
            std::map<std::string, Bytes> files[2];
            for (const bool on_gpu : {false, true}) {
                const TemporaryFolder results;
                input.decode = choice(on_gpu);
                const JobOptions job{.backend = backend == Backend::cuda ? BackendChoice::cuda : BackendChoice::cpu,
                                     .threads = 2};
                try {
                    const auto result = run(job, input, results / "");
                    EXPECT_EQ(result.figures.frames, count);
                    EXPECT_EQ(result.figures.decode, place(on_gpu));
                } catch (const std::exception& error) {
                    FAIL() << (on_gpu ? "decoded on the GPU: " : "decoded on the CPU: ") << error.what();
                }
                for (const auto& name : results.names()) files[on_gpu][name] = read_file(results / name);
            }
            EXPECT_FALSE(files[0].empty()) << "nothing to compare";
            ASSERT_EQ(files[0].size(), files[1].size());
            for (const auto& [name, bytes] : files[0]) {
                EXPECT_FALSE(bytes.empty()) << name;
                EXPECT_TRUE(bytes == files[1][name]) << name << " differs";
            }
        }
    }
    void expect_same_run(const std::string& what, const InputOptions& input, std::int64_t count,
                         const std::string& ending = ".y4m", std::optional<std::int64_t> limit = {}) {
        expect_same(what, input, count, [&](JobOptions job, const InputOptions& of, const std::string& to) {
            job.frames = limit;
            RunJob run({.job = job, .input = of, .output = to + "out" + ending});
            return run.run();
        });
    }

    // Writes the frames of `bytes` at both sizes of resized.ts, `times` times: the format changes 2 * times - 1 times.
    std::string resized(int times) const {
        const auto once = read_file(kit::clips_folder() + "resized.ts");
        const auto path = folder_ / "resized.ts";
        std::ofstream file(path, std::ios::binary);
        for (int i = 0; i < times; ++i)
            file.write(reinterpret_cast<const char*>(once.data()), static_cast<std::streamsize>(once.size()));
        return path;
    }
};

INSTANTIATE_TEST_SUITE_P(Backends, DecodedJobs, ::testing::Values(Backend::cuda), kit::backend_name);

TEST_P(DecodedJobs, RunWritesTheSameFrames) {
    for (const auto* filters : {"", "gaussian=5", "scale=50%,flip", "gray", "gaussian=3,fps=12,compare"})
        for (const auto* ending : {".y4m", ".bgr", ".fwd:mode=exact:threshold=8"}) {
            const auto count = std::string_view(filters).find("fps=12") == std::string_view::npos ? long_frames : 36;
            expect_same_run(fmt::format("{} to {}", filters, ending), {.source = long_clip(), .filters = filters},
                            count, ending);
        }
}

TEST_P(DecodedJobs, DetectWritesTheSameRecordsAndMasks) {
    for (const auto* filters : {"", "gaussian=5", "crop=300:160:8:8"})
        expect_same(filters, {.source = long_clip(), .filters = filters}, long_frames,
                    [](const JobOptions& job, const InputOptions& input, const std::string& to) {
                        DetectJob detect({.job = job,
                                          .input = input,
                                          .output = to + "found.jsonl",
                                          .annotate = to + "boxes.y4m",
                                          .mask = to + "mask.gray",
                                          .labels = to + "labels.npy"});
                        EXPECT_GT(detect.run().objects, 0);
                        return JobResult(detect.result());
                    });
}

TEST_P(DecodedJobs, HogWritesTheSameDescriptors) {
    for (const auto* filters : {"", "scale=50%"})
        expect_same(filters, {.source = long_clip(), .filters = filters}, long_frames,
                    [](const JobOptions& job, const InputOptions& input, const std::string& to) {
                        DescribeJob hog({.job = job, .input = input, .output = to + "hog.npy"});
                        return JobResult(hog.run());
                    });
}

TEST_P(DecodedJobs, FindSeesTheSameRanges) {
    expect_same("find", {.source = long_clip()}, long_frames,
                [](const JobOptions& job, const InputOptions& input, const std::string& to) {
                    FindJob find({.job = job, .input = input});
                    const auto& result = find.run();
                    std::ofstream ranges(to + "ranges.txt");
                    for (const auto& range : result.ranges)
                        ranges << range.begin_frame << ' ' << range.end_frame << ' ' << range.frames << ' '
                               << range.box.x << ' ' << range.box.y << ' ' << range.box.width << ' ' << range.box.height
                               << ' ' << range.most_objects << ' ' << range.largest_area << '\n';
                    return JobResult(result);
                });
}

TEST_P(DecodedJobs, ShowShowsTheSameFrames) {
    expect_same("show", {.source = long_clip(), .filters = "gaussian=5"}, long_frames,
                [](JobOptions job, const InputOptions& input, const std::string& to) {
                    job.frames = long_frames;
                    std::ofstream shown(to + "shown.bgr", std::ios::binary);
                    ShowJob show({.job = job, .input = input, .speed = 100, .on_frame = [&](const ShownFrame& frame) {
                                      for (const auto& view : {frame.captured, frame.result})
                                          shown.write(reinterpret_cast<const char*>(view.data()), view.shape().bytes());
                                  }});
                    return JobResult(show.run());
                });
}

TEST_P(DecodedJobs, RangesAndRatesAreTheSame) {
    expect_same_run("start", {.source = long_clip(), .filters = "gaussian=5", .start_seconds = 1.3}, 42);
    expect_same_run("start and duration", {.source = long_clip(), .start_seconds = 0.5, .duration_seconds = 1.2}, 30);
    expect_same_run("rate", {.source = long_clip(), .filters = "median=3", .fps = 10}, long_frames);
    expect_same_run("seekable", {.source = long_clip(), .seekable = true}, long_frames);
    expect_same_run("limit", {.source = long_clip()}, 20, ".bgr", 20);
}

TEST_P(DecodedJobs, LoopsAreTheSame) {
    expect_same_run("loop", {.source = short_clip(), .filters = "gaussian=3", .loop = true}, 5 * long_frames, ".y4m",
                    5 * long_frames);
    expect_same_run("loop of a range",
                    {.source = long_clip(), .loop = true, .start_seconds = 1.5, .duration_seconds = 0.4}, long_frames,
                    ".bgr", long_frames);
}

TEST_P(DecodedJobs, FollowsFormatsThatChange) {
    expect_same_run("images", {.source = resized(3), .filters = "gaussian=3"}, 6 * short_frames, ".bgr");
    expect_same_run("planes", {.source = resized(3)}, 6 * short_frames);
}

TEST_P(DecodedJobs, JoinedSegmentsAreTheSame) {
    expect_same("segments", {.source = long_clip(), .filters = "gaussian=3"}, long_frames,
                [](const JobOptions& job, const InputOptions& input, const std::string& to) {
                    const TemporaryFolder parts;
                    const auto item = [&](const InputOptions& of, const std::string& path) {
                        const RunOptions options{.job = job, .input = of, .output = path};
                        return BatchItem{of.source, "long.y4m", files_of(options), "-o", item_work<RunJob>(options)};
                    };
                    const Cutting cutting{1, {}, look_back_of(input.filters, nullptr)};
                    auto cut = cut_video(item(input, to + "long.y4m"), input, cutting, true, {},
                                         [&](const FileSegment& segment, const std::string& name) {
                                             auto part = input;
                                             part.segment = segment;
                                             return item(part, parts / (name + ".y4m"));
                                         });
                    EXPECT_EQ(cut.parts.size(), 3u);
                    JobResult all;
                    for (const auto& part : cut.parts) {
                        const auto ignore = [](const Statistics&) {};
                        const auto figures = part.work(job, {ignore, ignore}).figures;
                        all.figures.frames += figures.frames;
                        all.figures.decode = figures.decode;
                    }
                    cut.join(job);
                    return all;
                });
}

// The file is decoded again on the CPU. Frames, count and exit status are those of the CPU.
TEST_P(DecodedJobs, DamagedFilesHaveTheSameErrorsAndCounts) {
    auto zeroed = read_file(resized(3));
    std::fill(zeroed.begin() + 40'000, zeroed.begin() + 40'400, std::uint8_t{0});
    write_file(folder_ / "zeroed.ts", zeroed.data(), zeroed.size());
    const auto whole = read_file(kit::clips_folder() + "interlaced.mkv");
    write_file(folder_ / "truncated.mkv", whole.data(), whole.size() - whole.size() / 4);
    for (const std::string name : {"zeroed.ts", "truncated.mkv"}) {
        SCOPED_TRACE(name);
        std::array<std::optional<ErrorCode>, 2> codes;
        std::array<std::string, 2> messages;
        std::array<Bytes, 2> outputs;
        std::array<JobResult, 2> results;
        for (const bool on_gpu : {false, true}) {
            const auto output = folder_ / fmt::format("{}-{}.bgr", name, on_gpu);
            std::unique_ptr<RunJob> run;
            codes[on_gpu] = error_of(
                [&] {
                    run = std::make_unique<RunJob>(RunOptions{
                        .job = job(), .input = {.source = folder_ / name, .decode = choice(on_gpu)}, .output = output});
                    run->run();
                },
                &messages[on_gpu]);
            if (!run) continue;
            results[on_gpu] = run->result();
            outputs[on_gpu] = read_file(std::filesystem::exists(output) ? output : output + ".part");
        }
        EXPECT_EQ(codes[1], codes[0]);
        EXPECT_EQ(messages[1], messages[0]);
        EXPECT_EQ(results[1].figures.frames, results[0].figures.frames);
        EXPECT_EQ(results[1].description.damaged, results[0].description.damaged);
        EXPECT_TRUE(outputs[1] == outputs[0]);
        EXPECT_EQ(codes[0], ErrorCode::source_lost);
        EXPECT_GT(results[0].figures.frames, 5);
        if (name != "zeroed.ts") continue;
        EXPECT_GT(results[0].description.damaged, 0);
        ASSERT_TRUE(results[1].figures.decode);
        EXPECT_EQ(*results[1].figures.decode, (DecodeStatistics{Backend::cpu, "the file is damaged"}));
    }
}

// Each picture that a viewer sees is what the CPU decodes for that frame.
TEST_P(DecodedJobs, ViewersSeeTheSamePictures) {
    for (const auto& [mode, threshold] : {std::pair{codec::Mode::lossless, 0}, std::pair{codec::Mode::exact, 6}}) {
        SCOPED_TRACE(to_string(mode));
        const auto cpus = folder_ / fmt::format("{}.bgr", to_string(mode));
        RunJob({.job = {.backend = BackendChoice::cpu}, .input = {.source = long_clip()}, .output = cpus}).run();
        const auto wanted = read_file(cpus);
        const auto bytes = wanted.size() / long_frames;
        std::stop_source stop;
        BroadcastOptions options{
            .job = job(), .input = {.source = long_clip(), .decode = choice(true)}, .encoder = {mode, threshold}};
        options.job.stop = stop.get_token();
        options.input.loop = true;
        options.server.listen = {"127.0.0.1", 0};
        options.wait_for_viewers = 1;
        options.hurries = true;
        options.refine_seconds = 0;
        BroadcastJob broadcast(options);
        std::int64_t seen = 0;
        auto viewer = std::async(std::launch::async, [&] {
            const std::shared_ptr<void> at_end(nullptr, [&](void*) { stop.request_stop(); });
            net::Client client(broadcast.address(), {.connect_deadline = 1min, .silence_deadline = 1min});
            while (seen < 2 * long_frames && client.next()) {
                const auto frame = static_cast<std::size_t>(client.state().frame) % long_frames;
                ASSERT_TRUE(std::equal(client.picture().data(), client.picture().data() + bytes,
                                       wanted.begin() + frame * bytes,
                                       [&](int one, int other) { return std::abs(one - other) <= client.threshold(); }))
                    << "frame " << client.state().frame;
                ++seen;
            }
        });
        broadcast.run();
        viewer.get();
        EXPECT_EQ(seen, 2 * long_frames);
        EXPECT_EQ(broadcast.result().figures.decode, place(true));
    }
}

// Server of one file: the n-th client gets its first bytes[n] bytes, and further ones are refused.
class FileServer {
public:
    FileServer(Bytes file, std::vector<std::size_t> bytes)
        : file_(std::move(file)), bytes_(std::move(bytes)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (socket_ < 0 || ::bind(socket_, any, length) || ::listen(socket_, 4) || ::getsockname(socket_, any, &length))
            throw std::runtime_error("no socket");
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this] { run(); });
    }
    ~FileServer() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        ::close(socket_);
    }
    FileServer(const FileServer&) = delete;
    FileServer& operator=(const FileServer&) = delete;

    // The query makes it an address for FFmpeg.
    std::string address() const { return fmt::format("tcp://127.0.0.1:{}?timeout=20000000", port_); }

private:
    void run() {
        for (const auto bytes : bytes_) {
            const int client = ::accept(socket_, nullptr, nullptr);
            if (client < 0) return;
            for (std::size_t at = 0; at < bytes;) {
                const auto sent = ::send(client, file_.data() + at, bytes - at, MSG_NOSIGNAL);
                if (sent <= 0) break;
                at += static_cast<std::size_t>(sent);
            }
            ::close(client);
        }
        ::shutdown(socket_, SHUT_RDWR);  // refuses further clients
    }

    Bytes file_;
    std::vector<std::size_t> bytes_;
    int socket_;
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

// Returns the last offset up to `at` where a picture begins in a transport stream of FFmpeg's muxer: each packet has
// 188 bytes, its header the flag of a beginning and the number of the stream, 0x100 for the video.
std::size_t picture_before(const Bytes& stream, std::size_t at) {
    constexpr std::size_t packet_bytes = 188;
    at -= at % packet_bytes;
    while (at > 0 && ((stream[at + 1] & 0x5F) != 0x41 || stream[at + 2] != 0)) at -= packet_bytes;
    return at;
}

// Two connections break off between two pictures, because decoders conceal the missing rest of a picture in different
// ways. Then the source comes back with the whole file. The GPU decodes by the default choice.
TEST_P(DecodedJobs, StreamsThatBreakOffComeBack) {
    const auto whole = read_file(kit::clips_folder() + "resized.ts");
    const auto cut = picture_before(whole, whole.size() / 3);
    ASSERT_GT(cut, 0u);
    std::vector<Bytes> seen[2];
    for (const bool on_gpu : {false, true}) {
        FileServer server(whole, {cut, cut, whole.size()});
        const auto output = folder_ / fmt::format("{}.bgr", on_gpu);
        JobOptions job = this->job();
        InputOptions input{.source = server.address(), .reconnect = 500ms};
        input.decode = on_gpu ? DecodeChoice::automatic : DecodeChoice::cpu;
        RunJob run({.job = job, .input = input, .output = output});
        std::string message;
        EXPECT_EQ(error_of([&] { run.run(); }, &message), ErrorCode::source_lost) << message;
        EXPECT_EQ(run.result().figures.decode, place(on_gpu));
        const auto bytes = read_file(std::filesystem::exists(output) ? output : output + ".part");
        constexpr std::size_t frame_size = std::size_t{3} * 322 * 182;
        ASSERT_EQ(bytes.size() % frame_size, 0u);
        for (std::size_t at = 0; at < bytes.size(); at += frame_size)
            seen[on_gpu].emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(at + frame_size));
    }
    EXPECT_GT(seen[0].size(), std::size_t{2 * short_frames});
    EXPECT_TRUE(seen[1] == seen[0]);
}

// Resident memory of this process and used memory of the GPU, in MiB.
struct Memory {
    double host_mib = 0, gpu_mib = 0;

    static Memory now() {
        constexpr double mib = 1 << 20;
        Memory memory;
        std::ifstream file("/proc/self/statm");
        std::int64_t pages = 0;
        file >> pages >> pages;
        memory.host_mib = static_cast<double>(pages * ::sysconf(_SC_PAGESIZE)) / mib;
        std::size_t free = 0, total = 0;
        const DynamicLibrary driver("libcuda.so.1");
        EXPECT_EQ(driver.function<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free, &total), 0);
        memory.gpu_mib = static_cast<double>(total - free) / mib;
        return memory;
    }
};

// Cameras that come and go leave no memory behind. Other programs may use the GPU at the same time, so one round
// without growth is enough: with a leak, each round grows.
TEST_P(DecodedJobs, OpeningDecodersAgainAndAgainDoesNotGrowMemory) {
    constexpr int cameras = 4, openings = 6, most_rounds = 6;
    constexpr double most_host_mib = 2, most_gpu_mib = 4;
    Executor executor(BackendChoice::cuda);  // makes the context current
    const auto open_all = [&] {
        std::vector<std::jthread> threads;
        for (int camera = 0; camera < cameras; ++camera)
            threads.emplace_back([&] {
                for (int opening = 0; opening < openings; ++opening) {
                    const auto source = open_source(short_clip(), {.decode = choice(true), .decoder_threads = 1});
                    Frame frame(source->info().shape, executor);
                    FrameTime time;
                    EXPECT_TRUE(source->capture(frame, time) && source->capture(frame, time));
                    frame.wait();
                }
            });
    };
    for (int warm_up = 0; warm_up < 2; ++warm_up) open_all();
    double host_mib = 0, gpu_mib = 0;
    for (int round = 0; round < most_rounds; ++round) {
        const auto before = Memory::now();
        open_all();
        const auto after = Memory::now();
        host_mib = after.host_mib - before.host_mib;
        gpu_mib = after.gpu_mib - before.gpu_mib;
        if (host_mib <= most_host_mib && gpu_mib <= most_gpu_mib) return;
    }
    FAIL() << "each of " << most_rounds << " rounds with " << cameras * openings
           << " decoders took more memory; the last " << host_mib << " MiB of the host and " << gpu_mib
           << " MiB of the GPU";
}

}  // namespace
}  // namespace framewire::jobs
