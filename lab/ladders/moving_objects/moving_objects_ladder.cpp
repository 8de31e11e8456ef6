// The report's tables 4 to 9 (moving objects 2023): the hand-written detector on the CPU, OpenCV's, and four versions
// on the GPU, step by step; then framewire's.

#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector.hpp"
#include "ladders/moving_objects/gpu_detector.hpp"
#include "ladders/moving_objects/loops.hpp"
#include "ladders/moving_objects/scene.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#if FRAMEWIRE_OPENCV
#include "framewire/detect/opencv_detector_ref.hpp"
#endif

namespace framewire::bench {
namespace moving_objects_ladder {

using namespace moving_objects;

constexpr const char* suite = "ladders/moving_objects";

// Tables 4 to 9, microseconds per frame of 596x336; 0 if a table has no value. Times of whole frames follow from their
// FPS.
struct ReportedStep {
    const char* step;
    double us[6];
};
constexpr ReportedStep reported_steps[] = {
    {"grayscale", {1030, 216, 56, 34.2, 46.1, 32.5}},
    {"blur", {258e3, 303, 3040, 1530, 912, 908}},
    {"blur matrix", {13.5, 0, 1.89, 0.03, 0.06, 0.03}},
    {"difference", {265, 15.6, 23.2, 23.4, 28.4, 24.2}},
    {"threshold", {279, 11.1, 22.1, 22.6, 25.1, 24.5}},
    {"morphology", {124e3, 1127.669, 4240, 4230, 2280, 2240}},
    {"dilate", {0, 0, 2110, 2110, 1120, 1110}},
    {"erode", {0, 0, 2110, 2110, 1130, 1120}},
    {"disc matrix", {1.17, 0, 1.34, 0.009, 0.018, 0.015}},
    {"labels", {15.1e3, 191, 518, 427, 597, 413}},
    {"initCCL", {0, 0, 29.1, 29.3, 34.7, 23.2}},
    {"mergeCCL", {0, 0, 84.5, 45.6, 60.8, 46.4}},
    {"compressCCL", {0, 0, 21.1, 17.3, 19.2, 20.4}},
    {"boxes", {17.1e3, 109, 793, 628, 457, 363}},
    {"memory", {0, 0, 1210, 490, 711, 478}},
    {"whole", {1e6 / 2.392, 1e6 / 450.4, 1e6 / 100.9, 1e6 / 135.5, 1e6 / 192.8, 1e6 / 224.0}}};
constexpr FrameSize reported_size{596, 336};
constexpr int first_table = 4, first_gpu_table = 6;

struct Variant {
    const char* name;
    const char* runner;
    int table;  ///< number of the report's table; 0 if it has none
    const char* note = "";
};

// Adds the rows of one variant and size.
class Rows {
public:
    Rows(Session& session, const Variant& variant, FrameSize size)
        : session_(&session), variant_(variant), size_(size) {}

    void add(const std::string& step, const Timing& timing, double bytes = 0,
             std::map<std::string, std::string> details = {}) const {
        const auto size = fmt::format("{}x{}", size_.width, size_.height);
        details.insert({{"size", size}, {"step", step}});
        if (step == "whole") details["fps"] = fmt::format("{:.1f}", 1e6 / timing.median_us);
        Row row{suite, fmt::format("{}, {}, {}", variant_.name, size, step), variant_.runner, timing, bytes, {}};
        row.details = std::move(details);
        row.note = variant_.note;
        row.reported = reported(step);
        session_->add(std::move(row));
    }

private:
    std::optional<Reported> reported(const std::string& step) const {
        const auto* found = std::ranges::find(reported_steps, step, &ReportedStep::step);
        if (!variant_.table || size_.width != reported_size.width || found == std::end(reported_steps)) return {};
        const double us = found->us[variant_.table - first_table];
        if (us == 0) return {};
        return Reported{fmt::format("moving objects 2023, table {}", variant_.table),
                        variant_.table < first_gpu_table ? "i7-6700HQ" : "GTX 960M", us};
    }

