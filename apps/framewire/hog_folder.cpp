#include "hog_folder.hpp"

#include "filtered_input.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/image_folder.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "framewire/pipeline/frame_hog.hpp"

#include <spdlog/spdlog.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace framewire::app {
namespace {

// For images of one shape, one after the other.
struct ImagePlan {
    ImagePlan(const DescribeOptions& options, const Chain& chain, const Shape& image, Executor& executor, int streams,
              int slots)
        : shape(image),
          processor(chain, image, executor),
          hog(options.hog, processor.output_shape(), executor, streams, slots) {}

    Shape shape;
    FrameProcessor processor;
    FrameHog hog;
};

// One place of the circle. The plan goes when the last image that it was for is written.
struct Slot {
    std::size_t image = 0;
    InputFrame frame;
    HostBuffer descriptors;
    std::shared_ptr<ImagePlan> plan;
};

// An image and the file of its descriptors.
struct Job {
    std::string image, output;
};

std::vector<Job> jobs_of(const DescribeOptions& options) {
    const auto& folder = options.input.source;
    if (!std::filesystem::is_directory(folder))
        fail(ErrorCode::usage, "-o {} is a folder, for the images of a folder; {} is none, so that a .npy is needed",
             options.output, folder);
    std::vector<Job> jobs;
    std::map<std::string, std::string> images;  // by output
    for (auto& image : images_in(folder)) {
        const std::string output =
            std::filesystem::path(options.output) / std::filesystem::path(image).stem().concat(".npy");
        const auto [other, is_new] = images.emplace(output, image);
        if (!is_new) fail(ErrorCode::usage, "{} and {} would both be {}", other->second, image, output);
        jobs.push_back({std::move(image), output});
    }
    return jobs;
}

void ensure_shape(HostImage& image, const Shape& shape, const Executor& executor) {
    if (image.shape() != shape) image = HostImage(shape, executor.frame_memory());
}

class DescribeFolder {
public:
    DescribeFolder(const DescribeOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          statistics_file_(options.common.statistics_path),
          chain_(parse_chain(options.input.filters)),
          jobs_(jobs_of(options)),
          executor_(options.common.backend_choice(), options.common.threads),
          streams_(options.streams_on(executor_)) {
        std::error_code failed;
        std::filesystem::create_directories(options.output, failed);
        if (failed) fail(ErrorCode::io, "cannot make the folder {}: {}", options.output, failed.message());
    }

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        // A plan waits for what it started, so all go before any slot's memory does.
        for (auto& slot : slots_) slot.plan.reset();
        plan_.reset();
        const auto figures = statistics_.snapshot();
        const RunDescription run{options_.input.source, std::string(to_string(executor_.backend())), last_shape_};
        failure.attempt([&] { statistics_file_.write(figures, run); });
        failure.rethrow();
        if (options_.json && figures.frames > 0) summary_.print(options_, figures, run, nullptr);
        spdlog::info("{} images in {:.2f} s, {:.1f} a second", figures.frames, figures.seconds, figures.fps);
    }

private:
    void pump() {
        SourceInfo source;
        source.frames = static_cast<std::int64_t>(jobs_.size());
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(source, options_.common.frames));
        const auto circle = with_streams(circle_options(options_.common, source, {}, stop_), streams_);
        slots_.resize(static_cast<std::size_t>(circle.slots));
        run_circle({.capture = [&](int slot, FrameTime& time) { return capture(at(slot), time); },
                    .process = [&](int slot, const FrameTime& time) { describe(slot, time); },
                    .send = [&](int slot, const FrameTime&) { send(slot); }},
                   circle, statistics_);
    }

    Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

    bool capture(Slot& slot, FrameTime& time) {
        if (next_ == jobs_.size() || stop_.stop_requested()) return false;
        const auto& path = jobs_[next_].image;
        const auto source = [&] {
            try {
                return open_source(path, {.stop = stop_.get_token()});
            } catch (const Error& error) {
                // The folder was there: it breaks here.
                throw Error(ErrorCode::source_lost, error.what());
            }
        }();
        ensure_shape(slot.frame.captured, source->info().shape, executor_);
        if (!source->read(slot.frame.captured.view(), time)) {
            if (stop_.stop_requested()) return false;
            fail(ErrorCode::source_lost, "{} holds no picture", path);
        }
        time.index = static_cast<std::int64_t>(next_);
        slot.image = next_++;
        return true;
    }

    void describe(int number, const FrameTime& time) {
        auto& slot = at(number);
        const auto& path = jobs_[slot.image].image;
        try {
            const auto& shape = slot.frame.captured.shape();
            if (!plan_ || plan_->shape != shape)
                plan_ = std::make_shared<ImagePlan>(options_, chain_, shape, executor_, streams_,
                                                    static_cast<int>(slots_.size()));
            slot.plan = plan_;
            auto& processor = plan_->processor;
            if (!processor.empty()) ensure_shape(slot.frame.filtered, processor.output_shape(), executor_);
            filter_frame(processor, slot.frame, time, statistics_, path);
            const auto& out = plan_->hog.output_shape();
            if (slot.descriptors.bytes() != out.bytes())
                slot.descriptors = HostBuffer(out.bytes(), executor_.frame_memory());
            plan_->hog.start(number, slot.frame.image().view(), {slot.descriptors.as<float>(), out});
        } catch (const Error& error) {
            throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
        }
    }

    void send(int number) {
        auto& slot = at(number);
        auto& hog = slot.plan->hog;
        hog.wait(number);
        if (slot.image == 0 && !options_.steps_folder.empty())
            write_steps(options_, slot.frame.image().view(), executor_);
        const auto* values = slot.descriptors.as<float>();
        const auto count = hog.output_shape().count();
        NpyFile file(jobs_[slot.image].output, array_shape(hog.output_shape()), false, stop_.get_token());
        file.write(values, static_cast<std::size_t>(count));
        file.finish();
        last_shape_ = slot.frame.image().shape();
        statistics_.add_raw_bytes(last_shape_.bytes());
        statistics_.set_sent_bytes(sent_bytes_ += file.bytes());
        if (options_.json) summary_.add(values, count);
        slot.plan.reset();
    }

    const DescribeOptions& options_;
    std::stop_source stop_;
    StatisticsFile statistics_file_;
    Chain chain_;
    std::vector<Job> jobs_;
    Executor executor_;
    int streams_;

    std::vector<Slot> slots_;
    std::shared_ptr<ImagePlan> plan_;
    std::size_t next_ = 0;
    Statistics statistics_;
    HogSummary summary_;
    Shape last_shape_{};
    std::int64_t sent_bytes_ = 0;
};

}  // namespace

bool is_output_folder(const std::string& output) {
    return output.ends_with('/') || std::filesystem::is_directory(output);
}

void describe_folder(const DescribeOptions& options, const std::stop_source& stop) { DescribeFolder(options, stop)(); }

}  // namespace framewire::app
