#include "commands/commands.hpp"
#include "jobs/filtered_input.hpp"
#include "jobs/video_output.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/output_check.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/circle/circle.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

struct DetectOptions {
    CommonOptions common;
    InputOptions input;
    DetectorOptions detector;
    std::string output = "-", format = "jsonl", annotate, mask;
};

// One place of the circle: a frame as captured and as filtered, and what was found in it.
struct Slot {
    InputFrame frame;
    FrameObjects objects;
};

// From source to records and videos. What fails on the way is thrown after what was found before was written.
class Detect {
public:
    Detect(const DetectOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          records_(parse_record_format(options.format)),
          statistics_file_(options.common),
          input_(options.input, options.common, stop.get_token()),
          detector_(make_detector(options.detector, input_.shape(), input_.executor(), stop.get_token(),
                                  !options.mask.empty())),
          annotated_(options.annotate, input_.shape(), input_.info().rate,
                     sink_options(options.common, input_.info(), stop)),
          masks_(options.mask, input_.shape().with_channels(1), input_.info().rate,
                 sink_options(options.common, input_.info(), stop)),
          output_(options.output, sink_options(options.common, input_.info(), stop).file_options()) {}

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        const auto ending = ending_of(failure, stop_, input_.info().live);
        failure.attempt([&] { annotated_.finish(ending); });
        failure.attempt([&] { masks_.finish(ending); });
        if (frames_ > 0 && !output_failed_)
            failure.attempt([&] {
                write(records_.end());
                output_.finish(ending);
            });
        const auto figures = statistics_.snapshot();
        failure.attempt([&] {
            auto description = input_.description();
            description.filters.push_back({"detect", {{"objects", 0, static_cast<double>(objects_)}}});
            statistics_file_.write(figures, description);
        });
        failure.rethrow();
        if (frames_ == 0 && !stop_.stop_requested()) fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} objects", figures.frames, figures.seconds,
                 figures.fps, figures.drops, objects_);
        if (left_out_ > 0) log_warning("{} objects more were found in frames that had too many", left_out_);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        const auto& shape = input_.shape();
        const auto circle = circle_options(options_.common, input_.info(), shape, stop_, input_.backend());
        std::vector<Slot> slots;
        for (int slot = 0; slot < circle.slots; ++slot)
            slots.push_back({input_.make_frame(), detector_->make_objects()});
        if (masks_.wanted()) mask_ = HostImage(shape.with_channels(1));
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        write(records_.begin());
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .process = [&](int slot, const FrameTime& time) { detect(at(slot), time); },
                    .wait = [&](int slot) { wait(at(slot)); },
                    .send = [&](int slot, const FrameTime& time) { send(at(slot), time); }},
                   circle, statistics_);
    }

    void detect(Slot& slot, const FrameTime& time) {
        input_.filter(slot.frame, time, statistics_, {.on_host = annotated_.wanted(), .by_stages = true});
        detector_->start(slot.frame.result(), slot.objects);
    }

    void wait(Slot& slot) {
        slot.objects.wait();
        slot.frame.wait();
    }

    void send(Slot& slot, const FrameTime& time) {
        const auto objects = slot.objects.objects();
        const auto& shape = input_.shape();
        write(records_.add({time.index, time.seconds, shape.width, shape.height, objects}));
        if (masks_.wanted()) {
            slot.objects.unpack_mask(mask_.view());
            masks_.write(std::as_const(mask_).view(), time);
        }
        if (annotated_.wanted()) {
            const auto image = slot.frame.result().host();
            draw_outlines(objects, {}, image);
            annotated_.write(image, time);
        }
        objects_ += std::ssize(objects);
        left_out_ += slot.objects.left_out();
        ++frames_;
        statistics_.set_sent_bytes(record_bytes_ + annotated_.bytes() + masks_.bytes());
    }

    void write(const std::string& text) {
        output_failed_ = true;  // until it has not
        output_.write(text.data(), text.size());
        record_bytes_ += static_cast<std::int64_t>(text.size());
        output_failed_ = false;
        if (!text.empty()) output_.mark_whole();
    }

    const DetectOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and outputs are touched last.
    ObjectRecords records_;
    StatisticsFile statistics_file_;
    FilteredInput input_;
    std::unique_ptr<FrameDetector> detector_;
    VideoOutput annotated_, masks_;  // beside the records
    HostImage mask_;                 // the last one, unpacked
    OutputFile output_;

    Statistics statistics_;
    std::int64_t frames_ = 0, objects_ = 0, left_out_ = 0, record_bytes_ = 0;
    bool output_failed_ = false;
};

// Standard output takes one of them.
void require_one_standard_output(const DetectOptions& options) {
    int outputs = 0;
    for (const auto* path : {&options.output, &options.annotate, &options.mask}) outputs += *path == "-" ? 1 : 0;
    if (outputs > 1)
        fail(ErrorCode::usage, "{} of -o, --annotate and --mask go to standard output; one of them can", outputs);
}

}  // namespace

void add_detect(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand("detect", "Moving objects as records, boxes drawn into a video, or masks");
    const auto options = std::make_shared<DetectOptions>();
    add_input_options(*command, options->input);
    command->add_option("-o,--output", options->output, "where the records go: a file, or - for standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command
        ->add_option("--format", options->format, "of the records: JSON lines, COCO's JSON, the MOT challenge's text")
        ->check(CLI::IsMember({"jsonl", "coco", "mot"}))
        ->capture_default_str();
    command->add_option("--annotate", options->annotate, "the frames with boxes, as run's -o")->type_name("DST");
    command->add_option("--mask", options->mask, "the masks, white where something moves, as run's -o")
        ->type_name("DST");
    add_detector_options(*command, options->detector, "--threshold");
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [options](const std::stop_source& stop) {
        require_one_standard_output(*options);
        RunFiles files;
        files.source(options->input.source)
            .output("-o", options->output)
            .sink("--annotate", options->annotate)
            .sink("--mask", options->mask)
            .output("--stats", options->common.statistics_path);
        add_input_files(files, options->detector);
        if (files.may_write(options->common, stop.get_token())) Detect(*options, stop)();
    });
}

}  // namespace framewire::app
