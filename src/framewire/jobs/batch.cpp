#include "framewire/jobs/batch.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/filters/fps.hpp"
#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/jobs/shard.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

// Workers take tasks in order from a shared counter. The parts of a split item precede the task that joins them, and
// the worker that finishes the last part also runs that task.

namespace framewire::jobs {
namespace {

namespace fs = std::filesystem;
using ItemEnd = ItemOutcome::End;
using ItemIs = ItemState::Is;

// Throws Error{usage} if two items have the same outputs, or one writes what another reads.
void require_different(const std::vector<BatchItem>& items, const std::string& statistics_path) {
    std::map<std::string, const BatchItem*> named;
    JobFiles files;
    files.statistics(statistics_path);
    for (const auto& item : items) {
        const auto [other, is_new] = named.emplace(item.name, &item);
        if (!is_new)
            fail(ErrorCode::usage, "{} and {} would both be written to {}", other->second->input, item.input,
                 item.name);
        files.add(item.files);
    }
    files.require_different();
}

// Returns the paths of the files.
std::vector<std::string> paths_of(const std::vector<RunFile>& files) {
    std::vector<std::string> paths;
    for (const auto& file : files) paths.push_back(file.path);
    return paths;
}

// Returns the first input of an item that does not exist; null if all exist.
const RunFile* missing_input(const BatchItem& item) {
    const auto& inputs = item.files.inputs();
    const auto found = std::ranges::find_if(inputs, [](const RunFile& input) {
        std::error_code unknown;
        return input.path != "-" && fs::status(input.path, unknown).type() == fs::file_type::not_found;
    });
    return found == inputs.end() ? nullptr : &*found;
}

// Removes the parts of a joined item, and the folders above them if they are then empty.
void remove_parts(const std::string& folder) {
    std::error_code stays;
    fs::remove_all(folder, stays);
    for (auto above = fs::path(folder).parent_path(); above.filename() != ".framewire" && !stays;
         above = above.parent_path())
        if (!fs::is_empty(above, stays) || !fs::remove(above, stays)) return;
}

// Returns the size of the item's first input, or 0 if it cannot be determined; the job then reports the error.
std::int64_t bytes_of(const BatchItem& item) {
    std::error_code unknown;
    const auto bytes = item.files.inputs().empty() ? 0 : fs::file_size(item.files.inputs().front().path, unknown);
    return unknown ? 0 : static_cast<std::int64_t>(bytes);
}

// Returns the number of threads per job if `jobs` jobs run in parallel.
int threads_of_each(int threads, int jobs) {
    const int all = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return jobs == 1 ? threads : std::max(1, all / jobs);
}

}  // namespace

std::string markers_folder(const std::string& folder) { return fs::path(folder) / ".framewire"; }

std::string parts_folder(const std::string& folder, const std::string& name) {
    return fs::path(markers_folder(folder)) / ".parts" / name;
}

int BatchResult::size(bool parts) const {
    return static_cast<int>(std::ranges::count(items, parts, &ItemOutcome::part));
}

int BatchResult::count(ItemEnd end, bool parts) const {
    return static_cast<int>(
        std::ranges::count_if(items, [&](const auto& item) { return item.end == end && item.part == parts; }));
}

std::vector<const ItemOutcome*> BatchResult::failures() const {
    std::vector<const ItemOutcome*> failed;
    for (const auto& item : items)
        if (item.end == ItemEnd::failed && item.reported) failed.push_back(&item);
    return failed;
}

struct BatchJob::State {
    // An item of this shard and its state before the run.
    struct Task {
        BatchItem item;
        DoneMarkers markers;
        ItemState found;
        std::int64_t bytes = 0;
        // for a part: index of the task that joins the parts once all of them have ended
        std::optional<std::size_t> whole{};
        // true if this task joins parts
        bool joins = false;
        bool is_part = false;
        // true for a part if an output of its item is in the way
        bool in_the_way = false;
        std::function<void(const JobOptions&)> join{};
    };

    State(const BatchOptions& asked, std::vector<BatchItem> items);

