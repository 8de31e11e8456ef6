#include "framewire/core/parameter_fields.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/hog.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/people.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/net/client.hpp"
#include "framewire/plan/chain.hpp"
#include "kit/gpus.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Compares whole jobs on the GPU, and with the limits of smaller GPUs, with the same jobs on the CPU. The number of
// frames exceeds three rounds of any frame ring, because a chain is replayed as a recorded graph only from the second
// use of its images on.

namespace framewire::jobs {
namespace {

using namespace std::string_literals;

class WholeJobs : public JobTest {
protected:
    // Large enough for every example in the registry: the examples' crops and zones must be inside.
    static constexpr int scene_width = 672, scene_height = 496;
    static constexpr std::size_t scene_bytes = std::size_t{3} * scene_width * scene_height;
    static int scene_frames() { return kit::brief() ? 40 : 75; }

    void SetUp() override {
        JobTest::SetUp();
        if (IsSkipped()) return;
        RunJob({.job = on(Backend::cpu), .input = {.source = synthetic()}, .output = folder_ / "scene.bgr"}).run();
        ASSERT_EQ(read_file(folder_ / "scene.bgr").size(), scene_bytes * static_cast<std::size_t>(scene_frames()));
    }

    static JobOptions on(Backend backend) {
        return {.backend = backend == Backend::cuda ? BackendChoice::cuda : BackendChoice::cpu, .replace = true};
    }
    static std::string synthetic() {
        return fmt::format("synth:size={}x{}:fps=30:noise=4:objects=5:seed=3:frames={}", scene_width, scene_height,
                           scene_frames());
    }
    std::string scene() const {
        return fmt::format("raw:{}:size={}x{}:format=bgr:fps=30", folder_ / "scene.bgr", scene_width, scene_height);
    }

    // Calls run(job options, folder) on the CPU and for each of gpus_to_test(), and compares all files that it leaves
    // in the folders, byte by byte or with `same`. Exceptions count as failures.
    using Same = std::function<bool(const Bytes& cpu, const Bytes& cuda)>;
    void expect_same(const std::string& what, const std::function<void(const JobOptions&, const std::string&)>& run,
                     const Same& same = {}) {
        SCOPED_TRACE(what);
        const auto files_of = [&](Backend backend) {
            const TemporaryFolder results;
            std::map<std::string, Bytes> files;
            try {
                run(on(backend), results / "");
                for (const auto& name : results.names()) files[name] = read_file(results / name);
            } catch (const std::exception& error) {
                ADD_FAILURE() << "on " << to_string(backend) << ": " << error.what();
            }
            return files;
        };
        const auto cpu_files = files_of(Backend::cpu);
        EXPECT_FALSE(cpu_files.empty()) << "nothing to compare";
        for (const auto& gpu : kit::gpus_to_test()) {
            SCOPED_TRACE(gpu ? gpu->name : "the GPU as it is");
            const kit::EmulatedGpu emulated(gpu);
            auto cuda_files = files_of(Backend::cuda);
            ASSERT_EQ(cuda_files.size(), cpu_files.size());
            for (const auto& [name, cpu] : cpu_files) {
                const auto& cuda = cuda_files[name];
                EXPECT_FALSE(cpu.empty()) << name;
                if (same ? same(cpu, cuda) : cpu == cuda) {
                    ++compared_;
                    continue;
                }
                const auto first = std::mismatch(cpu.begin(), cpu.end(), cuda.begin(), cuda.end()).first - cpu.begin();
                ADD_FAILURE() << name << ": byte " << first << " is the first that differs; " << cpu.size()
                              << " bytes of the CPU, " << cuda.size() << " of the GPU";
            }
        }
    }

    void expect_same_run(const std::string& source, const std::string& filters, const std::string& ending,
                         const Same& same = {}) {
        expect_same(
            fmt::format("{} | {} | {}", source.substr(0, source.find(':')), filters, ending),
            [&](const JobOptions& job, const std::string& to) {
                RunJob run(
                    {.job = job, .input = {.source = source, .filters = filters}, .output = to + "out" + ending});
                const auto& result = run.run();
                EXPECT_EQ(result.description.backend, job.backend == BackendChoice::cuda ? "cuda" : "cpu");
            },
            same);
    }

