#include "framewire/session/hog/describe.hpp"

#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/frames/hog/frame_hog.hpp"
#include "framewire/session/hog/steps/step_pictures.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/written.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace framewire::session {

namespace {

// decoders deliver no more frames in parallel, and each instance takes memory
constexpr int most_side_by_side = 16;

// Computes the descriptors of several frames in parallel on the CPU, each frame on a single thread. Threads that share
// a frame have to wait for each other after every step of the algorithm.
class HogsSideBySide {
public:
    // `frames` is the number of frames in parallel.
    HogsSideBySide(const HogParameters& parameters, const Shape& frame, int frames) {
        for (int i = 0; i < frames; ++i) {
            all_.push_back(std::make_unique<FrameHog>(parameters, frame, one_thread_));
            free_.push_back(all_.back().get());
        }
    }

    int frames() const { return static_cast<int>(all_.size()); }

    // Computes the descriptors of one frame. Called from at most frames() threads at a time.
    void run(InputFrame& frame, FrameDescriptors& found) {
        const Lent lent(*this);
        start_on(frame, *lent.hog, found);
    }

private:
    // Borrows a free instance for the life of this object.
    struct Lent {
        explicit Lent(HogsSideBySide& of) : owner(&of) {
            const std::lock_guard lock(owner->mutex_);
            hog = owner->free_.back();
            owner->free_.pop_back();
        }
        ~Lent() {
            const std::lock_guard lock(owner->mutex_);
            owner->free_.push_back(hog);
        }
        Lent(const Lent&) = delete;
        Lent& operator=(const Lent&) = delete;

        HogsSideBySide* owner;
        FrameHog* hog;
    };

    Executor one_thread_{BackendChoice::cpu, 1};
    std::vector<std::unique_ptr<FrameHog>> all_;
    std::mutex mutex_;
    std::vector<FrameHog*> free_;  // guarded by mutex_
};

// Results of one frame.
struct Described {
    FrameDescriptors descriptors;
    void wait() { descriptors.wait(); }
};

}  // namespace

// State of the job. The output is opened last, after everything else succeeded.
struct DescribeJob::State {
    explicit State(const DescribeOptions& asked);

    void run();
    // Writes the descriptors of one frame and, for selected frames, the step pictures.
    void send(InputFrame& frame, const Described& found);

    DescribeOptions options;
    FrameJob<FilteredInput> job;
    int under_way;
    FrameHog hog;
    // used instead of `hog` if set
    std::optional<HogsSideBySide> side_by_side;
    NpyFile output;
    Written written;
    DescribeResult result;
};

DescribeJob::State::State(const DescribeOptions& asked)
    : options(asked),
      job(options.job, options.input, files_of(options)),
      under_way(options.frames_under_way_on(job.input().backend())),
      hog(options.hog, job.input().shape(), job.input().executor()),
      output(options.output, array_shape(hog.output_shape()),
             job.input().info().frames != 1 || is_folder(options.input.source), job.sink_options().file_options()) {
    result.shape = hog.output_shape();
    auto& input = job.input();
    if (hog.goes_by_rows() && options.steps_folder.empty()) input.give_unfiltered_pictures();
    // The next frame of a live source arrives after this one is done, so threads that share a frame finish it sooner.
    if (input.backend() == Backend::cpu && !input.info().live && input.info().frames != 1)
        side_by_side.emplace(options.hog, input.shape(),
                             std::min(input.executor().pool().threads(), most_side_by_side));
}

void DescribeJob::State::run() {
    FrameStages<Described> stages{
        .wanted = {.on_host = !options.steps_folder.empty(), .by_stages = true},
        .under_way = under_way,
        .make = [this] { return Described{FrameDescriptors(hog.output_shape(), job.input().executor())}; },
        .send = [this](InputFrame& frame, const FrameTime&, Described& found) { send(frame, found); },
        .finish =
            [this](FirstFailure& failure, Ending ending) {
                if (written.whole()) failure.attempt([&] { output.finish(ending); });
            }};
    if (side_by_side) {
        stages.waiters = side_by_side->frames();
        stages.work = [this](InputFrame& frame, Described& found) {
            job.input().executor().step("hog", [&] { side_by_side->run(frame, found.descriptors); });
        };
    } else {
        stages.start = [this](InputFrame& frame, const FrameTime&, Described& found) {
            start_on(frame, hog, found.descriptors);
        };
    }
    job.run(stages, result);
}

void DescribeJob::State::send(InputFrame& frame, const Described& found) {
    if (const auto folder = steps_folder_of(options, result.descriptors.frames()); !folder.empty())
        write_step_pictures(folder, options.hog, frame.result().host(), job.input().executor(), options.job.replace);
    const auto values = found.descriptors.values();
    written.attempt([&] { output.write(values.data(), values.size()); });
    job.statistics().set_sent_bytes(output.bytes());
    result.descriptors.add(values);
}

DescribeJob::DescribeJob(const DescribeOptions& options) : state_(std::make_unique<State>(options)) {}
DescribeJob::~DescribeJob() = default;

const DescribeResult& DescribeJob::run() { return state_->run(), state_->result; }
const DescribeResult& DescribeJob::result() const { return state_->result; }
const Statistics& DescribeJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