    // Returns everything that determines the outputs of an item.
    Making making_of(const BatchItem& item) const {
        return {options.version, options.made_with, paths_of(item.files.inputs()), paths_of(item.files.outputs())};
    }
    // Compares an item with its markers. Returns `missing` if an input does not exist.
    ItemState look_at(const BatchItem& item, const DoneMarkers& markers) const;
    // Adds a task. The progress counts the input's size divided by `share_of_input` for it.
    Task& add(BatchItem item, std::int64_t share_of_input = 1);
    // Adds the parts of an item. `index` is the item's number among all items, which decides which parts belong to this
    // shard.
    bool add_parts(BatchItem& item, std::size_t index);
    // Splits an item. Returns no parts if that fails.
    CutItem cut(const BatchItem& item) const;
    // Joins the parts of task `index`.
    bool join(const Task& task, std::size_t index, const JobOptions& job);
    void run(InTheWay in_the_way);
    // Runs the loop of one worker. run() starts jobs - 1 worker threads and is a worker itself.
    void work();
    // Processes a task and records its outcome. Never throws.
    void attempt(std::size_t index);
    // Processes a task unless its markers say that it is done.
    void make(const Task& task, std::size_t index);
    // Runs the job and removes or renames incomplete outputs.
    void run_job(const Task& task, std::size_t index);
    // Runs the job's work, and again on another GPU if its GPU fails. `withdraw` is called before a repetition.
    JobResult run_on_gpus(const Task& task, JobOptions job, const std::function<void()>& withdraw);
    bool stopped() const { return options.job.stop.stop_requested(); }

    BatchOptions options;
    std::vector<Task> tasks;
    std::vector<std::string> in_the_way;
    StatisticsFile statistics;
    BatchResult result;

