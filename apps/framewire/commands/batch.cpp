// Batches: one job per input file, or per time range of a long file. A done marker per item records the options with
// which its outputs were made, so that another run makes only what is missing or would differ.

#include "commands/batch.hpp"
#include "commands/work.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace framewire::app {
namespace {

// Options that do not affect the contents of outputs, or that a done marker records in another form.
constexpr std::array<std::string_view, 17> left_out_of_markers{
    "--input",   "--output", "--annotate", "--mask",      "--labels",  "--ending",     "--jobs", "--shard", "--shards",
    "--threads", "--stats",  "--progress", "--log-level", "--replace", "--no-replace", "--json", "--gpus"};

// Returns the options that the done marker records.
std::vector<std::string> made_with(const Command& command) {
    auto given = command.given();
    std::erase_if(given, [](const std::string& each) {
        return std::ranges::find(left_out_of_markers, each.substr(0, each.find('='))) != left_out_of_markers.end();
    });
    return given;
}

// Returns the shard of this process, as set by --shard or by the environment of Slurm or Kubernetes.
jobs::Shard shard_of(const BatchFlags& flags) {
    if (!flags.shard.empty()) return jobs::parse_shard(flags.shard);
    const auto shard = jobs::shard_of([](const char* name) { return std::getenv(name); }, flags.shards);
    if (shard) {
        log_info("shard {} of {}, from {}", shard->index + 1, shard->count, shard->from);
        return *shard;
    }
    if (flags.shards)
        fail(ErrorCode::usage,
             "--shards {}: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; use --shard I/N instead",
             *flags.shards);
    return {};
}

// Returns true if the output is a folder on this machine.
bool is_folder_name(const std::string& output) {
    return output.find("://") == output.npos && jobs::is_output_folder(output);
}

// Prints a summary. Logs all errors, then throws the first one.
void report(const jobs::BatchResult& result) {
    using End = jobs::ItemOutcome::End;
    const auto failures = result.failures();
    for (const auto* item : failures) log_error("{}", item->why);
    const auto reported = [&](bool parts, std::string_view name) {
        auto what = fmt::format("{} of {} {} processed", result.count(End::made, parts), result.size(parts), name);
        const auto add = [&](End end, std::string_view words) {
            if (const auto count = result.count(end, parts); count > 0) what += fmt::format(", {} {}", count, words);
        };
        add(End::was_done, "already done");
        add(End::kept, "left unchanged (-n)");
        add(End::stopped, "stopped or not started");
        add(End::failed, "failed");
        return what;
    };
    const bool cut = result.size(true) > 0;
    auto what = !cut || result.size() > 0 ? reported(false, "files") : std::string();
    if (cut) what += (what.empty() ? "" : "; ") + reported(true, "segments of long files");
    log_info("{}; {} frames in {:.2f} s, {:.1f} fps", what, result.frames, result.seconds,
             result.seconds > 0 ? static_cast<double>(result.frames) / result.seconds : 0);
    if (failures.empty()) return;
    const bool part = failures.front()->part;
    fail(failures.front()->code, "{} of {} {} failed", result.count(End::failed, part), result.size(part),
         part ? "segments of long files" : "files");
}

// Throws Error{usage} if an option prevents videos from being split.
void require_can_be_cut(const BatchFlags& flags, const CommonOptions& common, const ManyJobs& jobs) {
    if (common.frames) fail(ErrorCode::usage, "--frames cannot be combined with --segment");
    jobs::require_can_be_cut(jobs.input, flags.cutting);
}

// Splits one video into time ranges, each of which becomes a work item.
jobs::CutItem cut(const BatchFlags& flags, ItemRequest request, const std::string& folder, const ManyJobs& jobs) {
    const auto whole = jobs.item(request);
    auto input = jobs.input;
    request.take(input);
    request.parts_folder = jobs::parts_folder(folder, whole.name);
    return jobs::cut_video(whole, input, flags.cutting, jobs.audio, request.job.stop,
                           [&](const jobs::FileSegment& segment, const std::string& name) {
                               request.segment = segment;
                               request.part = name;
                               return jobs.item(request);
                           });
}

// Declares --segment and --warm-up.
void add_segment_options(Command& group, BatchFlags& flags) {
    const auto problem = [](const std::string& text) {
        const auto seconds = seconds_of(text);
        return seconds && *seconds >= 1
                   ? std::string()
                   : "'" + text + "' is not a valid length; allowed: 1s or more, such as 90s, 10m, 1.5h";
    };
    auto segment = group.option(
        "--segment", [&flags](const std::string& text) { flags.cutting.seconds = seconds_of(text).value_or(0); },
        "split longer videos into segments of about this length at keyframes, process them in parallel and join the "
        "results; .jsonl .txt .npy .y4m .bgr .gray are identical to those of an unsplit run");
    segment.check(problem).type_name("TIME");
    group
        .option(
            "--warm-up", [&flags](const std::string& text) { flags.cutting.warm_up_seconds = seconds_of(text); },
            "length of video before each segment from which a background model (mean, mixture, adaptive) learns; "
            "results differ "
            "from those of an unsplit run, less so with a longer warm-up")
        .check(problem)
        .type_name("TIME")
        .needs(segment);
}

}  // namespace

std::string BatchFlags::video_name(const jobs::BatchInput& input) const {
    return fmt::format("{}.{}", input.name, !ending.empty() ? ending : input.image ? "png" : "mp4");
}