    Session* session_;
    Variant variant_;
    FrameSize size_;
};

// Returns the least memory traffic: the frame is read, and its labels are written and read.
double fewest_bytes(FrameSize size) { return static_cast<double>((3 + 2 * sizeof(std::int32_t)) * size.pixels()); }

Timing sum_of(const std::vector<Timing>& parts) {
    Timing sum;
    for (const auto& part : parts) {
        sum.median_us += part.median_us;
        sum.low_us += part.low_us;
        sum.high_us += part.high_us;
        sum.least_us += part.least_us;
        sum.mean_us += part.mean_us;
        sum.most_us += part.most_us;
    }
    return sum;
}

using CpuSteps = std::vector<std::pair<const char*, std::function<void()>>>;

// Times the steps in turn, one frame after the other.
void time_steps(Session& session, const Rows& rows, const CpuSteps& steps, FrameSize size) {
    std::vector<std::function<void()>> candidates;
    for (const auto& step : steps) candidates.push_back(step.second);
    const auto timings = session.time_cpu(candidates);
    for (std::size_t step = 0; step < steps.size(); ++step) rows.add(steps[step].first, timings[step]);
    rows.add("whole", sum_of(timings), fewest_bytes(size));
}

// Writes the results of the steps for a frame, as in the report's figure 1: gray and blurred, its foreground dilated,
// and eroded again.
void write_steps(const Session& session, FrameSize size, const std::array<const std::vector<std::uint8_t>*, 4>& steps) {
    if (session.pictures().empty() || size.width != reported_size.width) return;
    const Shape shape{1, size.height, size.width, 1};
    HostImage picture({1, 2 * size.height, 2 * size.width, 1});
    const auto row_bytes = picture.shape().row_bytes();
    for (int step = 0; step < 4; ++step)
        copy({steps[static_cast<std::size_t>(step)]->data(), shape},
             {picture.view().row(0, step / 2 * size.height) + step % 2 * size.width, shape, row_bytes,
              size.height * row_bytes});
    write_picture(session, "moving-object-steps", std::as_const(picture).view());
}

void bench_loops(Session& session, const MovingScene& scene) {
    const auto size = scene.size;
    const Variant variant{"CPU v1.0", "cpu, 1 thread", 4,
                          "plain loops over a 15x15 matrix; mirrored at the border, where the report uses black"};
    auto blur_cells = blur_matrix();
    auto disc_cells = disc_matrix();
    std::vector<std::uint8_t> gray(size.pixels()), blurred(gray), room(gray), mask(gray), swap(gray);
    std::vector<std::int32_t> labels(size.pixels());
    std::vector<Component> objects;
    grayscale(size, scene.room.view().data(), gray.data());
    blur(size, blur_cells, gray.data(), room.data());
    int turn = 0;
    const CpuSteps steps{{"grayscale", [&] { grayscale(size, scene.frame(turn++), gray.data()); }},
                         {"blur matrix", [&] { blur_cells = blur_matrix(); }},
                         {"blur", [&] { blur(size, blur_cells, gray.data(), blurred.data()); }},
                         {"difference", [&] { difference(size, blurred.data(), room.data(), mask.data()); }},
                         {"threshold", [&] { apply_threshold(size, mask.data()); }},
                         {"disc matrix", [&] { disc_cells = disc_matrix(); }},
                         {"morphology",
                          [&] {
                              dilate(size, disc_cells, mask.data(), swap.data());
                              erode(size, disc_cells, swap.data(), mask.data());
                          }},
                         {"labels", [&] { label(size, mask.data(), labels.data()); }},
                         {"boxes", [&] { objects = components_of(size, labels.data()); }}};
    for (int frame = 0; frame < std::min(scene.count(), 4); ++frame) {  // a frame of the larger size takes seconds
        for (const auto& step : steps) step.second();
        require_objects(objects, scene.matrix_objects, frame, variant.name);
    }
    write_steps(session, size, {&gray, &blurred, &swap, &mask});
    time_steps(session, Rows(session, variant, size), steps, size);
}

#if FRAMEWIRE_OPENCV
void bench_opencv(Session& session, const MovingScene& scene) {
    const auto size = scene.size;
    cv::setNumThreads(session.threads());
    OpencvDetector detector(report_parameters());
    detector.set_background(scene.room.view());
    auto want = scene.matrix_objects;
    for (auto& of_frame : want)
        for (auto& one : of_frame) one.sum_x = one.sum_y = 0;  // OpenCV gives means instead
    std::vector<Component> objects;
    int turn = 0;
    const CpuSteps steps{
        {"grayscale", [&] { detector.grayscale(scene.frames.view().frames(turn++ % scene.count(), 1)); }},
        {"blur", [&] { detector.blur(); }},
        {"difference", [&] { detector.subtract(); }},
        {"threshold", [&] { detector.apply_threshold(); }},
        {"morphology", [&] { detector.close(); }},
        {"labels", [&] { detector.label(); }},
        {"boxes", [&] { objects = detector.boxes(); }}};
    for (int frame = 0; frame < scene.count(); ++frame) {
        for (const auto& step : steps) step.second();
        require_objects(objects, want, frame, "OpenCV");
    }
    time_steps(session, Rows(session, {"OpenCV v1.0", "OpenCV", 5}, size), steps, size);
}
#endif

void bench_framewire_cpu(Session& session, const MovingScene& scene) {
    MotionDetector detector(report_parameters(), scene.room.shape(), session.cpu());
    detector.set_background(scene.room.view());
    int turn = 0;
    const auto run = [&] { detector.run(scene.frames.view().frames(turn++ % scene.count(), 1)); };
    for (int frame = 0; frame < scene.count(); ++frame) {
        run();
        const auto found = detector.fetch().of_frame();
        require_objects({found.begin(), found.end()}, scene.objects, frame, "framewire cpu");
    }
    Rows(session, {"framewire", "framewire cpu", 0}, scene.size)
        .add("whole", session.time_cpu({run}).front(), fewest_bytes(scene.size));
}

#if FRAMEWIRE_BENCHES_ON_GPU
// The kernels' names in the tables, by DetectorStep.
constexpr const char* gpu_step_names[gpu_steps] = {"grayscale", "blur",    "difference", "threshold",  "dilate",
                                                   "erode",     "initCCL", "mergeCCL",   "compressCCL"};

struct GpuVariant {
    Variant variant;
    GpuVersion version;
    int block_px;
};
constexpr GpuVariant gpu_variants[] = {
    {{"GPU v1.0", "cuda", 6, "allocates memory and recomputes the background for each frame"}, GpuVersion::v1_0, 32},
    {{"GPU v1.1", "cuda", 7, "memory and background are prepared once; matrices in global memory"},
     GpuVersion::v1_1,
     32},
    {{"GPU v1.2", "cuda", 8, "tiles in shared memory, matrices in constant memory"}, GpuVersion::tiled, 32},
    {{"GPU v1.3", "cuda", 9, "as v1.2, but with blocks of 16x16"}, GpuVersion::tiled, 16}};

// Measures one version with one block size on the scene.
class GpuBench {
public:
    GpuBench(Session& session, const MovingScene& scene, const GpuVariant& variant)
        : session_(&session), scene_(&scene), variant_(variant), labels_(scene.size.pixels()), kept_(make()) {}