    // Set by run(), read by the workers.
    InTheWay what_of_others = InTheWay::refuse;
    std::optional<BatchTally> tally;
    // index of the next task to be taken
    std::atomic<std::size_t> next{0};
    // number of unfinished parts per task
    std::vector<std::atomic<int>> parts_left;
};

// The parts of an item are directly followed by the task that joins them; work() and join() rely on this order.
BatchJob::State::State(const BatchOptions& asked, std::vector<BatchItem> items)
    : options(asked),
      statistics((require_different(items, options.job.statistics_path), options.job.statistics_path),
                 options.job.replace) {
    if (options.jobs < 1 || options.jobs > BatchOptions::most_jobs)
        fail(ErrorCode::usage, "cannot run {} jobs at once; allowed: 1 to {}", options.jobs, BatchOptions::most_jobs);
    for (std::size_t index = 0; index < items.size(); ++index)
        if (!add_parts(items[index], index) && (options.shard.has(index) || items[index].in_every_share))
            add(std::move(items[index]));
    // A shard without tasks must not succeed if inputs are missing.
    if (tasks.empty())
        for (auto& item : items)
            if (missing_input(item)) add(std::move(item));
    parts_left = std::vector<std::atomic<int>>(tasks.size());
    for (const auto& task : tasks)
        if (task.whole) ++parts_left[*task.whole];
}

BatchJob::State::Task& BatchJob::State::add(BatchItem item, std::int64_t share_of_input) {
    DoneMarkers markers(options.folder, item.name);
    auto found = look_at(item, markers);
    if (found.is == ItemIs::in_the_way) in_the_way.push_back(found.what);
    const auto bytes = share_of_input > 0 ? bytes_of(item) / share_of_input : 0;
    return tasks.emplace_back(Task{std::move(item), std::move(markers), std::move(found), bytes});
}

CutItem BatchJob::State::cut(const BatchItem& item) const {
    try {
        return item.cut();
        // the job of the item will report the error
    } catch (const Error&) {
        return {};
    }
}

// Adds the parts that belong to this shard and, if there is a single shard, the task that joins them. Returns false if
// the item is done already or is not split.
bool BatchJob::State::add_parts(BatchItem& item, std::size_t index) {
    if (!item.cut) return false;
    const auto found = look_at(item, DoneMarkers(options.folder, item.name));
    if (found.is == ItemIs::done) {
        // an earlier run was killed before it removed the parts
        remove_parts(parts_folder(options.folder, item.name));
        return false;
    }
    auto cut_up = cut(item);
    const auto count = cut_up.parts.size();
    if (count < 2) return false;
    const bool joins = options.shard.count == 1;
    for (std::size_t part = 0; part < count; ++part) {
        if (!options.shard.has(index + part)) continue;
        auto& task = add(std::move(cut_up.parts[part]), static_cast<std::int64_t>(count));
        task.is_part = true;
        task.in_the_way = found.is == ItemIs::in_the_way;
        if (joins) task.whole = tasks.size() - part - 1 + count;
    }
    if (!joins) {
        if (found.is == ItemIs::in_the_way) in_the_way.push_back(found.what);
        return true;
    }
    auto& task = add(std::move(item), 0);
    task.joins = true;
    task.join = std::move(cut_up.join);
    return true;
}

ItemState BatchJob::State::look_at(const BatchItem& item, const DoneMarkers& markers) const {
    try {
        return markers.state(making_of(item));
        // the input does not exist; the job will report that
    } catch (const Error&) {
        return {};
    }
}

void BatchJob::State::run(InTheWay what) {
    const auto begin = Clock::now();
    what_of_others = what;
    std::int64_t bytes = 0;
    for (const auto& task : tasks)
        if (task.found.is != ItemIs::done) bytes += task.bytes;
    for (const auto& task : tasks)
        result.items.push_back({.input = task.item.input, .part = task.is_part, .reported = !task.whole});
    tally.emplace(static_cast<int>(tasks.size()), bytes, result.size(true) > 0);
    {
        const Progress progress(options.job.progress, progress_lines(*tally));
        std::vector<std::jthread> workers;
        const auto several = std::min(static_cast<std::size_t>(options.jobs), tasks.size());
        for (std::size_t worker = 1; worker < several; ++worker) workers.emplace_back([this] { work(); });
        work();
    }
    result.frames = tally->figures().frames;
    result.seconds = milliseconds_since(begin) / 1000;
    if (statistics) statistics.write(to_json(result, options.shard));
}

// Runs tasks until none is left or the job is stopped.
void BatchJob::State::work() {
    for (;;) {
        const auto index = next++;
        if (index >= tasks.size() || stopped()) return;
        if (tasks[index].joins) continue;
        attempt(index);
        const auto whole = tasks[index].whole;
        if (whole && --parts_left[*whole] == 0 && !stopped()) attempt(*whole);
    }
}

// Processes one task. Records an exception as the task's outcome.
void BatchJob::State::attempt(std::size_t index) {
    const auto& task = tasks[index];
    auto& outcome = result.items[index];
    const auto failed = [&](ErrorCode code, const std::string& why) {
        outcome.end = stopped() ? ItemEnd::stopped : ItemEnd::failed;
        outcome.code = code;
        outcome.why = why.find(task.item.input) == why.npos ? fmt::format("{}: {}", task.item.input, why) : why;
    };
    try {
        make(task, index);
    } catch (const Error& error) {
        failed(error.code(), error.what());
    } catch (const std::bad_alloc&) {
        failed(ErrorCode::config, "out of memory");
    } catch (const std::exception& error) {
        failed(ErrorCode::internal, error.what());
    }
    tally->count(task.found.is == ItemIs::done ? 0 : task.bytes, outcome.end == ItemEnd::failed && outcome.reported);
}

// Processes the task unless its markers show that it is done already.
void BatchJob::State::make(const Task& task, std::size_t index) {
    auto& outcome = result.items[index];
    if (task.in_the_way && what_of_others != InTheWay::replace) {
        // the item's output will not be made, so its parts are not needed
        if (what_of_others == InTheWay::keep) outcome.end = ItemEnd::kept;
        return;
    }
    if (task.found.is == ItemIs::done) {
        outcome.end = ItemEnd::was_done;
        // remove the marker of a run that was killed after it wrote NAME.done
        if (task.markers.begun()) ItemInTheMaking(task.markers);
        return;
    }
    if (task.found.is == ItemIs::in_the_way && what_of_others == InTheWay::keep) {
        outcome.end = ItemEnd::kept;
        return;
    }
    // Checked before the item is marked as begun, because other shards may fail on the same input.
    if (const auto* missing = missing_input(task.item)) fail(ErrorCode::no_input, "{}: no such file", missing->path);
    ItemInTheMaking marked(task.markers);
    const auto making = making_of(task.item);
    // Another run may have finished the item meanwhile. If that run was killed, this one takes over.
    if (task.found.is != ItemIs::in_the_way && look_at(task.item, task.markers).is == ItemIs::done) {
        outcome.end = ItemEnd::was_done;
        return;
    }
    if (task.found.is == ItemIs::in_the_way && what_of_others == InTheWay::refuse)
        fail(ErrorCode::io, "{} already exists; use -y to replace it, -n to keep it", task.found.what);
    if (task.found.is == ItemIs::changed)
        log_info("processing {} again because {} changed", task.item.input, task.found.what);
    try {
        marked.begin(making);
        // the input does not exist; the job will report that
    } catch (const Error&) {
    }
    run_job(task, index);
    if (outcome.end != ItemEnd::made) return;
    marked.finish(making);
    // Also removes parts that an earlier run with --segment left behind.
    if (!task.is_part) remove_parts(parts_folder(options.folder, task.item.name));
}

// Joins an item's parts. Returns false if the source cannot be split or is damaged. The item is then processed as a
// whole, with the same result as a run without splitting.
bool BatchJob::State::join(const Task& task, std::size_t index, const JobOptions& job) {
    const auto is_of_source = [](ErrorCode code) {
        return code == ErrorCode::config || code == ErrorCode::source_lost;
    };
    const ItemOutcome* failed = nullptr;
    for (std::size_t part = 0; part < index; ++part) {
        if (tasks[part].whole != index) continue;
        const auto& outcome = result.items[part];
        if (outcome.end == ItemEnd::stopped) return true;
        if (outcome.end != ItemEnd::failed) continue;
        if (!failed || (is_of_source(failed->code) && !is_of_source(outcome.code))) failed = &outcome;
    }
    if (failed && !is_of_source(failed->code)) fail(failed->code, "{}", failed->why);
    if (failed) {
        log_info("{}; processing it as a whole", failed->why);
        return false;
    }
    task.join(job);
    result.items[index].end = stopped() ? ItemEnd::stopped : ItemEnd::made;
    return true;
}

JobResult BatchJob::State::run_on_gpus(const Task& task, JobOptions job, const std::function<void()>& withdraw) {
    for (;;) {
        if (job.gpus) job.gpu = job.gpus->take();
        try {
            return task.item.work(job, {[this](const Statistics& running) { tally->watch(running); },
                                        [this](const Statistics& running) { tally->unwatch(running); }});
        } catch (const std::exception& error) {
            if (!job.gpu || stopped() || !job.gpu->must_move()) throw;
            log_warning("{}: {}; processing it again on another GPU", task.item.input, error.what());
            withdraw();
        }
    }
}

// Runs the job of a task, or joins its parts.
void BatchJob::State::run_job(const Task& task, std::size_t index) {
    auto& outcome = result.items[index];
    const auto outputs = paths_of(task.item.files.outputs());
    std::vector<std::string> new_ones;
    for (const auto& output : outputs) {
        if (const auto folder = split_path(output).first; !folder.empty()) make_folder(folder);
        if (std::error_code unknown; !fs::exists(output, unknown)) new_ones.push_back(output);
    }
    // An incomplete output must not exist under its final name.
    const auto withdraw = [&] {
        std::error_code ignored;
        for (const auto& output : new_ones) {
            if (!stopped() && !fs::exists(output + ".part", ignored)) fs::rename(output, output + ".part", ignored);
            fs::remove(output, ignored);
        }
        if (stopped())
            for (const auto& output : outputs) fs::remove(output + ".part", ignored);
    };
    auto job = options.job;
    job.threads = threads_of_each(job.threads, options.jobs);
    job.replace = true;
    job.statistics_path.clear();
    job.progress = ProgressMode::none;
    try {
        if (task.joins && join(task, index, job)) {
            if (outcome.end != ItemEnd::made) withdraw();
            return;
        }
        const auto done = run_on_gpus(task, job, withdraw);
        outcome.frames = done.figures.frames;
        outcome.end = done.ending == Ending::complete ? ItemEnd::made : ItemEnd::stopped;
    } catch (...) {
        withdraw();
        throw;
    }
    if (outcome.end != ItemEnd::made) withdraw();
}

BatchJob::BatchJob(const BatchOptions& options, std::vector<BatchItem> items)
    : state_(std::make_unique<State>(options, std::move(items))) {}
BatchJob::~BatchJob() = default;

const std::vector<std::string>& BatchJob::in_the_way() const { return state_->in_the_way; }
const BatchResult& BatchJob::run(InTheWay in_the_way) { return state_->run(in_the_way), state_->result; }

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 22> video_endings{
    ".3gp", ".asf", ".avi", ".fwd",  ".flv", ".gif", ".h264", ".m2ts", ".m4v",  ".mjpeg", ".mkv",
    ".mov", ".mp4", ".mpg", ".mpeg", ".mts", ".mxf", ".ogv",  ".ts",   ".webm", ".wmv",   ".y4m"};
constexpr std::string_view pattern_letters = "*?[";
constexpr std::size_t longest_list_bytes = std::size_t{64} << 20;

bool is_video_name(const std::string& path) {
    const auto ending = lower_case(fs::path(path).extension().native());
    return std::ranges::find(video_endings, ending) != video_endings.end();
}

bool is_there(const std::string& path) {
    std::error_code unknown;
    return fs::exists(path, unknown);
}

// A file that is actually named @NAME is not a list.
bool is_list(const std::string& text) { return text.starts_with('@') && !is_there(text); }

bool is_path(const std::string& text) { return !text.empty() && parse_source(text).kind->named_by_path; }

// A file whose name contains wildcard characters is not a pattern.
bool is_pattern(const std::string& text) {
    return text.find_first_of(pattern_letters) != text.npos && !is_there(text) && is_path(text);
}

// Makes a path unambiguous, so that a file named `lavfi:...` is not taken for a filter graph.
std::string as_path(const std::string& path) { return path.find(':') < path.find('/') ? "./" + path : path; }

// Describes the input file at `path`. `name` is its path relative to the folder or pattern; the extension is dropped.
BatchInput input_at(const std::string& path, const std::string& name) {
    return {as_path(path), fs::path(name).replace_extension().native(), is_image_name(path)};
}

// Describes the input that `text` names. Rejects sources that are not files, such as cameras and URLs.
BatchInput file_input(const std::string& text) {
    const auto call = parse_source(text);
    if (!call.kind->must_exist)
        fail(ErrorCode::usage, "{} is not a file; specify several files as paths, folders, patterns or @lists", text);
    return input_at(call.path, fs::path(call.path).filename());
}

// Returns the videos and images of a folder. Warns about other entries.
std::vector<BatchInput> folder_inputs(const std::string& text) {
    const auto folder = parse_source(text).path;
    std::vector<BatchInput> inputs;
    int others = 0;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const auto path = entry->path();
        if (path.filename().native().starts_with('.')) continue;
        std::error_code unknown;
        if ((is_video_name(path) || is_image_name(path)) && entry->is_regular_file(unknown))
            inputs.push_back(input_at(path, path.filename()));
        else
            ++others;
    }
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder, error.message());
    if (inputs.empty())
        fail(ErrorCode::no_input, "{} contains no videos or images; supported: {} and image extensions", folder,
             fmt::join(video_endings, " "));
    if (others > 0) log_warning("{}: ignoring {} entries that are neither videos nor images", folder, others);
    std::ranges::sort(inputs, {}, &BatchInput::path);
    return inputs;
}

