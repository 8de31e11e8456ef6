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
using End = PieceOutcome::End;
using Is = PieceState::Is;

void require_different(const std::vector<Piece>& pieces) {
    std::map<std::string, const Piece*> named;
    JobFiles files;
    for (const auto& piece : pieces) {
        const auto [other, is_new] = named.emplace(piece.name, &piece);
        if (!is_new)
            fail(ErrorCode::usage, "{} and {} would both be {}", other->second->input, piece.input, piece.name);
        files.add(piece.files);
    }
    files.require_different();
}

std::vector<std::string> paths_of(const std::vector<RunFile>& files) {
    std::vector<std::string> paths;
    for (const auto& file : files) paths.push_back(file.path);
    return paths;
}

// 0 where nobody knows, for then the job will tell.
std::int64_t bytes_of(const Piece& piece) {
    std::error_code unknown;
    const auto bytes = piece.files.inputs().empty() ? 0 : fs::file_size(piece.files.inputs().front().path, unknown);
    return unknown ? 0 : static_cast<std::int64_t>(bytes);
}

// A job's share of the threads that all have together.
int threads_of_each(int threads, int jobs) {
    const int all = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return jobs == 1 ? threads : std::max(1, all / jobs);
}

}  // namespace

int BatchResult::count(End end) const { return static_cast<int>(std::ranges::count(pieces, end, &PieceOutcome::end)); }

const PieceOutcome* BatchResult::first_failure() const {
    const auto found = std::ranges::find(pieces, End::failed, &PieceOutcome::end);
    return found == pieces.end() ? nullptr : &*found;
}

struct BatchJob::State {
    // A piece of this shard, and how it was found.
    struct Task {
        Piece piece;
        PieceMarks marks;
        PieceState found;
        std::int64_t bytes = 0;
    };

    State(const BatchOptions& asked, std::vector<Piece> pieces);

    Making making_of(const Piece& piece) const {
        return {options.version, options.made_with, paths_of(piece.files.inputs()), paths_of(piece.files.outputs())};
    }
    PieceState look_at(const Piece& piece, const PieceMarks& marks) const;
    void run(InTheWay in_the_way);
    void work();
    void attempt(const Task& task, PieceOutcome& outcome);
    void make(const Task& task, PieceOutcome& outcome);
    void run_job(const Task& task, PieceOutcome& outcome);
    bool stopped() const { return options.job.stop.stop_requested(); }

    BatchOptions options;
    std::vector<Task> tasks;
    std::vector<std::string> in_the_way;
    StatisticsFile statistics;
    BatchResult result;

    InTheWay what_of_others = InTheWay::refuse;
    std::optional<BatchTally> tally;
    std::atomic<std::size_t> next{0};
};

BatchJob::State::State(const BatchOptions& asked, std::vector<Piece> pieces)
    : options(asked), statistics((require_different(pieces), options.job.statistics_path), options.job.replace) {
    if (options.jobs < 1 || options.jobs > BatchOptions::most_jobs)
        fail(ErrorCode::usage, "{} jobs at once; allowed are 1 to {}", options.jobs, BatchOptions::most_jobs);
    for (std::size_t index = 0; index < pieces.size(); ++index) {
        if (!options.shard.has(index)) continue;
        PieceMarks marks(options.folder, pieces[index].name);
        auto found = look_at(pieces[index], marks);
        if (found.is == Is::in_the_way) in_the_way.push_back(found.what);
        const auto bytes = bytes_of(pieces[index]);
        tasks.push_back({std::move(pieces[index]), std::move(marks), std::move(found), bytes});
    }
}

PieceState BatchJob::State::look_at(const Piece& piece, const PieceMarks& marks) const {
    try {
        return marks.state(making_of(piece));
    } catch (const Error&) {  // no such input: its job will say so
        return {};
    }
}