    void check() {
        for (int frame = 0; frame < scene_->count(); ++frame) {
            run_frame(frame);
            require_objects(objects_, scene_->matrix_objects, frame,
                            fmt::format("{} in blocks of {}", variant_.variant.name, variant_.block_px));
        }
    }
    /// Adds all rows of the report's tables 6 to 9, and transfers.
    void time_each() {
        for (int step = 0; step < gpu_steps; ++step) add_kernels(gpu_step_names[step], step, step + 1);
        add_kernels("morphology", static_cast<int>(DetectorStep::dilate), static_cast<int>(DetectorStep::erode) + 1);
        add_kernels("labels", static_cast<int>(DetectorStep::init), static_cast<int>(DetectorStep::compress) + 1);
        add_kernels("kernels", 0, gpu_steps);
        add("HtoD", session_->time_launches([&](int turn) { kept_.upload(scene_->frame(turn)); }));
        add("DtoH", session_->time_launches([&](int) { kept_.download(labels_.data()); }));
        add("memory",
            session_->time_host([&](int turn) { with_detector([&](auto& detector) { move_frame(detector, turn); }); }));
        run_frame(0);
        add("boxes", session_->time_cpu({[&] { objects_ = components_of(scene_->size, labels_.data()); }}).front());
        add("whole", session_->time_host([&](int turn) { run_frame(turn); }), fewest_bytes(scene_->size));
    }
    /// Times all kernels together.
    void time_kernels() { add_kernels("kernels", 0, gpu_steps); }

private:
    GpuDetector make() const {
        return {variant_.version, scene_->size, variant_.block_px, scene_->room.view().data(),
                session_->gpu()->stream()};
    }
    /// Calls `body` with a detector, for v1.0 with a new one for each frame.
    template <class Body>
    void with_detector(Body&& body) {
        if (variant_.version != GpuVersion::v1_0) return body(kept_);
        auto detector = make();
        body(detector);
    }
    void finish(GpuDetector& detector) {
        detector.download(labels_.data());
        session_->gpu()->stream().synchronize();
    }
    void move_frame(GpuDetector& detector, int index) {
        detector.upload(scene_->frame(index));
        finish(detector);
    }
    void work_on(GpuDetector& detector, int index) {
        detector.upload(scene_->frame(index));
        detector.queue(0, gpu_steps);
        finish(detector);
    }
    void run_frame(int index) {
        with_detector([&](auto& detector) { work_on(detector, index); });
        objects_ = components_of(scene_->size, labels_.data());
    }
    void add_kernels(const char* name, int first_step, int end_step) {
        add(name, session_->time_launches([&](int) { kept_.queue(first_step, end_step); },
                                          [&](int turn) {
                                              kept_.upload(scene_->frame(turn));
                                              kept_.queue(0, first_step);
                                          }));
    }
    void add(const char* step, const Timing& timing, double bytes = 0) {
        Rows(*session_, variant_.variant, scene_->size)
            .add(step, timing, bytes, {{"block", fmt::format("{0}x{0}", variant_.block_px)}});
    }