// Returns the folder before the first wildcard, including its slash.
std::string fixed_part(const std::string& pattern) {
    const auto slash = pattern.substr(0, pattern.find_first_of(pattern_letters)).rfind('/');
    return slash == pattern.npos ? "" : pattern.substr(0, slash + 1);
}

// Returns the paths that match a pattern, expanded with glob(3). Folders are skipped.
std::vector<std::string> paths_that_fit(const std::string& pattern) {
    struct Matches {
        Matches() = default;
        Matches(const Matches&) = delete;
        Matches& operator=(const Matches&) = delete;
        ~Matches() { ::globfree(&found); }
        glob_t found{};
    } matches;
    const int status = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &matches.found);
    if (status != 0 && status != GLOB_NOMATCH)
        fail(ErrorCode::no_input, "{}: cannot read a folder matched by the pattern", pattern);
    std::vector<std::string> paths;
    for (std::size_t match = 0; match < matches.found.gl_pathc; ++match)
        if (const std::string path = matches.found.gl_pathv[match]; !is_folder(path)) paths.push_back(path);
    return paths;
}

std::vector<BatchInput> pattern_inputs(const std::string& pattern) {
    const auto fixed = fixed_part(pattern);
    std::vector<BatchInput> inputs;
    for (const auto& path : paths_that_fit(pattern)) inputs.push_back(input_at(path, path.substr(fixed.size())));
    if (inputs.empty()) fail(ErrorCode::no_input, "{} matches no file", pattern);
    std::ranges::sort(inputs, {}, &BatchInput::path);
    return inputs;
}