void BatchJob::State::run(InTheWay what) {
    const auto begin = Clock::now();
    what_of_others = what;
    std::int64_t bytes = 0;
    for (const auto& task : tasks)
        if (task.found.is != Is::done) bytes += task.bytes;
    for (const auto& task : tasks) result.pieces.push_back({.input = task.piece.input});
    tally.emplace(static_cast<int>(tasks.size()), bytes);
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

void BatchJob::State::work() {
    for (;;) {
        const auto index = next++;
        if (index >= tasks.size() || stopped()) return;
        const auto& task = tasks[index];
        auto& outcome = result.pieces[index];
        attempt(task, outcome);
        tally->count(task.found.is == Is::done ? 0 : task.bytes, outcome.end == End::failed);
    }
}

void BatchJob::State::attempt(const Task& task, PieceOutcome& outcome) {
    const auto failed = [&](ErrorCode code, const std::string& why) {
        outcome.end = stopped() ? End::stopped : End::failed;
        outcome.code = code;
        outcome.why = why.find(task.piece.input) == why.npos ? fmt::format("{}: {}", task.piece.input, why) : why;
    };
    try {
        make(task, outcome);
    } catch (const Error& error) {
        failed(error.code(), error.what());
    } catch (const std::bad_alloc&) {
        failed(ErrorCode::config, "out of memory");
    } catch (const std::exception& error) {
        failed(ErrorCode::internal, error.what());
    }
}

void BatchJob::State::make(const Task& task, PieceOutcome& outcome) {
    if (task.found.is == Is::done) {
        outcome.end = End::was_done;
        if (task.marks.begun()) PieceInTheMaking(task.marks);  // a run was killed between its last two steps
        return;
    }
    if (task.found.is == Is::in_the_way && what_of_others == InTheWay::keep) {
        outcome.end = End::kept;
        return;
    }
    PieceInTheMaking marked(task.marks);
    const auto making = making_of(task.piece);
    // Another run may have made it since we looked; what it began and did not end is ours now.
    if (task.found.is != Is::in_the_way && look_at(task.piece, task.marks).is == Is::done) {
        outcome.end = End::was_done;
        return;
    }
    if (task.found.is == Is::in_the_way && what_of_others == InTheWay::refuse)
        fail(ErrorCode::io, "{} is there already; -y replaces it, -n keeps it", task.found.what);
    if (task.found.is == Is::changed) log_info("{} is made again: {} changed", task.piece.input, task.found.what);
    try {
        marked.begin(making);
    } catch (const Error&) {  // as above
    }
    run_job(task, outcome);
    if (outcome.end != End::made) return;
    marked.finish(making);
}

void BatchJob::State::run_job(const Task& task, PieceOutcome& outcome) {
    const auto outputs = paths_of(task.piece.files.outputs());
    std::vector<std::string> new_ones;
    for (const auto& output : outputs) {
        if (const auto folder = split_path(output).first; !folder.empty()) make_folder(folder);
        if (std::error_code unknown; !fs::exists(output, unknown)) new_ones.push_back(output);
    }
    // Nothing has its name that is not whole.
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
        const auto done = task.piece.work(job, {[this](const Statistics& running) { tally->watch(running); },
                                                [this](const Statistics& running) { tally->unwatch(running); }});
        outcome.frames = done.figures.frames;
        outcome.end = done.ending == Ending::complete ? End::made : End::stopped;
    } catch (...) {
        withdraw();
        throw;
    }
    if (outcome.end != End::made) withdraw();
}

BatchJob::BatchJob(const BatchOptions& options, std::vector<Piece> pieces)
    : state_(std::make_unique<State>(options, std::move(pieces))) {}
BatchJob::~BatchJob() = default;

const std::vector<std::string>& BatchJob::in_the_way() const { return state_->in_the_way; }
const BatchResult& BatchJob::run(InTheWay in_the_way) { return state_->run(in_the_way), state_->result; }

}  // namespace framewire::session