    int compared_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Backends, WholeJobs, ::testing::Values(Backend::cuda), kit::backend_name);

// Returns all examples of all filters, and the names of the filters without examples.
std::vector<std::string> examples() {
    std::vector<std::string> all;
    for (const auto& filter : filter_registry()) {
        if (filter.examples.empty()) all.emplace_back(filter.name);
        for (const auto example : filter.examples) all.emplace_back(example);
    }
    // Test machines may have no installed fonts.
    if (const auto* font = std::getenv("FRAMEWIRE_TEST_FONT"))
        for (auto& chain : all)
            if (const auto at = chain.find("text="); at != chain.npos)
                chain.replace(at, 5, fmt::format("text=font={}:text=", font));
    return all;
}

// Returns true if the chain shows {fps}, the speed of the job, which differs between runs.
bool shows_speed(const std::string& chain) { return chain.find("{fps}") != chain.npos; }
bool same_size(const Bytes& cpu, const Bytes& cuda) { return cpu.size() == cuda.size(); }

TEST_P(WholeJobs, EveryFilterMatchesTheCpu) {
    const auto y4m = folder_ / "scene.y4m", odd_file = folder_ / "odd.bgr";
    RunJob({.job = on(Backend::cpu), .input = {.source = scene()}, .output = y4m}).run();
    // A width whose rows are not aligned.
    RunJob({.job = on(Backend::cpu), .input = {.source = scene(), .filters = "crop=667:491"}, .output = odd_file})
        .run();
    const auto odd = fmt::format("raw:{}:size=667x491:format=bgr:fps=30", odd_file);
    for (auto chain : examples()) {
        if (shows_speed(chain)) {
            expect_same_run(scene(), chain, ".bgr", same_size);
            chain.replace(chain.find("{fps}"), 5, "{frame}");
        }
        expect_same_run(scene(), chain, ".bgr");
        expect_same_run(odd, "gaussian=3," + chain + ",flip", ".bgr");
        expect_same_run(y4m, chain, ".y4m");
    }
    EXPECT_GE(compared_, static_cast<int>(3 * examples().size()));
}

TEST_P(WholeJobs, LongChainsMatchTheCpu) {
    for (const auto* chain :
         {"scale=50%,convolve='0 -1 0 -1 5 -1 0 -1 0',scale=200%", "convolve='1 1 1 1 1 1 1 1 1':divisor=9,heatmap",
          "gray=channels=1,scale=320:240,median=5,binarize=sauvola:window=31:k=0.3",
          "crop=400:300,rotate=15,scale=640:480:lanczos,mosaic=12,boxes",
          "noise=10,gaussian=9,erode=3,dilate=3,pad=iw+48:ih+32",
          "adjust=contrast=1.4,mean=7,deinterlace,median=9,compare,scale=50%"}) {
        expect_same_run(scene(), chain, ".bgr");
        expect_same_run(synthetic(), chain, ".bgr");
    }
    expect_same_run(synthetic(), "", ".bgr");
}

TEST_P(WholeJobs, EveryDetectorMatchesTheCpu) {
    using Values = std::initializer_list<std::pair<std::string, std::string>>;
    const auto detect = [&](const Values& values, const DetectorRegion& region = {}, const std::string& filters = {}) {
        std::string what = "detect";
        for (const auto& [name, value] : values) what += fmt::format(" {}={}", name, value);
        const DetectorOptions detector{detector_parameters(with_defaults(detector_fields().infos(), values)), region};
        expect_same(what + " " + filters, [&](const JobOptions& job, const std::string& to) {
            DetectJob({.job = job,
                       .input = {.source = scene(), .filters = filters},
                       .detector = detector,
                       .output = to + "found.jsonl",
                       .annotate = to + "boxes.bgr",
                       .mask = to + "mask.gray",
                       .labels = to + "labels.npy"})
                .run();
        });
    };
    detect({});
    detect({{"method", "report"}});
    detect({{"method", "report"}, {"background", "mean:0.1"}});
    detect({{"method", "report"}, {"blur", "7"}, {"threshold", "12"}, {"connectivity", "4"}});
    detect({{"background", "mean:0.02"}, {"morph", "open"}});
    detect({{"morph", "close"}, {"shape", "ellipse"}, {"diameter", "9"}});
    detect({{"morph", "median:15"}, {"max-area", "2000"}});
    detect({{"background", "mixture:shadows=1"}});
    detect({{"background", "mixture:history=20:shadows=0"}});
    detect({{"morph", "none"}, {"min-area", "1"}});
    detect({{"stabilise", "1"}});
    detect({{"background", "adaptive"}, {"stabilise", "1"}});
    detect({{"method", "report"}, {"stabilise", "1"}});
    detect({}, std::vector<Zone>{{100, 100, 300, 200}});
    detect({{"method", "report"}}, {}, "scale=50%,gaussian=3");
    detect({}, {}, "convolve='1 2 1 2 4 2 1 2 1':divisor=16,gray=channels=1");
}

// The GPU's job decodes there. The planes stay on the GPU, are converted there, or are downloaded for the output.
TEST_P(WholeJobs, DecodedVideosMatchTheCpu) {
    const auto clips = kit::clips_folder();
    FRAMEWIRE_NEEDS(std::filesystem::is_directory(clips), "no clips to read: they lie with the sources");
    for (const std::string name : {"h264.mp4", "hevc10.mp4", "vp9.webm", "resized.ts"}) {
        const auto input = [&](const JobOptions& job, const std::string& filters) {
            const bool on_gpu = job.backend == BackendChoice::cuda;
            return InputOptions{
                .source = clips + name, .filters = filters, .decode = on_gpu ? DecodeChoice::cuda : DecodeChoice::cpu};
        };
        for (const auto* const filters : {"", "gaussian=5", "median=3,mosaic=8", "gaussian=3,fps=12,compare"})
            expect_same(fmt::format("{} | {}", name, filters), [&](const JobOptions& job, const std::string& to) {
                for (const auto* const ending : {".y4m", ".bgr"})
                    RunJob({.job = job, .input = input(job, filters), .output = to + "out" + ending}).run();
            });
        for (const auto* const filters : {"", "gaussian=5"})
            expect_same(fmt::format("{} | {} | detect", name, filters),
                        [&](const JobOptions& job, const std::string& to) {
                            DetectJob({.job = job,
                                       .input = input(job, filters),
                                       .output = to + "found.jsonl",
                                       .annotate = to + "boxes.y4m"})
                                .run();
                        });
    }
}

TEST_P(WholeJobs, EveryCodecModeMatchesTheCpu) {
    for (const auto* filters : {"gaussian=5", "", "scale=50%", "gray=channels=1"})
        for (const auto* options :
             {"mode=exact:threshold=12", "mode=exact:threshold=0", "mode=exact:threshold=12:key=1",
              "mode=bounded:threshold=12", "mode=bounded:threshold=12:effort=0", "mode=bounded:threshold=12:effort=2",
              "mode=bounded:threshold=3:key=1", "mode=lossless", "mode=lossless:key=1"}) {
            expect_same(fmt::format("fwd {} {}", filters, options), [&](const JobOptions& job, const std::string& to) {
                RunJob({.job = job,
                        .input = {.source = scene(), .filters = filters},
                        .output = fmt::format("{}a.fwd:{}", to, options)})
                    .run();
                const auto* ending = std::string_view(filters).starts_with("gray") ? ".gray" : ".bgr";
                RunJob(
                    {.job = job, .input = {.source = to + "a.fwd", .filters = "median=3"}, .output = to + "b" + ending})
                    .run();
            });
        }
}

// Compares descriptors with a tolerance: they are floats, whose sums are added in different orders on the CPU and on a
// GPU.
bool same_descriptors(const Bytes& cpu, const Bytes& cuda) {
    // size of the .npy header in bytes
    constexpr std::size_t header = 128;
    if (cpu.size() != cuda.size() || cpu.size() <= header) return false;
    if (!std::equal(cpu.begin(), cpu.begin() + header, cuda.begin())) return false;
    std::vector<float> values[2];
    for (const auto* bytes : {&cpu, &cuda}) {
        auto& numbers = values[bytes == &cuda];
        numbers.resize((bytes->size() - header) / sizeof(float));
        std::memcpy(numbers.data(), bytes->data() + header, numbers.size() * sizeof(float));
    }
    const float largest = *std::ranges::max_element(values[0]);
    return largest > 0 && std::ranges::equal(values[0], values[1], [&](float one, float other) {
               // false for NaN
               return std::abs(one - other) <= 1e-4f * largest;
           });
}

TEST_P(WholeJobs, EveryHogOptionMatchesTheCpu) {
    std::vector<HogParameters> all;
    for (const auto gradient : {HogGradient::sobel, HogGradient::central})
        for (const auto norm : {HogNorm::none, HogNorm::l2, HogNorm::l2hys})
            for (const bool with_sign : {false, true})
                all.push_back({.gradient = gradient, .signed_gradients = with_sign, .norm = norm});
    all.push_back({.cell = 4});
    all.push_back({.cell = 16});
    all.push_back({.cell = 32, .bins = 12});
    all.push_back({.cell = 16, .bins = 36, .norm = HogNorm::l2, .block = 3});
    all.push_back({.gradient = HogGradient::central, .cell = 16, .bins = 18});
    for (const auto preset : {HogPreset::people, HogPreset::opencv}) all.push_back(hog_preset(preset));
    all.push_back({.gamma = HogGamma::sqrt, .norm = HogNorm::opencv});
    for (const auto& hog : all)
        for (const auto* filters : {"", "scale=50%"})
            expect_same(
                fmt::format("hog {} {}", hog_fields().text(hog), filters),
                [&](const JobOptions& job, const std::string& to) {
                    DescribeJob({.job = job,
                                 .input = {.source = scene(), .filters = filters},
                                 .hog = hog,
                                 .output = to + "descriptors.npy"})
                        .run();
                },
                same_descriptors);
}

// Scores of all windows above the threshold in each frame, indexed by the window's box.
using Windows = std::map<std::vector<int>, double>;

std::vector<Windows> windows_in(const Bytes& records) {
    std::vector<Windows> frames;
    std::istringstream text(std::string(records.begin(), records.end()));
    for (std::string line; std::getline(text, line);) {
        Windows& windows = frames.emplace_back();
        for (const auto& object : nlohmann::json::parse(line).at("objects"))
            windows[object.at("box").get<std::vector<int>>()] = object.at("score").get<double>();
    }
    return frames;
}

// Scores differ by rounding errors, so a window that only one backend found must have a score close to the threshold.
bool same_windows(const Windows& one, const Windows& other, double threshold, double tolerance) {
    return std::ranges::all_of(one, [&](const auto& window) {
        const auto counterpart = other.find(window.first);
        return std::abs(window.second - (counterpart == other.end() ? threshold : counterpart->second)) <= tolerance;
    });
}

// The model is made from a part of the scene.
TEST_P(WholeJobs, PeopleMatchTheCpu) {
    // at most 1,833 windows per frame
    constexpr double threshold = 74, tolerance = 0.01;
    const auto model = folder_ / "model.npy";
    auto one = on(Backend::cpu);
    one.frames = 1;
    const HogParameters hog{.norm = HogNorm::l2hys};
    DescribeJob(
        {.job = one, .input = {.source = scene(), .filters = "crop=64:128:288:176"}, .hog = hog, .output = model})
        .run();
    std::size_t found = 0;
    for (const auto* filters : {"", "scale=50%"})
        expect_same(
            "people "s + filters,
            [&](const JobOptions& job, const std::string& to) {
                PeopleOptions options{.job = job,
                                      .input = {.source = scene(), .filters = filters},
                                      .model = model,
                                      .window = {.hog = hog},
                                      .output = to + "people.jsonl"};
                options.people.threshold = static_cast<float>(threshold);
                options.people.group = PeopleGrouping::overlap;
                // no window suppresses another one with a slightly lower score
                options.people.overlap = 1;
                PeopleJob people(options);
                found += static_cast<std::size_t>(people.run().people);
                EXPECT_EQ(people.result().frames_left_out, 0);
            },
            [&](const Bytes& cpu, const Bytes& cuda) {
                const auto wanted = windows_in(cpu), got = windows_in(cuda);
                EXPECT_EQ(wanted.size(), static_cast<std::size_t>(scene_frames()));
                return std::ranges::equal(wanted, got, [&](const Windows& ours, const Windows& theirs) {
                    return same_windows(ours, theirs, threshold, tolerance) &&
                           same_windows(theirs, ours, threshold, tolerance);
                });
            });
    EXPECT_GT(found, 0u);
}

// Server whose chain changes while it runs. A viewer compares every picture with the CPU's result for the same frame:
// for the chain in force, or for the previous chain as long as that one is still visible.
class ServedChains : public WholeJobs {
protected:
    static constexpr int looped_frames = 16, seen_of_each_chain = 60;
    static constexpr std::chrono::minutes patience{2};