std::vector<BatchInput> list_inputs(const std::string& list) {
    InputFile file(list, {});
    std::vector<BatchInput> inputs;
    std::string line;
    std::size_t bytes = 0;
    const auto take = [&] {
        if (line.ends_with('\r')) line.pop_back();
        if (!line.empty()) inputs.push_back(file_input(line));
        line.clear();
    };
    for (int letter = file.get(); letter >= 0; letter = file.get()) {
        if (++bytes > longest_list_bytes)
            fail(ErrorCode::usage, "the list {} is larger than {} MiB", list, longest_list_bytes >> 20);
        if (letter == 0) fail(ErrorCode::usage, "{} is not a list: it contains a null byte", list);
        if (letter == '\n')
            take();
        else
            line += static_cast<char>(letter);
    }
    take();
    if (inputs.empty()) fail(ErrorCode::no_input, "the list {} contains no files", list);
    return inputs;
}

// Returns the inputs that one -i text names.
std::vector<BatchInput> inputs_of(const std::string& text) {
    if (is_list(text)) return list_inputs(text.substr(1));
    if (is_pattern(text)) return pattern_inputs(text);
    if (is_path(text) && is_folder(parse_source(text).path)) return folder_inputs(text);
    auto input = file_input(text);
    input.missing = !is_there(input.path);
    return {std::move(input)};
}

}  // namespace

