#pragma once

#include "framewire/core/error.hpp"
#include "framewire/media/files/run_files.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/batch/shard.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::session {

/// Callbacks around the job of a piece: `began` before it runs, `ended` after it. `statistics` is valid in between.
struct PieceWatch {
    std::function<void(const Statistics&statistics)> began, ended;
};

struct CutPiece;

/// A piece of batch work: one input file and the job that processes it.
struct Piece {
    /// Input as shown to people.
    std::string input;
    /// Path of its first output, relative to the output folder.
    std::string name;
    /// Files that the job reads and writes.
    JobFiles files;
    /// Option of the output that replaces the source's video; sound, subtitles and metadata are copied into it. Empty:
    /// none.
    std::string film;
    /// Makes and runs the job with these options. Throws as jobs do.
    std::function<JobResult(const JobOptions& job, const PieceWatch& watch)> work;
    /// Optional. Splits the piece into parts, if possible. Throws as `work` does.
    std::function<CutPiece()> cut{};
    /// True for an input that the command line names and that does not exist: every shard reports it, so that none
    /// succeeds.
    bool in_every_share = false;
};

/// A piece that was split into parts. Parts are pieces of their own; if they fail because of the source, the piece's
/// own `work` is done instead.
struct CutPiece {
    /// Fewer than two: the piece is not split.
    std::vector<Piece> parts{};
    /// Joins the outputs of the parts to those of the piece. Throws Error.
    std::function<void(const JobOptions& job)> join{};
};

/// Returns the folder of the done markers in an output folder.
std::string marks_folder(const std::string& folder);
/// Returns the folder in it for the parts of the piece `name`.
std::string parts_folder(const std::string& folder, const std::string& name);

/// Returns a Piece::work that runs an `AnyJob`, such as RunJob, with the given options besides JobOptions.
template <class AnyJob, class Options>
auto piece_work(Options options) {
    return [options = std::move(options)](const JobOptions& job_options, const PieceWatch& watch) -> JobResult {
        auto own = options;
        own.job = job_options;
        AnyJob job(own);
        struct Watched {
            Watched(const PieceWatch& who, const Statistics& what) : watch(who), statistics(what) {
                watch.began(statistics);
            }
            ~Watched() { watch.ended(statistics); }
            Watched(const Watched&) = delete;
            Watched& operator=(const Watched&) = delete;
            const PieceWatch& watch;
            const Statistics& statistics;
        } const watched(watch, job.statistics());
        return job.run();
    };
}

/// Treatment of an existing output that no batch run made.
enum class InTheWay { refuse, replace, keep };

/// Options of a BatchJob.
struct BatchOptions {
    /// Options of all pieces together: threads are divided among them; statistics and progress are totals.
    JobOptions job{};
    /// Output folder, which also holds the done markers.
    std::string folder{};
    /// See Making.
    std::string version{};
    /// Options that outputs depend on, see Making.
    std::vector<std::string> made_with{};
    /// Number of pieces processed at a time, 1 to most_jobs.
    int jobs = 1;
    /// Shard of the pieces that this process takes.
    Shard shard{};

    /// Limit for `jobs`.
    static constexpr int most_jobs = 256;
};

/// Outcome of one piece.
struct PieceOutcome {
    /// How the piece ended.
    enum class End {
        made,
        /// Done before, with the same inputs and options.
        was_done,
        /// Left as it was, although no batch run made it.
        kept,
        failed,
        /// Stopped before its end, or before it began.
        stopped
    };
    std::string input{};
    /// True for a part of a split piece.
    bool part = false;
    /// True if a failure is reported for this outcome itself; false if the split piece reports it.
    bool told = true;
    End end = End::stopped;
    /// Error code, if it failed.
    ErrorCode code = ErrorCode::internal;
    /// Message with the input's name, if it failed.
    std::string why{};
    /// Frames processed.
    std::int64_t frames = 0;
};

/// Outcome of a BatchJob.
struct BatchResult {
    /// Pieces of this shard, in order; parts precede the piece they belong to.
    std::vector<PieceOutcome> pieces{};
    double seconds = 0;
    std::int64_t frames = 0;

    /// Number of pieces, or of parts, in total.
    int size(bool parts = false) const;
    /// Number of pieces, or of parts, that ended in this way.
    int count(PieceOutcome::End end, bool parts = false) const;
    /// Failed pieces, in order, and failed parts that no piece reports.
    std::vector<const PieceOutcome*> failures() const;
};

/// Returns the result as JSON: `files`, `made`, `were_done`, `kept`, `failed`, `stopped`, the same counts for `parts`
/// if there are any, `frames`, `seconds`, `fps`, `shard`, and `failures`, a list of objects with `file`, `code` and
/// `why`.
std::string to_json(const BatchResult& result, const Shard& shard);

/// Processes many pieces of work, several at a time. Pieces that are done and unchanged since an earlier run are
/// skipped; each finished piece gets a done marker (PieceMarks). A failed piece does not stop the others; what it wrote
/// is left as NAME.part. A stopped piece leaves nothing.
///
/// Split pieces are processed part by part, and shards divide the parts too: part p of piece n belongs to shard (n + p)
/// modulo the number of shards. Parts are joined only if there is a single shard. A job runs once.
class BatchJob {
public:
    /// Determines what has to be done. Throws Error{usage} if an output of one piece is an output or input of another
    /// one, or if options are out of range, and Error{io} if the statistics file cannot be written.
    BatchJob(const BatchOptions& options, std::vector<Piece> pieces);
    ~BatchJob();

    /// Outputs of this shard that no batch run made, or that were changed since.
    const std::vector<std::string>& in_the_way() const;

    /// Processes the pieces; may be called once. Failures of pieces are part of the result. Throws Error{io} if the
    /// statistics cannot be written.
    const BatchResult& run(InTheWay in_the_way);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