    Session* session_;
    const MovingScene* scene_;
    GpuVariant variant_;
    std::vector<std::int32_t> labels_;
    std::vector<Component> objects_;
    GpuDetector kept_;
};

void bench_gpu(Session& session, const MovingScene& scene) {
    for (const auto& variant : gpu_variants) {
        // The kernels of v1.0 are those of v1.1.
        if (session.once() && variant.version == GpuVersion::v1_0) continue;
        session.attempt(fmt::format("{}, {}", suite, variant.variant.name), [&] {
            GpuBench bench(session, scene, variant);
            bench.check();
            bench.time_each();
        });
    }
    if (session.once()) return;
    // Repeats the search for v1.3's block size.
    for (const int block_px : {4, 8, 12, 16, 20, 24, 28, 32})
        session.attempt(fmt::format("{}, blocks of {}", suite, block_px), [&] {
            GpuBench bench(session, scene,
                           {{"GPU tiled", "cuda", 0, "grid search for v1.3"}, GpuVersion::tiled, block_px});
            bench.check();
            bench.time_kernels();
        });
}

void bench_framewire_cuda(Session& session, const MovingScene& scene) {
    auto& executor = *session.gpu();
    MotionDetector detector(report_parameters(), scene.room.shape(), executor);
    detector.set_background(scene.room.view());
    cuda::DeviceImage in(scene.room.shape());
    const auto run = [&](int turn) {
        cuda::upload(scene.frames.view().frames(turn % scene.count(), 1), in.view(), executor.stream());
        detector.run(std::as_const(in).view());
        detector.fetch();
    };
    for (int frame = 0; frame < scene.count(); ++frame) {
        run(frame);
        const auto found = detector.fetch().of_frame();
        require_objects({found.begin(), found.end()}, scene.objects, frame, "framewire cuda");
    }
    const Rows rows(session,
                    {"framewire", "framewire cuda", 0, "boxes are computed on the GPU, and only they are downloaded"},
                    scene.size);
    rows.add("kernels", session.time_launches([&](int) { detector.run(std::as_const(in).view()); }));
    rows.add("whole", session.time_host(run), fewest_bytes(scene.size));
}
#endif

void bench_moving_objects(Session& session) {
    const auto sizes = session.check_only()                ? std::vector<FrameSize>{{150, 85}}
                       : session.once() || session.quick() ? std::vector<FrameSize>{reported_size}
                                                           : std::vector<FrameSize>{reported_size, {1920, 1080}};
    for (const auto size : sizes) {
        // The report's film has 124 frames. The CPU variant takes 0.16 s per frame, even if it is only checked.
        const bool is_short = session.untimed() || session.quick() || size.width > reported_size.width;
        const MovingScene scene(size, is_short ? 6 : 124);
        const auto attempt = [&](const char* what, void (*part)(Session&, const MovingScene&)) {
            session.attempt(fmt::format("{}, {}", suite, what), [&] { part(session, scene); });
        };
        if (!session.once()) attempt("CPU v1.0", bench_loops);
#if FRAMEWIRE_OPENCV
        if (!session.once()) attempt("OpenCV v1.0", bench_opencv);
#endif
#if FRAMEWIRE_BENCHES_ON_GPU
        if (session.gpu()) bench_gpu(session, scene);
#endif
        if (!session.once()) attempt("framewire cpu", bench_framewire_cpu);
#if FRAMEWIRE_BENCHES_ON_GPU
        if (session.gpu()) attempt("framewire cuda", bench_framewire_cuda);
#endif
    }
}

const SuiteEntry moving_objects_suite{"ladders", "moving_objects", bench_moving_objects};

}  // namespace moving_objects_ladder
}  // namespace framewire::bench
