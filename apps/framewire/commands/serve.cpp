#include "commands/commands.hpp"
#include "jobs/filtered_input.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/output_check.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/delta/packing.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/pipeline/chain/camera_panel.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/run_values.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/frames/stream_encoder.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

struct ServeOptions {
    CommonOptions common;
    InputOptions input;
    DetectorOptions detector;
    std::string listen = "127.0.0.1:7878", name{net::default_stream}, mode = "exact", rate = "own";
    int threshold = 20, wait = 0, viewers = 64;
    bool loop = false, detect = false;
};

// How long viewers may take for the last state and the end; less when the user wants the program gone.
constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

// What `--rate` says.
struct Pace {
    bool own = true;  // by the frames' own times
    double fps = 0;   // above 0: by this rate instead
    bool hurries() const { return !own && fps == 0; }
};

Pace parse_pace(const std::string& text) {
    if (text == "own") return {};
    if (text == "max") return {.own = false};
    Pace pace{.own = false};
    if (read_number(text, pace.fps) != std::errc{} || !(pace.fps >= 0.01 && pace.fps <= 10'000))
        fail(ErrorCode::usage, "--rate '{}' is not allowed; allowed are own, max and 0.01 to 10000 frames a second",
             text);
    return pace;
}

// A source's name as viewers are told it: no folders of this machine, no users and no queries of a URL.
std::string public_name(const std::string& source) {
    constexpr std::string_view hidden_user = "***@";
    auto name = without_credentials(source);
    const auto scheme = name.find("://");
    if (scheme == std::string::npos) return name.substr(name.find_last_of('/') + 1);
    name.erase(std::min(name.find('?'), name.size()));
    const auto host = scheme + 3;
    if (name.compare(host, hidden_user.size(), hidden_user) == 0) name.erase(host, hidden_user.size());
    return name;
}

double megabytes(std::int64_t bytes) { return 1e-6 * static_cast<double>(bytes); }

// One place of the circle: a frame as captured and as filtered, what changed in it, and what moves in it.
struct Slot {
    InputFrame frame;
    FrameChanges changes;
    FrameObjects objects;
    delta::Packer packer;
    std::vector<std::uint8_t> packed;  // the changes, where somebody watches
};

// A step takes longer to pack than to find: so many threads pack at once.
int packing_threads(const Executor& executor) {
    constexpr int most = 8;
    return std::clamp(executor.pool().threads() / 2, 1, most);
}

// From source to viewers. What fails on the way is thrown after the viewers were told.
class Serve {
public:
    Serve(const ServeOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          pace_(parse_pace(options.rate)),
          chain_(parse_chain(options.input.filters)),
          listen_(net::parse_address(options.listen)),
          statistics_file_(options.common),
          source_(open_source(options.input.source, {.stop = stop.get_token(),
                                                     .rate = asked_rate(),
                                                     .loop = options.loop,
                                                     .replace_truth = options.common.replace})),
          info_(source_->info()),
          executor_(options.common.backend_choice(), options.common.threads),
          plan_(chain_, info_.shape, executor_),
          encoder_({delta::parse_mode(options.mode), options.threshold}, plan_.output_shape(), executor_),
          detector_(options.detect ? make_detector(options.detector, info_.shape, executor_, stop.get_token())
                                   : nullptr),
          state_(stream_info(), executor_),
          server_(state_, {{.listen = listen_, .viewers_limit = options.viewers}, options.name}, stop.get_token()),
          panel_(chain_, *source_, [this](const auto& settings) { return plan_.set_adjustment(settings); }) {}

    void operator()() {
        FirstFailure failure;
        log_info("serving {} at {}", info_.name, to_string(server_.address()));
        failure.attempt([&] {
            if (options_.wait == 0 || server_.wait_for_viewers(options_.wait, stop_.get_token())) pump();
        });
        // The circle requests a stop when a stage fails, too; then nobody is in a hurry.
        const bool in_a_hurry = stop_.stop_requested() && !failure;
        const int left =
            server_.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
        if (left > 0) log_warning("{} viewers did not take the end of the stream in time", left);
        report();
        failure.rethrow();
        if (statistics_.snapshot().frames == 0 && !stop_.stop_requested())
            fail(ErrorCode::no_input, "{} has no frames", info_.name);
    }

private:
    std::optional<Rational> asked_rate() const {
        if (pace_.fps == 0) return std::nullopt;
        return Rational{std::llround(pace_.fps * 1000), 1000};
    }

    net::StreamInfo stream_info() const {
        auto rate = asked_rate().value_or(info_.rate);
        const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
        if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
        const auto& parameters = encoder_.parameters();
        return {encoder_.shape(), parameters.mode, parameters.effective_threshold(), rate, public_name(info_.name)};
    }

    void pump() {
        const auto limit = options_.common.frames;
        const Progress progress(options_.common.progress_mode(), statistics_,
                                options_.loop ? limit : expected_frames(info_, limit));
        auto circle = circle_options(options_.common, info_, encoder_.shape(), stop_, executor_.backend());
        circle.waiters = packing_threads(executor_);
        circle.let_wait(circle.waiting + circle.waiters);
        circle.at_source_rate = !info_.live && !pace_.hurries();
        std::vector<Slot> slots;
        for (int slot = 0; slot < circle.slots; ++slot) slots.push_back(make_slot());
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        const auto name = public_name(info_.name);
        run_circle({.capture = [&](int slot, FrameTime& time) { return capture(at(slot), time); },
                    .process = [&](int slot, const FrameTime& time) { process(at(slot), time, name); },
                    .wait = [&](int slot) { wait(at(slot)); },
                    .send = [&](int slot, const FrameTime& time) { send(at(slot), time); }},
                   circle, statistics_);
    }

    Slot make_slot() {
        return {make_frame(plan_, executor_),
                encoder_.make_changes(),
                detector_ ? detector_->make_objects() : FrameObjects(),
                delta::Packer(encoder_.shape()),
                {}};
    }

    bool capture(Slot& slot, FrameTime& time) {
        if (!source_->read(slot.frame.captured.host(), time)) return false;
        if (pace_.fps > 0 && !info_.live) time.seconds = static_cast<double>(captured_frames_) / pace_.fps;
        ++captured_frames_;
        return true;
    }

    void process(Slot& slot, const FrameTime& time, const std::string& name) {
        filter_frame(plan_, slot.frame, time, statistics_, name, {.by_stages = true});
        if (detector_) detector_->start(slot.frame.captured, slot.objects);
        encoder_.start(slot.frame.result(), slot.changes);
    }

    void wait(Slot& slot) {
        slot.changes.wait();
        slot.packed.clear();
        if (!slot.changes.first() && state_.watched()) slot.packer.pack_changes(slot.changes.changes(), slot.packed);
        if (detector_) slot.objects.wait();
        slot.frame.wait();
    }

    void send(const Slot& slot, const FrameTime& time) {
        std::span<const Component> objects;
        if (detector_) {
            objects = slot.objects.objects();
            objects = objects.first(std::min(objects.size(), net::max_objects));
        }
        const auto frame_bytes = encoder_.shape().frame_bytes();
        const auto& changes = slot.changes.changes();
        if (slot.changes.first()) {
            state_.start(encoder_.first_picture(), time, objects);
            statistics_.add_first_picture(frame_bytes);
        } else {
            state_.advance(changes, time, objects, slot.packed);
            statistics_.add_delta(changes.summaries[0], frame_bytes);
        }
        server_.publish();
        statistics_.set_sent_bytes(state_.counts().up_to_date_bytes);
    }

    void report() {
        statistics_.set_sent_bytes(state_.counts().up_to_date_bytes);
        const auto figures = statistics_.snapshot();
        statistics_file_.write(
            figures, {info_.name, std::string(to_string(executor_.backend())), encoder_.shape(), plan_.figures()});
        log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
                 figures.drops);
        if (!figures.delta) return;
        const auto viewers = server_.metrics();
        const auto& delta = *figures.delta;
        log_info("{:.2f} MB for one viewer, {:.2f} MB in the report's format, {:.2f} MB raw",
                 megabytes(figures.sent_bytes), megabytes(delta.report_bytes), megabytes(figures.raw_bytes));
        log_info("{:.2f}% of bytes changed, off by {} at most, {}", 100 * delta.changed, delta.max_error,
                 delta.psnr ? fmt::format("PSNR {:.1f} dB", *delta.psnr) : "equal to the source");
        log_info("{} viewers were sent {} pictures, {} steps, {:.2f} MB; {} were dropped, {} refused",
                 viewers.viewers_total, viewers.pictures, viewers.steps,
                 megabytes(viewers.picture_bytes + viewers.step_bytes + viewers.other_bytes), viewers.dropped,
                 viewers.refused);
    }

    const ServeOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first.
    Pace pace_;
    Chain chain_;
    net::Address listen_;
    StatisticsFile statistics_file_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    Executor executor_;
    ChainPlan plan_;
    StreamEncoder encoder_;
    std::unique_ptr<FrameDetector> detector_;
    net::StreamState state_;
    net::Server server_;
    CameraPanel panel_;

    Statistics statistics_;
    std::int64_t captured_frames_ = 0;
};

}  // namespace

void add_serve(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand("serve", "Source -> filters -> difference stream to any number of viewers");
    const auto options = std::make_shared<ServeOptions>();
    add_input_options(*command, options->input);
    command->add_option("--listen", options->listen, "where viewers connect; port 0 takes a free one")
        ->type_name("HOST:PORT")
        ->capture_default_str();
    command->add_option("--name", options->name, "the stream's name, as in tcp://HOST:PORT/NAME")
        ->type_name("NAME")
        ->capture_default_str();
    auto* threshold =
        command->add_option("--threshold", options->threshold, "bytes are sent when they differ by more than this")
            ->check(CLI::Range(0, 254))
            ->type_name("N")
            ->capture_default_str();
    command->add_option("--mode", options->mode, "exact: sent bytes arrive exactly; lossless: threshold 0")
        ->check(CLI::IsMember({"exact", "lossless"}))
        ->capture_default_str();
    command->add_option("--rate", options->rate, "how a file is played: own rate, max, or so many frames a second")
        ->type_name("own|max|FPS")
        ->capture_default_str();
    command->add_flag("--loop", options->loop, "begin again when the source ends");
    command->add_option("--wait", options->wait, "hold the first frame until so many viewers are there")
        ->check(CLI::Range(0, 10'000))
        ->type_name("N")
        ->capture_default_str();
    command->add_option("--viewers", options->viewers, "how many viewers there may be at a time")
        ->check(CLI::Range(1, 10'000))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--detect", options->detect, "look for moving objects; viewers draw boxes around them");
    add_detector_options(*command, options->detector, "--detect-threshold");
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [options, threshold](const std::stop_source& stop) {
        if (options->mode == "lossless" && threshold->count() > 0 && options->threshold > 0)
            fail(ErrorCode::usage, "--threshold {} does not go with --mode lossless, whose threshold is 0",
                 options->threshold);
        RunFiles files;
        files.source(options->input.source).output("--stats", options->common.statistics_path);
        add_input_files(files, options->detector);
        if (files.may_write(options->common, stop.get_token())) Serve(*options, stop)();
    });
}

}  // namespace framewire::app