bool names_many(const std::string& text) {
    return is_list(text) || (is_pattern(text) && !paths_that_fit(text).empty()) ||
           (is_path(text) && is_folder(parse_source(text).path));
}

std::vector<BatchInput> batch_inputs(const std::vector<std::string>& texts) {
    std::vector<BatchInput> all;
    std::set<std::string> known;
    for (const auto& text : texts)
        for (auto& input : inputs_of(text))
            if (known.insert(fs::path(input.path).lexically_normal()).second) all.push_back(std::move(input));
    return all;
}

std::string to_json(const BatchResult& result, const Shard& shard) {
    using Json = nlohmann::ordered_json;
    using End = ItemOutcome::End;
    auto failures = Json::array();
    for (const auto* item : result.failures())
        failures.push_back({{"file", item->input}, {"code", static_cast<int>(item->code)}, {"why", item->why}});
    const auto add_counts = [&](Json& json, bool parts) {
        json["made"] = result.count(End::made, parts);
        json["were_done"] = result.count(End::was_done, parts);
        json["kept"] = result.count(End::kept, parts);
        json["failed"] = result.count(End::failed, parts);
        json["stopped"] = result.count(End::stopped, parts);
    };
    Json json{{"files", result.size()}};
    add_counts(json, false);
    if (result.size(true) > 0) add_counts(json["parts"], true);
    json["frames"] = result.frames;
    json["seconds"] = result.seconds;
    json["fps"] = result.seconds > 0 ? static_cast<double>(result.frames) / result.seconds : 0;
    json["shard"] = {{"index", shard.index + 1}, {"count", shard.count}};
    json["failures"] = std::move(failures);
    return json_text(json, 2) + "\n";
}

namespace {

// Returns the finished fraction, measured in input bytes. Files of unknown size count as 0 bytes until everything has
// ended.
double share_of(const BatchStatistics& figures) {
    if (figures.files == figures.ended) return 1;
    return figures.bytes > 0 ? static_cast<double>(figures.ended_bytes) / static_cast<double>(figures.bytes) : 0;
}

// Returns the remaining time if the speed stays the same; empty before the first file has ended.
std::optional<double> seconds_left(const BatchStatistics& figures) {
    const auto share = share_of(figures);
    if (share <= 0) return {};
    return figures.seconds * (1 - share) / share;
}

double rate_of(const BatchStatistics& figures) {
    return figures.seconds > 0 ? static_cast<double>(figures.frames) / figures.seconds : 0;
}

}  // namespace

BatchTally::BatchTally(int files, std::int64_t bytes, bool cut) {
    ended_.files = files;
    ended_.cut = cut;
    ended_.bytes = bytes;
}