void add_batch_options(Command& command, BatchFlags& flags, jobs::InputOptions& options) {
    add_input_options(command, flags.inputs, options);
    auto group = command.group("Many files, with -o FOLDER/");
    group.option("--jobs", flags.jobs, "number of files to process at once")
        .within(1, jobs::BatchOptions::most_jobs)
        .type_name("N");
    group
        .option("--ending", flags.ending,
                "file extension of the output videos and images; default: mp4 for videos, png for images")
        .one_of({"mp4", "mkv", "avi", "fwd", "y4m", "png", "jpg", "bgr", "gray"});
    add_segment_options(group, flags);
    const auto shard =
        group.option("--shard", flags.shard, "process only this shard of the files: 2/8 is the second of eight")
            .type_name("I/N");
    group
        .option("--shards", flags.shards,
                "number of shards; SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX selects the one to process")
        .within(1, 1'000'000)
        .type_name("N")
        .excludes(shard);
}

// Several inputs require a folder for their outputs. For a single input, options for many files are rejected.
bool is_of_many(const BatchFlags& flags, const std::string& output, jobs::InputOptions& options) {
    if (is_folder_name(output)) return true;
    const auto& inputs = flags.inputs;
    if (inputs.size() > 1 || (jobs::names_many(inputs.front()) && !jobs::is_output_folder(inputs.front())))
        fail(ErrorCode::usage, "-i selects several files; write the results to a folder with -o FOLDER/");
    if (flags.jobs > 1 || !flags.ending.empty() || flags.cutting.seconds > 0 || !flags.shard.empty() || flags.shards)
        fail(ErrorCode::usage,
             "--jobs, --ending, --segment, --shard and --shards apply to several files and require -o FOLDER/");
    options.source = inputs.front();
    return false;
}

bool shares_work(const BatchFlags& flags) {
    return flags.jobs > 1 || flags.cutting.seconds > 0 || !flags.shard.empty() || flags.shards ||
           jobs::shard_of([](const char* name) { return std::getenv(name); }, {});
}

// Sets the source and the time range in `options`.
void ItemRequest::take(jobs::InputOptions& options) const {
    options.source = input.path;
    options.segment = segment;
}

std::string ItemRequest::shown_input() const {
    return segment ? fmt::format("{} from {:.2f} s", input.path, segment->begin_seconds) : input.path;
}

std::string ItemRequest::shown_name(const std::string& name) const {
    namespace fs = std::filesystem;
    return segment ? fmt::format(".parts/{}/{}", name, part + fs::path(name).extension().native()) : name;
}

// Outputs of a time range are written to the folder for parts until they are joined.
std::string ItemRequest::in_folder(const std::string& option, const std::string& folder,
                                   const std::string& name) const {
    if (folder.empty()) return {};
    if (!is_folder_name(folder))
        fail(ErrorCode::usage, "{} {} is not a folder name; the results of several files need a folder: {}/", option,
             folder, folder);
    const std::filesystem::path path(name);
    if (segment) return fmt::format("{}/{}{}{}", parts_folder, part, option, path.extension().native());
    return std::filesystem::path(folder) / path;
}

std::string ItemRequest::sink_in_folder(const std::string& option, const std::string& folder,
                                        const std::string& name) const {
    return literal_sink(in_folder(option, folder, name));
}

// Checks the options, makes the work items and runs the batch.
void make_many(const Command& command, const BatchFlags& flags, CommonOptions& common, const std::string& folder,
               const ManyJobs& jobs, const std::stop_token& stop) {
    if (common.times) fail(ErrorCode::usage, "--times measures a single file; it cannot be used with several inputs");
    auto job_options = common.job(stop);
    job_options.gpus = common.fleet();
    jobs::BatchOptions options{.job = job_options,
                               .folder = folder,
                               .version = fmt::format("{}, {}", FRAMEWIRE_VERSION, media_libraries()),
                               .made_with = made_with(command),
                               .jobs = flags.jobs,
                               .shard = shard_of(flags)};
    for (const auto& input : flags.inputs)
        // Outputs in the input folder would become inputs of the next run.
        if (jobs::is_same_folder(input, folder))
            fail(ErrorCode::usage,
                 "-o {} is the input folder; use another folder, because the next run would read the outputs as inputs",
                 folder);
    auto each = options.job;
    each.statistics_path.clear();  // written once for the whole batch
    std::vector<jobs::BatchItem> items;
    const bool cuts = flags.cutting.seconds > 0;
    auto cutting = flags;
    if (cuts) {
        // Filters and detectors that depend on earlier frames need some frames before each part.
        cutting.cutting.look_back = jobs::look_back_of(jobs.input.filters, jobs.background);
        require_can_be_cut(cutting, common, jobs);
    }
    for (const auto& input : jobs::batch_inputs(flags.inputs)) {
        const ItemRequest request{.input = input, .job = each};
        items.push_back(jobs.item(request));
        // Only videos are split, each of them just before it is processed.
        if (!cuts || input.image) continue;
        jobs::require_can_be_joined(items.back().files);
        items.back().cut = [&, request] { return cut(cutting, request, folder, jobs); };
    }
    jobs::BatchJob job(options, std::move(items));
    if (!job.in_the_way().empty() && !common.replace && !common.keep)
        require_leave_to_replace(job.in_the_way(), true, common, stop);
    report(job.run(common.replace ? jobs::InTheWay::replace
                   : common.keep  ? jobs::InTheWay::keep
                                  : jobs::InTheWay::refuse));
}

}  // namespace framewire::app
