// The subcommand find: lists the times when something moves in recordings and videos, and cuts clips of them.

#include "commands/commands.hpp"
#include "commands/json.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"
#include "options/recording_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/find.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/service/events.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::app {
namespace {

// Flags of the subcommand find.
struct FindFlags {
    CommonOptions common;
    std::vector<std::string> sources;  // positional arguments
    std::vector<std::string> inputs;   // -i, then all sources
    jobs::InputOptions input;
    jobs::DetectorSettings detector;
    MotionRangeRules rules;
    jobs::ClipOptions clips{.before_seconds = 2, .after_seconds = 3};
    bool no_audio = false;
    bool json = false;

    jobs::FindOptions options(const std::string& source, const std::stop_token& stop) const {
        jobs::FindOptions options{common.job(stop), input, jobs::detector_of(detector, "--"), rules};
        options.input.source = source;
        options.input.detects = true;
        return options;
    }
};

// Returns the time of day at a position of the source, if it is known.
std::optional<std::string> time_of_day(const jobs::FindResult& result, double seconds) {
    if (result.began_us <= 0) return std::nullopt;
    const auto since = std::chrono::microseconds(result.began_us) +
                       std::chrono::round<std::chrono::microseconds>(std::chrono::duration<double>(seconds));
    return service::to_utc_text(service::WallTime(std::chrono::duration_cast<service::WallTime::duration>(since)));
}

// Returns a motion range as one line of JSON.
std::string json_line(const std::string& source, const jobs::FindResult& result, std::size_t number,
                      const MotionRange& range, const std::string& clip) {
    auto line = fmt::format(R"({{"source":{},"number":{},"begin":{:.3f},"end":{:.3f},"begin_frame":{},"end_frame":{})",
                            Json(source).text(), number, range.begin_seconds, range.end_seconds, range.begin_frame,
                            range.end_frame);
    if (const auto begin = time_of_day(result, range.begin_seconds))
        line += fmt::format(R"(,"begin_time":"{}","end_time":"{}")", *begin, *time_of_day(result, range.end_seconds));
    const auto& box = range.box;
    line += fmt::format(R"(,"frames":{},"box":[{},{},{},{}],"most_objects":{},"largest_area":{})", range.frames, box.x,
                        box.y, box.width, box.height, range.most_objects, range.largest_area);
    if (!clip.empty()) line += fmt::format(R"(,"clip":{})", Json(clip).text());
    return line + "}\n";
}

// Returns a motion range as one line of a table.
std::string table_line(const jobs::FindResult& result, std::size_t number, const MotionRange& range,
                       const std::string& clip) {
    const auto& box = range.box;
    auto line = fmt::format("{:>5}  {:>11}  {:>11}  {:>7.2f} s  {:<20}", number, to_clock_text(range.begin_seconds),
                            to_clock_text(range.end_seconds), range.end_seconds - range.begin_seconds,
                            fmt::format("{},{} {}x{}", box.x, box.y, box.width, box.height));
    if (const auto begin = time_of_day(result, range.begin_seconds)) line += "  " + *begin;
    if (!clip.empty()) line += "  " + clip;
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

// Cuts a clip and returns its path; empty if -n keeps an existing file.
std::string cut(FindFlags& flags, const jobs::FindOptions& options, const jobs::FindResult& result,
                const MotionRange& range, const std::stop_token& stop) {
    const auto run = jobs::clip_of(options, result, range, flags.clips);
    const auto files = jobs::files_of(run);
    if (!may_write(files, flags.common, stop)) return {};
    auto now = run;
    now.job.replace = flags.common.replace;
    jobs::RunJob(now).run();
    return files.outputs().front().path;
}

// Prints the motion ranges of one source and cuts their clips. Clips appear in the order of the table.
void show(FindFlags& flags, const jobs::FindOptions& options, const jobs::FindResult& result,
          const std::stop_token& stop) {
    const auto& source = options.input.source;
    if (!flags.json) {
        fmt::print("{}", printable_lines(fmt::format("{}: {} {}\n", source, result.ranges.size(),
                                                     result.ranges.size() == 1 ? "motion range" : "motion ranges")));
        if (!result.ranges.empty())
            fmt::print("{:>5}  {:>11}  {:>11}  {:>9}  {:<20}{}\n", "", "begin", "end", "length", "where",
                       result.began_us > 0 ? "  begin (UTC)" : "");
    }
    std::size_t number = 0;
    for (const auto& range : result.ranges) {
        if (stop.stop_requested()) return;
        const auto clip = flags.clips.folder.empty() ? std::string() : cut(flags, options, result, range, stop);
        ++number;
        fmt::print("{}", flags.json ? json_line(source, result, number, range, clip)
                                    : printable_lines(table_line(result, number, range, clip)));
    }
}

// Searches one source. If it is damaged, what was found is printed before the error is thrown.
void find_in(FindFlags& flags, const std::string& source, const std::stop_token& stop) {
    const auto options = flags.options(source, stop);
    const auto begin = Clock::now();
    jobs::FindJob job(options);
    std::exception_ptr failure;
    try {
        job.run();
    } catch (const Error&) {
        failure = std::current_exception();
    }
    const auto& result = job.result();
    const auto seconds = milliseconds_since(begin) / 1000;
    if (!failure || !result.ranges.empty()) show(flags, options, result, stop);
    if (failure) std::rethrow_exception(failure);
    log_info("{}: {} frames in {:.2f} s, {} decoded; {} motion ranges", source, result.figures.frames, seconds,
             result.decoded_frames, result.ranges.size());
}

// Searches all sources. A failure of one does not keep the others from being searched.
void find(FindFlags& flags, const std::stop_token& stop) {
    flags.inputs.insert(flags.inputs.begin(), flags.sources.begin(), flags.sources.end());
    if (flags.inputs.empty())
        fail(ErrorCode::usage, "SRC is required: a recording or a video; see 'framewire find --help'");
    if (!flags.clips.folder.empty()) {
        if (!jobs::is_output_folder(flags.clips.folder))
            fail(ErrorCode::usage, "-o {} is not a folder name; clips need a folder: {}/", flags.clips.folder,
                 flags.clips.folder);
        jobs::make_folder(flags.clips.folder);
    }
    flags.clips.audio = !flags.no_audio;
    const bool many = flags.inputs.size() > 1 || jobs::names_many(flags.inputs.front());
    if (!many) return find_in(flags, flags.inputs.front(), stop);
    if (!flags.common.statistics_path.empty())
        fail(ErrorCode::usage, "--stats describes a single source; it cannot be used with several inputs");
    std::optional<ErrorCode> first;
    std::size_t failed = 0;
    const auto inputs = jobs::batch_inputs(flags.inputs);
    for (const auto& input : inputs) {
        if (stop.stop_requested()) return;
        try {
            find_in(flags, input.path, stop);
        } catch (const Error& error) {
            log_error("{}", error.what());
            if (!first) first = error.code();
            ++failed;
        }
    }
    if (first) fail(*first, "{} of {} files failed", failed, inputs.size());
}

void add_detector(Command& command, FindFlags& flags) {
    auto group = command.group("Moving objects");
    group.option("--zone", flags.detector.zones, "find motion only in this rectangle; may be given several times")
        .type_name("X,Y,W,H")
        .one_at_a_time();
    group.option("--zone-mask", flags.detector.region_path, "find motion only where this image is not black")
        .type_name("IMAGE");
    add_detector_parameters(group, flags.detector, "--threshold");
}

}  // namespace

void add_find(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("find", "Finds the times when something moves: lists them, and cuts clips");
    const auto flags = std::make_shared<FindFlags>();
    command
        .option("source", flags->sources,
                "recording or video to search, like -i; several of these, folders, patterns ('clips/*.fwd') or @LIST")
        .type_name("SRC");
    add_input_options(command, flags->inputs, flags->input, "; the same as SRC").required(false);
    const auto output =
        command.option("-o,--output", flags->clips.folder, "cut a clip of each motion range into this folder")
            .type_name("FOLDER/");
    command.flag("--json", flags->json, "print JSON lines, for programs");
    constexpr double most_seconds = 86400;
    auto times = command.group("Motion ranges and clips");
    times
        .option("--motion-after", flags->rules.after_frames,
                "frames with objects in a row with which a motion range begins")
        .within(1, 1000)
        .type_name("N");
    times.option("--gap", flags->rules.gap_seconds, "join motion that is at most this many seconds apart")
        .within(0.0, most_seconds)
        .type_name("SECONDS");
    times.option("--min-duration", flags->rules.min_seconds, "leave out motion ranges shorter than this")
        .within(0.0, most_seconds)
        .type_name("SECONDS");
    times.option("--before", flags->clips.before_seconds, "seconds that a clip begins before the motion")
        .within(0.0, most_seconds)
        .type_name("SECONDS")
        .needs(output);
    times.option("--after", flags->clips.after_seconds, "seconds that a clip continues after the motion")
        .within(0.0, most_seconds)
        .type_name("SECONDS")
        .needs(output);
    times
        .option("--ending", flags->clips.ending,
                "file extension of the clips; default: fwd for recordings, mp4 for other videos")
        .one_of({"mp4", "mkv", "avi", "fwd", "y4m", "bgr", "gray"})
        .needs(output);
    add_no_audio(times, flags->no_audio).needs(output);
    add_detector(command, *flags);
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [=](const std::stop_source& stop) { find(*flags, stop.get_token()); });
}

}  // namespace framewire::app