void BatchTally::watch(const Statistics& statistics) {
    const std::lock_guard lock(mutex_);
    running_.insert(&statistics);
}

void BatchTally::unwatch(const Statistics& statistics) {
    const std::lock_guard lock(mutex_);
    running_.erase(&statistics);
    ended_.frames += statistics.snapshot().frames;
}

void BatchTally::count(std::int64_t bytes, bool failed) {
    const std::lock_guard lock(mutex_);
    ++ended_.ended;
    ended_.failed += failed ? 1 : 0;
    ended_.ended_bytes += bytes;
}

BatchStatistics BatchTally::figures() const {
    const std::lock_guard lock(mutex_);
    auto figures = ended_;
    for (const auto* statistics : running_) figures.frames += statistics->snapshot().frames;
    figures.seconds = milliseconds_since(start_) / 1000;
    return figures;
}

ProgressLines progress_lines(const BatchTally& tally) {
    return {[&tally](int columns) { return batch_bar(tally.figures(), columns); },
            [&tally] { return batch_json(tally.figures()); }};
}

std::string batch_bar(const BatchStatistics& figures, int columns) {
    auto line = fmt::format("{}/{} {}", figures.ended, figures.files, figures.cut ? "segments" : "files");
    if (figures.failed > 0) line += fmt::format("  {} failed", figures.failed);
    line += fmt::format("  {} frames  {:.1f} fps", figures.frames, rate_of(figures));
    return with_bar(line, share_of(figures), seconds_left(figures), columns);
}

std::string batch_json(const BatchStatistics& figures) {
    nlohmann::ordered_json json{{"files", figures.files},   {"ended", figures.ended},  {"failed", figures.failed},
                                {"frames", figures.frames}, {"fps", rate_of(figures)}, {"seconds", figures.seconds}};
    if (const auto left = seconds_left(figures)) json["seconds_left"] = *left;
    return json_text(json);
}

namespace {

// An output of the whole item, and the parts from which it is joined.
struct CutOutput {
    std::string path;
    std::vector<FilePart> parts;
    bool is_film;
};

// Returns the outputs of the whole item; their lists of parts are still empty.
std::vector<CutOutput> outputs_to_join(const BatchItem& whole) {
    std::vector<CutOutput> outputs;
    for (const auto& output : whole.files.outputs())
        outputs.push_back({output.path, {}, !whole.film.empty() && output.option == whole.film});
    return outputs;
}

}  // namespace

void require_can_be_joined(const JobFiles& files) {
    for (const auto& output : files.outputs())
        if (!can_be_joined(output.path))
            fail(ErrorCode::usage,
                 "{}: segments of this format cannot be joined (--segment); allowed: .jsonl, .txt, .npy, .y4m, .bgr, "
                 ".gray, .mp4, .mkv and .avi",
                 output.path);
}

CutItem cut_video(const BatchItem& whole, const InputOptions& input, const Cutting& cutting, bool audio,
                  const std::stop_token& stop, const SegmentItem& item) {
    const auto times = frame_times_of(input.source, {.stop = stop});
    if (!times.unknown.empty()) log_info("{} is not split: {}", input.source, times.unknown);
    CutItem cut;
    auto outputs = outputs_to_join(whole);
    auto part_input = input;
    for (const auto& segment : segments_of(times, input, cutting)) {
        auto part = item(segment, fmt::format("{:05}", cut.parts.size()));
        part_input.segment = segment;
        const auto begin_seconds = whole_seconds_before(part_input);
        for (std::size_t output = 0; output < outputs.size(); ++output)
            outputs[output].parts.push_back({part.files.outputs().at(output).path, begin_seconds});
        cut.parts.push_back(std::move(part));
    }
    const auto medium = input.fps > 0 ? std::nullopt : times.medium;
    cut.join = [outputs = std::move(outputs), medium, audio](const JobOptions& job) {
        for (const auto& output : outputs)
            join_files(output.parts, output.path, {.stop = job.stop, .replace = job.replace},
                       output.is_film ? medium : std::nullopt, audio);
    };
    return cut;
}

}  // namespace framewire::jobs

// Splitting at keyframes. A job on a time range also decodes some frames before the range (its lead), so that its
// results equal those of a run over the whole source.

