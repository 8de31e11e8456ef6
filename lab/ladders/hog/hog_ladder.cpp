// The HOG report's table 2 and figures 12 and 14: its pipeline on the CPU and on the GPU with 1, 2 and 4 streams, on
// images and on a video, step by step; then framewire's.

#include "framewire/core/time.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "ladders/hog/gpu_pipeline.hpp"
#include "ladders/hog/steps.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace hog_ladder {

using namespace hog_report;

constexpr const char* suite = "ladders/hog";

// The seconds of table 2 for one image and for a video of 480 frames, on the CPU and with 1, 2 and 4 streams.
struct ReportedTimes {
    int streams;  ///< 0: the CPU
    double image_s, video_s;
};
constexpr ReportedTimes reported_times[] = {{0, 0.107, 59.05}, {1, 0.004, 2.04}, {2, 0.003, 1.76}, {4, 0.003, 1.59}};
constexpr int reported_video_frames = 480;

// Describes what was corrected in a step of the report (steps.hpp).
std::string note_of(const std::string& step) {
    if (step == "gradients")
        return "signed 16-bit values with replicated border pixels; the report uses bytes and leaves out the border";
    if (step == "magnitude and direction") return "floats; the report uses bytes";
    if (step == "votes")
        return "split by the distances from the centres of both bins, unlike in the report's equations 11 and 12";
    return "";
}

// Images used in turn, and their descriptors by framewire's reference.
struct Film {
    std::string name;  ///< "images", "video", "1920x1080"
    std::vector<HostImage> pictures;
    std::vector<std::vector<double>> want;
    int frames = 0;  ///< number of frames of the video, which repeats the images; 0: not a video

    Film(std::string film_name, const std::vector<Shape>& shapes, int video_frames = 0)
        : name(std::move(film_name)), frames(video_frames) {
        for (const auto& shape : shapes) {
            pictures.emplace_back(shape);
            fill_scene(pictures.back().view(), static_cast<std::uint32_t>(pictures.size()));
            want.push_back(hog_reference({}, picture(static_cast<int>(pictures.size()) - 1)).descriptors);
        }
    }
    int count() const { return static_cast<int>(pictures.size()); }
    std::size_t at(int turn) const { return static_cast<std::size_t>(turn % count()); }
    HostView<const std::uint8_t> picture(int turn) const { return pictures[at(turn)].view(); }
    void require(const std::vector<float>& descriptors, int turn, const std::string& variant) const {
        Session::require_near(descriptors, want[at(turn)], fmt::format("{}, picture {} of {}", variant, turn, name));
    }
    // Returns the mean bytes per image: the image is read, its descriptors are written.
    double fewest_bytes() const {
        double bytes = 0;
        for (const auto& one : pictures)
            bytes += static_cast<double>(one.shape().bytes()) +
                     static_cast<double>(sizeof(float) * descriptor_values(one.shape()));
        return bytes / count();
    }
};

// Adds the rows of one variant on one film.
struct Rows {
    Session& session;
    const Film& film;
    std::string variant, runner;
    int streams;  ///< 0: not one of the report's GPU variants
    std::map<std::string, std::string> more{};

    void add(const std::string& step, const Timing& timing, const std::string& note = "") const {
        Row row{suite, fmt::format("{}, {}, {}", variant, film.name, step), runner, timing, 0, {}};
        row.details = more;
        row.details.insert({{"input", film.name}, {"step", step}});
        if (streams > 0) row.details["streams"] = std::to_string(streams);
        if (step == "whole") row.bytes = film.fewest_bytes();
        const auto* found = std::ranges::find(reported_times, streams, &ReportedTimes::streams);
        if (step == "whole" && film.name != "1920x1080" && variant != "framewire")
            row.reported = Reported{"HOG 2022, table 2", streams ? "GTX 1060 3GB" : "i7-7700",
                                    1e6 * (film.frames ? found->video_s / reported_video_frames : found->image_s)};
        row.note = note.empty() && variant != "framewire" ? note_of(step) : note;
        session.add(std::move(row));
    }
    // Processes a video once from its first frame to its last and adds the mean time.
    void add_video(const std::function<void(int turn)>& run) const {
        if (!film.frames || session.untimed()) return;
        const auto begin = Clock::now();
        for (int frame = 0; frame < film.frames; ++frame) run(frame);
        const double us = 1000 * milliseconds_since(begin) / film.frames;
        add("whole", {us, us, us, us, us, us},
            fmt::format("{} frames take {:.2f} s", film.frames, us * film.frames * 1e-6));
    }
};