    // Returns the CPU's results for all frames, which are served in a loop.
    std::vector<Bytes> on_cpu(const std::string& chain) const {
        const TemporaryFolder results;
        RunJob(
            {.job = on(Backend::cpu), .input = {.source = served(), .filters = chain}, .output = results / "out.bgr"})
            .run();
        return raw_frames(results / "out.bgr");
    }
    std::string served() const {
        return fmt::format("raw:{}:size={}x{}:fps=200", folder_ / "served.bgr", width, height);
    }

    void expect_cpus_pictures(codec::Mode mode, int threshold);
};

INSTANTIATE_TEST_SUITE_P(Backends, ServedChains, ::testing::Values(Backend::cuda), kit::backend_name);

void ServedChains::expect_cpus_pictures(codec::Mode mode, int threshold) {
    SCOPED_TRACE(to_string(mode));
    RunJob(
        {.job = on(Backend::cpu),
         .input = {.source = fmt::format("synth:size={}x{}:noise=4:objects=5:frames={}", width, height, looped_frames)},
         .output = folder_ / "served.bgr"})
        .run();
    // These chains do not depend on other frames, because the test does not know at which frame a chain starts.
    const std::vector<std::string> chains{"gaussian=5",
                                          "scale=50%,scale=200%",
                                          "convolve='1 2 1  2 4 2  1 2 1':divisor=16",
                                          "median=5,flip",
                                          "mosaic=12,convolve='0 0 0 0 1 0 0 0 0'",
                                          "gray",
                                          "erode=7,scale=64:48,scale=128:96:lanczos",
                                          "rotate=15:size=same",
                                          "binarize=otsu",
                                          "adjust=brightness=20:contrast=1.4"};
    std::vector<std::vector<Bytes>> wanted;
    for (const auto& chain : chains) {
        wanted.push_back(on_cpu(chain));
        ASSERT_EQ(wanted.back().size(), static_cast<std::size_t>(looped_frames)) << chain;
    }
    std::stop_source stop;
    BroadcastOptions options{.job = on(Backend::cuda), .input = {.source = served()}, .encoder = {mode, threshold}};
    options.job.stop = stop.get_token();
    options.input.filters = chains.front();
    options.input.loop = true;
    options.input.accepts_control = true;
    options.server.listen = {"127.0.0.1", 0};
    options.server.write_deadline = patience;
    options.wait_for_viewers = 1;
    options.refine_seconds = 0;
    BroadcastJob broadcast(options);
    std::vector<int> seen(chains.size());
    auto viewer = std::async(std::launch::async, [&] {
        // Ends the job on every path.
        const struct Stop {
            std::stop_source& of;
            ~Stop() { of.request_stop(); }
        } at_end{stop};
        net::Client client(broadcast.address(), {.connect_deadline = patience, .silence_deadline = patience});
        // The chain that was requested last, and the chain that was seen last: the same one or its predecessor.
        std::size_t requested = 0, current = 0;
        while (client.next()) {
            const std::span picture(client.picture().data(), frame_bytes);
            const auto frame = static_cast<std::size_t>(client.state().frame) % looped_frames;
            const auto is_of = [&](std::size_t chain) {
                return std::ranges::equal(picture, wanted[chain][frame], [&](int one, int other) {
                    return std::abs(one - other) <= client.threshold();
                });
            };
            if (!is_of(current)) {
                ASSERT_TRUE(current < requested && is_of(requested))
                    << "frame " << client.state().frame << " is not what the CPU makes of it by " << chains[requested];
                current = requested;
            }
            ++seen[current];
            if (current < requested || seen[current] < seen_of_each_chain) continue;
            if (++requested == chains.size()) break;
            ASSERT_TRUE(broadcast.take_chain(chains[requested])) << chains[requested];
        }
    });
    broadcast.run();
    viewer.get();
    for (std::size_t chain = 0; chain < chains.size(); ++chain)
        EXPECT_GE(seen[chain], seen_of_each_chain) << chains[chain];
}

TEST_P(ServedChains, LosslessPicturesMatchTheCpu) { expect_cpus_pictures(codec::Mode::lossless, 0); }
TEST_P(ServedChains, ExactPicturesMatchTheCpu) { expect_cpus_pictures(codec::Mode::exact, 6); }
TEST_P(ServedChains, BoundedPicturesMatchTheCpu) { expect_cpus_pictures(codec::Mode::bounded, 6); }

}  // namespace
}  // namespace framewire::jobs