namespace framewire::jobs {
namespace {

// Adds the frames that a background model depends on: none for a picture, the first frame, or all frames.
void add_background(LookBack& back, const BackgroundModel& background) {
    if (std::holds_alternative<FirstFrame>(background))
        back.first_frame = true;
    else if (!std::holds_alternative<BackgroundImage>(background))
        back.learns = name_of_background(background);
}

// Adds what the filters of a chain depend on. Returns how many earlier frames they need.
int add_calls(LookBack& back, const Chain& chain) {
    int previous = 0;
    for (const auto& call : chain.calls) {
        previous += call.filter->needs_previous ? 1 : 0;
        if (call.filter->name == "boxes") add_background(back, detector_parameters(call.values).background);
    }
    return previous;
}

// Returns the first frame that filters and detectors must see so that results from `begin` on equal those of a run over
// all frames.
std::size_t lead_of(const FrameTimes& times, std::size_t begin, const InputOptions& input, const Cutting& cutting) {
    const auto& seconds = times.seconds;
    // one frame more than the filters need, see segments_of()
    const auto frames = static_cast<std::size_t>(cutting.look_back.frames) + 1;
    auto lead = begin;
    if (const auto rate = split_at_rate(parse_chain(input.filters)).rate) {
        const auto number_of = [&](std::size_t frame) {
            FpsSchedule schedule(*rate);
            schedule.begin(input.fps > 0 ? static_cast<double>(frame) / input.fps : seconds[frame]);
            return schedule.next();
        };
        const auto wanted = number_of(begin) - cutting.look_back.rated_frames;
        while (lead > 0 && number_of(lead) > wanted) --lead;
    }
    lead -= std::min(lead, frames);
    if (!cutting.warm_up_seconds) return lead;
    const auto warm = std::ranges::lower_bound(seconds, seconds[begin] - *cutting.warm_up_seconds) - seconds.begin();
    return std::min(lead, static_cast<std::size_t>(warm));
}

}  // namespace

LookBack look_back_of(const std::string& filters, const BackgroundModel* background) {
    LookBack back;
    const auto chain = split_at_rate(parse_chain(filters));
    const int before = add_calls(back, chain.before), after = add_calls(back, chain.after);
    (chain.rate ? back.rated_frames : back.frames) = after;
    if (chain.rate) back.frames = before;
    if (background) add_background(back, *background);
    return back;
}

void require_can_be_cut(const InputOptions& input, const Cutting& cutting) {
    if (input.start_seconds > 0 || input.duration_seconds)
        fail(ErrorCode::usage, "--start and --duration cannot be combined with --segment");
    const auto& learns = cutting.look_back.learns;
    if (!learns.empty() && !cutting.warm_up_seconds)
        fail(ErrorCode::usage,
             "the background {} learns from all previous frames, which segments of a video (--segment) do not have; "
             "with --warm-up 30s, each segment learns from the 30 s before it, and the results differ from those of an "
             "unsplit run; with first or an image as background, results do not change",
             learns);
}

std::vector<FileSegment> segments_of(const FrameTimes& times, const InputOptions& input, const Cutting& cutting) {
    const auto& seconds = times.seconds;
    std::vector<std::size_t> begins{0};
    for (const auto entry : times.entries)
        if (entry < seconds.size() && seconds[entry] >= seconds[begins.back()] + cutting.seconds)
            begins.push_back(entry);
    std::vector<FileSegment> segments;
    for (std::size_t number = 0; number < begins.size(); ++number) {
        const auto begin = begins[number];
        const bool last = number + 1 == begins.size();
        const auto end = last ? seconds.size() : begins[number + 1];
        FileSegment segment{.begin_frame = static_cast<std::int64_t>(begin),
                            .frames = static_cast<std::int64_t>(end - begin)};
        if (!last) segment.end_seconds = seconds[end];
        if (begin > 0) {
            // The lead starts no later than at the previous frame. Decoding then begins one keyframe earlier, because
            // frames after some keyframes depend on frames before them (recovery points).
            const auto lead = lead_of(times, begin, input, cutting);
            segment.begin_seconds = seconds[begin];
            segment.lead_frame = static_cast<std::int64_t>(lead);
            segment.lead_seconds = seconds[lead];
            segment.first_frame = cutting.look_back.first_frame && lead > 0;
        }
        segments.push_back(segment);
    }
    return segments;
}

}  // namespace framewire::jobs