void bench_report_cpu(Session& session, const Film& film) {
    CpuPipeline pipeline;
    int turn = 0;
    const std::vector<std::pair<const char*, std::function<void()>>> steps{
        {"grayscale",
         [&] {
             pipeline.begin(film.picture(turn++));
             pipeline.grayscale();
         }},
        {"gamma", [&] { pipeline.apply_gamma(); }},
        {"gradients", [&] { pipeline.take_gradients(); }},
        {"magnitude and direction", [&] { pipeline.take_magnitudes_and_directions(); }},
        {"votes", [&] { pipeline.vote(); }}};
    const auto run = [&](int) {
        for (const auto& step : steps) step.second();
    };
    for (int index = 0; index < film.count(); ++index) {
        run(index);
        film.require(pipeline.descriptors(), index, "CPU");
    }
    std::vector<std::function<void()>> candidates;
    for (const auto& step : steps) candidates.push_back(step.second);
    const auto timings = session.time_cpu(candidates);
    const Rows rows{session, film, "CPU", "cpu, 1 thread", 0};
    for (std::size_t step = 0; step < steps.size(); ++step) rows.add(steps[step].first, timings[step]);
    if (film.frames)
        rows.add_video(run);
    else
        rows.add("whole", session.time_host(run));
}

void bench_framewire_cpu(Session& session, const Film& film) {
    std::vector<std::unique_ptr<Hog>> plans;  // one per image size
    for (const auto& picture : film.pictures)
        plans.push_back(std::make_unique<Hog>(HogParameters{}, picture.shape(), session.cpu()));
    std::vector<float> out;
    const auto run = [&](int turn) {
        auto& plan = *plans[film.at(turn)];
        out.resize(static_cast<std::size_t>(plan.output_shape().count()));
        plan.run(film.picture(turn), HogView<float, MemorySpace::host>(out.data(), plan.output_shape()));
    };
    for (int index = 0; index < film.count(); ++index) {
        run(index);
        film.require(out, index, "framewire cpu");
    }
    const Rows rows{session, film, "framewire", "framewire cpu", 0};
    if (film.frames)
        rows.add_video(run);
    else
        rows.add("whole", session.time_host(run));
}

#if FRAMEWIRE_BENCHES_ON_GPU
constexpr const char* gpu_step_names[gpu_steps] = {"grayscale", "gamma", "gradients", "magnitude and direction",
                                                   "votes"};

std::uint32_t most_pixels(const Film& film) {
    std::uint32_t most = 0;
    for (const auto& one : film.pictures)
        most = std::max(most, static_cast<std::uint32_t>(one.shape().width * one.shape().height));
    return most;
}

void bench_report_gpu(Session& session, const Film& film, int streams, int block_px, bool votes_only) {
    const auto& work = session.gpu()->stream();
    GpuPipeline pipeline(most_pixels(film), streams, block_px, work);
    std::vector<float> descriptors;
    const auto run = [&](int turn) {
        pipeline.upload(film.picture(turn));
        pipeline.queue(0, gpu_steps);
        pipeline.download(descriptors);
        work.synchronize();
    };
    const auto variant = fmt::format("GPU, {} stream{}", streams, streams > 1 ? "s" : "");
    for (int index = 0; index < film.count(); ++index) {
        run(index);
        film.require(descriptors, index, variant);
    }
    const Rows rows{session, film, variant, "cuda", streams, {{"block", fmt::format("{0}x{0}", block_px)}}};
    const auto add_step = [&](int step) {
        rows.add(gpu_step_names[step], session.time_launches([&](int) { pipeline.queue(step, step + 1); },
                                                             [&](int turn) {
                                                                 pipeline.upload(film.picture(turn));
                                                                 pipeline.queue(0, step);
                                                             }));
    };
    if (votes_only) return add_step(static_cast<int>(HogStep::votes));
    for (int step = 0; step < gpu_steps; ++step) add_step(step);
    rows.add("HtoD", session.time_launches([&](int turn) { pipeline.upload(film.picture(turn)); }));
    rows.add("DtoH", session.time_launches([&](int) { pipeline.download(descriptors); }));
    if (film.frames)
        rows.add_video(run);
    else
        rows.add("whole", session.time_host(run));
}

