// Workers take tasks in order from a shared counter. A split piece's parts come before the task that joins them; the
// worker that ends the last part does that task.
#include "framewire/session/batch/batch.hpp"

#include "framewire/core/log.hpp"
#include "framewire/media/files/paths.hpp"
#include "framewire/session/batch/batch_progress.hpp"
#include "framewire/session/batch/done_mark.hpp"
#include "framewire/session/outputs/folders.hpp"
#include "framewire/session/outputs/statistics_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

namespace framewire::session {
namespace {

namespace fs = std::filesystem;
using PieceEnd = PieceOutcome::End;
using PieceIs = PieceState::Is;

// Throws Error{usage} if two pieces have the same outputs, or one writes what another reads.
void require_different(const std::vector<Piece>& pieces, const std::string& statistics_path) {
    std::map<std::string, const Piece*> named;
    JobFiles files;
    files.statistics(statistics_path);
    for (const auto& piece : pieces) {
        const auto [other, is_new] = named.emplace(piece.name, &piece);
        if (!is_new)
            fail(ErrorCode::usage, "{} and {} would both be {}", other->second->input, piece.input, piece.name);
        files.add(piece.files);
    }
    files.require_different();
}

// Returns the paths without the options that named them.
std::vector<std::string> paths_of(const std::vector<RunFile>& files) {
    std::vector<std::string> paths;
    for (const auto& file : files) paths.push_back(file.path);
    return paths;
}

// Returns the first input of a piece that does not exist; null if all exist.
const RunFile* missing_input(const Piece& piece) {
    const auto& inputs = piece.files.inputs();
    const auto found = std::ranges::find_if(inputs, [](const RunFile& input) {
        std::error_code unknown;
        return input.path != "-" && fs::status(input.path, unknown).type() == fs::file_type::not_found;
    });
    return found == inputs.end() ? nullptr : &*found;
}

// Removes the parts of a piece that was joined, and the folders above them that became empty.
void remove_parts(const std::string& folder) {
    std::error_code stays;
    fs::remove_all(folder, stays);
    for (auto above = fs::path(folder).parent_path(); above.filename() != ".framewire" && !stays;
         above = above.parent_path())
        if (!fs::is_empty(above, stays) || !fs::remove(above, stays)) return;
}

// Returns the size of the first input; 0 if it is unknown, in which case the job will report why.
std::int64_t bytes_of(const Piece& piece) {
    std::error_code unknown;
    const auto bytes = piece.files.inputs().empty() ? 0 : fs::file_size(piece.files.inputs().front().path, unknown);
    return unknown ? 0 : static_cast<std::int64_t>(bytes);
}

// Divides the threads among the jobs that run at a time.
int threads_of_each(int threads, int jobs) {
    const int all = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return jobs == 1 ? threads : std::max(1, all / jobs);
}

}  // namespace

std::string marks_folder(const std::string& folder) { return fs::path(folder) / ".framewire"; }

std::string parts_folder(const std::string& folder, const std::string& name) {
    return fs::path(marks_folder(folder)) / ".parts" / name;
}

int BatchResult::size(bool parts) const {
    return static_cast<int>(std::ranges::count(pieces, parts, &PieceOutcome::part));
}

int BatchResult::count(PieceEnd end, bool parts) const {
    return static_cast<int>(
        std::ranges::count_if(pieces, [&](const auto& piece) { return piece.end == end && piece.part == parts; }));
}

std::vector<const PieceOutcome*> BatchResult::failures() const {
    std::vector<const PieceOutcome*> failed;
    for (const auto& piece : pieces)
        if (piece.end == PieceEnd::failed && piece.told) failed.push_back(&piece);
    return failed;
}

struct BatchJob::State {
    // A piece of this shard, with its state before the run.
    struct Task {
        Piece piece;
        PieceMarks marks;
        PieceState found;
        std::int64_t bytes = 0;
        // for a part: index of the task that joins it, which starts when all parts have ended
        std::optional<std::size_t> whole{};
        // this task joins parts
        bool joins = false;
        bool is_part = false;
        // for a part: an output of its piece is in the way
        bool in_the_way = false;
        std::function<void(const JobOptions&)> join{};
    };

    State(const BatchOptions& asked, std::vector<Piece> pieces);

    // Returns everything that determines the outputs of a piece.
    Making making_of(const Piece& piece) const {
        return {options.version, options.made_with, paths_of(piece.files.inputs()), paths_of(piece.files.outputs())};
    }
    // Compares a piece with its markers; `missing` if an input does not exist.
    PieceState look_at(const Piece& piece, const PieceMarks& marks) const;
    // Adds a task. `share_of_input` divides the input's size among the parts, for the progress.
    Task& add(Piece piece, std::int64_t share_of_input = 1);
    // Adds the parts of a piece; `index` is its number among all pieces, which decides about the shards.
    bool add_parts(Piece& piece, std::size_t index);
    // Splits a piece; empty if that fails.
    CutPiece cut(const Piece& piece) const;
    // Joins the parts of task `index`.
    bool join(const Task& task, std::size_t index, const JobOptions& job);
    void run(InTheWay in_the_way);
    // Loop of a worker; run() starts jobs - 1 of them and is one itself.
    void work();
    // Processes a task and records its outcome. Never throws.
    void attempt(std::size_t index);
    // Processes a task unless its markers say that it is done.
    void make(const Task& task, std::size_t index);
    // Runs the job and removes or renames incomplete outputs.
    void run_job(const Task& task, std::size_t index);
    bool stopped() const { return options.job.stop.stop_requested(); }