void bench_framewire_cuda(Session& session, const Film& film) {
    auto& executor = *session.gpu();
    struct Plan {
        Hog hog;
        cuda::DeviceImage in;
        cuda::DeviceBuffer out;
        Plan(const Shape& shape, Executor& on) : hog({}, shape, on), in(shape), out(hog.output_shape().bytes()) {}
        void run() {
            hog.run(std::as_const(in).view(), HogView<float, MemorySpace::device>(out.as<float>(), hog.output_shape()));
        }
    };
    std::vector<std::unique_ptr<Plan>> plans;
    for (const auto& picture : film.pictures) {
        plans.push_back(std::make_unique<Plan>(picture.shape(), executor));
        cuda::upload(std::as_const(picture).view(), plans.back()->in.view(), executor.stream());
    }
    std::vector<float> descriptors;
    const auto run = [&](int turn) {
        auto& plan = *plans[film.at(turn)];
        cuda::upload(film.picture(turn), plan.in.view(), executor.stream());
        plan.run();
        descriptors.resize(plan.out.bytes() / sizeof(float));
        cuda::download(plan.out.data(), descriptors.data(), plan.out.bytes(), executor.stream());
        executor.stream().synchronize();
    };
    for (int index = 0; index < film.count(); ++index) {
        run(index);
        film.require(descriptors, index, "framewire cuda");
    }
    const Rows rows{session, film, "framewire", "framewire cuda", 0};
    rows.add("kernels", session.time_launches([&](int turn) { plans[film.at(turn)]->run(); }));
    if (film.frames)
        rows.add_video(run);
    else
        rows.add("whole", session.time_host(run));
}
#endif

std::vector<Film> films(const Session& session) {
    std::vector<Film> all;
    if (session.check_only()) {
        all.emplace_back("images", std::vector<Shape>{{1, 120, 97, 3}, {1, 64, 131, 3}});
        return all;
    }
    if (session.once()) {
        all.emplace_back("images", std::vector<Shape>{{1, 640, 480, 3}});
        return all;
    }
    // Twelve typical sizes of cropped photographs of people, portrait and landscape.
    std::vector<Shape> sizes;
    for (int image = 0; image < 12; ++image)
        sizes.push_back({1, 640 + 37 * (image % 4), 480 + 41 * (image % 5) + 100 * (image % 2), 3});
    all.emplace_back("images", sizes);
    all.emplace_back("video", std::vector<Shape>(8, {1, 360, 640, 3}), session.quick() ? 48 : reported_video_frames);
    if (!session.quick()) all.emplace_back("1920x1080", std::vector<Shape>(2, bench_frame));
    return all;
}

void bench_hog(Session& session) {
    for (const auto& film : films(session)) {
        const auto attempt = [&](const std::string& what, const std::function<void()>& part) {
            session.attempt(fmt::format("{}, {}, {}", suite, what, film.name), part);
        };
        if (!session.once()) attempt("CPU", [&] { bench_report_cpu(session, film); });
#if FRAMEWIRE_BENCHES_ON_GPU
        if (session.gpu()) {
            // With more streams the kernels are the same, so a profiler needs only one.
            for (const int streams : session.once() ? std::vector{1} : std::vector{1, 2, 4})
                attempt(fmt::format("{} streams", streams),
                        [&] { bench_report_gpu(session, film, streams, 32, false); });
            for (const int block_px : {8, 16})
                attempt(fmt::format("blocks of {}", block_px),
                        [&] { bench_report_gpu(session, film, 1, block_px, true); });
        }
#endif
        if (!session.once()) attempt("framewire cpu", [&] { bench_framewire_cpu(session, film); });
#if FRAMEWIRE_BENCHES_ON_GPU
        if (session.gpu()) attempt("framewire cuda", [&] { bench_framewire_cuda(session, film); });
#endif
    }
}

const SuiteEntry hog_ladder_suite{"ladders", "hog", bench_hog};

}  // namespace hog_ladder
}  // namespace framewire::bench