    BatchOptions options;
    std::vector<Task> tasks;
    std::vector<std::string> in_the_way;
    StatisticsFile statistics;
    BatchResult result;

    // Set by run(), read by the workers.
    InTheWay what_of_others = InTheWay::refuse;
    std::optional<BatchTally> tally;
    // next task to be taken
    std::atomic<std::size_t> next{0};
    // number of unfinished parts per task
    std::vector<std::atomic<int>> parts_left;
};

// The parts of a piece are followed by the task that joins them; work() and join() rely on this order.
BatchJob::State::State(const BatchOptions& asked, std::vector<Piece> pieces)
    : options(asked),
      statistics((require_different(pieces, options.job.statistics_path), options.job.statistics_path),
                 options.job.replace) {
    if (options.jobs < 1 || options.jobs > BatchOptions::most_jobs)
        fail(ErrorCode::usage, "{} jobs at once; allowed are 1 to {}", options.jobs, BatchOptions::most_jobs);
    for (std::size_t index = 0; index < pieces.size(); ++index)
        if (!add_parts(pieces[index], index) && (options.shard.has(index) || pieces[index].in_every_share))
            add(std::move(pieces[index]));
    // A shard without work must not succeed if inputs do not exist.
    if (tasks.empty())
        for (auto& piece : pieces)
            if (missing_input(piece)) add(std::move(piece));
    parts_left = std::vector<std::atomic<int>>(tasks.size());
    for (const auto& task : tasks)
        if (task.whole) ++parts_left[*task.whole];
}

BatchJob::State::Task& BatchJob::State::add(Piece piece, std::int64_t share_of_input) {
    PieceMarks marks(options.folder, piece.name);
    auto found = look_at(piece, marks);
    if (found.is == PieceIs::in_the_way) in_the_way.push_back(found.what);
    const auto bytes = share_of_input > 0 ? bytes_of(piece) / share_of_input : 0;
    return tasks.emplace_back(Task{std::move(piece), std::move(marks), std::move(found), bytes});
}

CutPiece BatchJob::State::cut(const Piece& piece) const {
    try {
        return piece.cut();
        // the job will report the error
    } catch (const Error&) {
        return {};
    }
}

// Adds the parts of this shard and, for a single shard, the task that joins them. Returns false if the piece is done or
// not split.
bool BatchJob::State::add_parts(Piece& piece, std::size_t index) {
    if (!piece.cut) return false;
    const auto found = look_at(piece, PieceMarks(options.folder, piece.name));
    if (found.is == PieceIs::done) {
        // an earlier run was killed before it could
        remove_parts(parts_folder(options.folder, piece.name));
        return false;
    }
    auto cut_up = cut(piece);
    const auto count = cut_up.parts.size();
    if (count < 2) return false;
    const bool joins = options.shard.count == 1;
    for (std::size_t part = 0; part < count; ++part) {
        if (!options.shard.has(index + part)) continue;
        auto& task = add(std::move(cut_up.parts[part]), static_cast<std::int64_t>(count));
        task.is_part = true;
        task.in_the_way = found.is == PieceIs::in_the_way;
        if (joins) task.whole = tasks.size() - part - 1 + count;
    }
    if (!joins) {
        if (found.is == PieceIs::in_the_way) in_the_way.push_back(found.what);
        return true;
    }
    auto& task = add(std::move(piece), 0);
    task.joins = true;
    task.join = std::move(cut_up.join);
    return true;
}

PieceState BatchJob::State::look_at(const Piece& piece, const PieceMarks& marks) const {
    try {
        return marks.state(making_of(piece));
        // the input does not exist: the job will report it
    } catch (const Error&) {
        return {};
    }
}

void BatchJob::State::run(InTheWay what) {
    const auto begin = Clock::now();
    what_of_others = what;
    std::int64_t bytes = 0;
    for (const auto& task : tasks)
        if (task.found.is != PieceIs::done) bytes += task.bytes;
    for (const auto& task : tasks)
        result.pieces.push_back({.input = task.piece.input, .part = task.is_part, .told = !task.whole});
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

// Loop of one worker.
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

// Processes one task; an exception becomes its outcome.
void BatchJob::State::attempt(std::size_t index) {
    const auto& task = tasks[index];
    auto& outcome = result.pieces[index];
    const auto failed = [&](ErrorCode code, const std::string& why) {
        outcome.end = stopped() ? PieceEnd::stopped : PieceEnd::failed;
        outcome.code = code;
        outcome.why = why.find(task.piece.input) == why.npos ? fmt::format("{}: {}", task.piece.input, why) : why;
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
    tally->count(task.found.is == PieceIs::done ? 0 : task.bytes, outcome.end == PieceEnd::failed && outcome.told);
}

// Decides from the markers whether the task has to be done, and does it.
void BatchJob::State::make(const Task& task, std::size_t index) {
    auto& outcome = result.pieces[index];
    if (task.in_the_way && what_of_others != InTheWay::replace) {
        // the parts would be useless
        if (what_of_others == InTheWay::keep) outcome.end = PieceEnd::kept;
        return;
    }
    if (task.found.is == PieceIs::done) {
        outcome.end = PieceEnd::was_done;
        // remove the marker of a run that was killed after it wrote NAME.done
        if (task.marks.begun()) PieceInTheMaking(task.marks);
        return;
    }
    if (task.found.is == PieceIs::in_the_way && what_of_others == InTheWay::keep) {
        outcome.end = PieceEnd::kept;
        return;
    }
    // Checked before the piece is marked as begun, because other shards may fail at the same input.
    if (const auto* missing = missing_input(task.piece))
        fail(ErrorCode::no_input, "{}: there is no such file", missing->path);
    PieceInTheMaking marked(task.marks);
    const auto making = making_of(task.piece);
    // Another run may have finished it meanwhile. If it was killed, this run takes over.
    if (task.found.is != PieceIs::in_the_way && look_at(task.piece, task.marks).is == PieceIs::done) {
        outcome.end = PieceEnd::was_done;
        return;
    }
    if (task.found.is == PieceIs::in_the_way && what_of_others == InTheWay::refuse)
        fail(ErrorCode::io, "{} is there already; -y replaces it, -n keeps it", task.found.what);
    if (task.found.is == PieceIs::changed) log_info("{} is made again: {} changed", task.piece.input, task.found.what);
    try {
        marked.begin(making);
        // the input does not exist: the job will report it
    } catch (const Error&) {
    }
    run_job(task, index);
    if (outcome.end != PieceEnd::made) return;
    marked.finish(making);
    // Also removes parts that an earlier run with --segment left behind.
    if (!task.is_part) remove_parts(parts_folder(options.folder, task.piece.name));
}

// Joins a piece from its parts. Returns false if the source cannot be split or is damaged; then the piece is made as a
// whole, with the same result as a run without splitting.
bool BatchJob::State::join(const Task& task, std::size_t index, const JobOptions& job) {
    const auto is_of_source = [](ErrorCode code) {
        return code == ErrorCode::config || code == ErrorCode::source_lost;
    };
    const PieceOutcome* failed = nullptr;
    for (std::size_t part = 0; part < index; ++part) {
        if (tasks[part].whole != index) continue;
        const auto& outcome = result.pieces[part];
        if (outcome.end == PieceEnd::stopped) return true;
        if (outcome.end != PieceEnd::failed) continue;
        if (!failed || (is_of_source(failed->code) && !is_of_source(outcome.code))) failed = &outcome;
    }
    if (failed && !is_of_source(failed->code)) fail(failed->code, "{}", failed->why);
    if (failed) {
        log_info("{}; it is made in one piece", failed->why);
        return false;
    }
    task.join(job);
    result.pieces[index].end = stopped() ? PieceEnd::stopped : PieceEnd::made;
    return true;
}

// Runs the job of a task, or joins its parts.
void BatchJob::State::run_job(const Task& task, std::size_t index) {
    auto& outcome = result.pieces[index];
    const auto outputs = paths_of(task.piece.files.outputs());
    std::vector<std::string> new_ones;
    for (const auto& output : outputs) {
        if (const auto folder = split_path(output).first; !folder.empty()) make_folder(folder);
        if (std::error_code unknown; !fs::exists(output, unknown)) new_ones.push_back(output);
    }
    // An output exists under its name only if it is complete.
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
            if (outcome.end != PieceEnd::made) withdraw();
            return;
        }
        const auto done = task.piece.work(job, {[this](const Statistics& running) { tally->watch(running); },
                                                [this](const Statistics& running) { tally->unwatch(running); }});
        outcome.frames = done.figures.frames;
        outcome.end = done.ending == Ending::complete ? PieceEnd::made : PieceEnd::stopped;
    } catch (...) {
        withdraw();
        throw;
    }
    if (outcome.end != PieceEnd::made) withdraw();
}

BatchJob::BatchJob(const BatchOptions& options, std::vector<Piece> pieces)
    : state_(std::make_unique<State>(options, std::move(pieces))) {}
BatchJob::~BatchJob() = default;

const std::vector<std::string>& BatchJob::in_the_way() const { return state_->in_the_way; }
const BatchResult& BatchJob::run(InTheWay in_the_way) { return state_->run(in_the_way), state_->result; }

}  // namespace framewire::session
