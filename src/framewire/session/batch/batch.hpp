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

/// Learns of the job of a piece when it runs, and when it does not any more.
struct PieceWatch {
    std::function<void(const Statistics&statistics)> began, ended;
};

struct CutPiece;

/// One of many pieces of work: a file, and a job that makes something of it.
struct Piece {
    std::string input;  ///< as people are told
    std::string name;   ///< of its first output, as seen from the output folder
    JobFiles files;     ///< what the job reads and writes
    /// The option of that output which stands for the source's video: sound and words go along into it. Empty: none.
    std::string film;
    /// Makes the job with these options and runs it. Throws as jobs do.
    std::function<JobResult(const JobOptions& job, const PieceWatch& watch)> work;
    /// Cuts it, where it may be cut. Throws as work does.
    std::function<CutPiece()> cut{};
    /// Every share makes it: an input that the command line names and that does not exist, so that no share succeeds.
    bool in_every_share = false;
};

/// A piece of work that is made in parts, which are pieces of work of their own: `work` is done where these cannot be.
struct CutPiece {
    std::vector<Piece> parts{};  ///< fewer than two: it is not cut
    /// Joins what was made of the parts. Throws Error.
    std::function<void(const JobOptions& job)> join{};
};

/// The folder of the marks in an output folder, and in it that of the parts of the piece `name`.
std::string marks_folder(const std::string& folder);
std::string parts_folder(const std::string& folder, const std::string& name);

/// The work of a piece by a RunJob or the like, whose other options are `options`.
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

/// What is done where an output is there that no run of many files made.
enum class InTheWay { refuse, replace, keep };

struct BatchOptions {
    JobOptions job{};                      ///< of all together: threads are shared out, figures and progress are of all
    std::string folder{};                  ///< where first outputs go, and marks of what is done
    std::string version{};                 ///< see Making
    std::vector<std::string> made_with{};  ///< options that outputs depend on, see Making
    int jobs = 1;                          ///< pieces at once, 1 to most_jobs
    Shard shard{};                         ///< which of the pieces

    static constexpr int most_jobs = 256;
};

/// What became of a piece.
struct PieceOutcome {
    enum class End {
        made,
        was_done,  ///< by an earlier run, with the same
        kept,      ///< as somebody else made it
        failed,
        stopped  ///< before its end, or before it began
    };
    std::string input{};
    bool part = false;  ///< it is one of a cut piece's
    bool told = true;   ///< whether a failure is its own; else that of the piece it is a part of tells it
    End end = End::stopped;
    ErrorCode code = ErrorCode::internal;  ///< of what failed
    std::string why{};                     ///< it failed, with its name
    std::int64_t frames = 0;
};

struct BatchResult {
    std::vector<PieceOutcome> pieces{};  ///< of this shard, in order; parts before what they are of
    double seconds = 0;
    std::int64_t frames = 0;

    /// How many pieces, or parts, there are, and how many that ended so.
    int size(bool parts = false) const;
    int count(PieceOutcome::End end, bool parts = false) const;
    /// What failed, in order: parts where no piece tells it.
    std::vector<const PieceOutcome*> failures() const;
};

/// The result as JSON: `files`, `made`, `were_done`, `kept`, `failed`, `stopped`, the same of `parts` where there are
/// some, `frames`, `seconds`, `fps`, the `shard`, and in `failures` an object each: its `file`, `code` and `why`.
std::string to_json(const BatchResult& result, const Shard& shard);

/// Many pieces of work: what is missing or changed of them is made, several at once, and each is marked when it is done
/// (PieceMarks). A piece that fails is no reason for others not to be made. What a piece wrote before it failed is left
/// as NAME.part, and nothing where it was stopped. Pieces that are cut are made in parts, which shards share out, too:
/// part p of piece n is the work of shard (n + p) modulo their count. They are joined where there is one shard. For one
/// run.
class BatchJob {
public:
    /// Looks at what there is. Throws Error{usage} where one piece's output is another's, or an input, and where
    /// options are out of their range; Error{io} where the file for the figures cannot be written.
    BatchJob(const BatchOptions& options, std::vector<Piece> pieces);
    ~BatchJob();

    /// Outputs of this shard that no run of many files made, or that were changed since.
    const std::vector<std::string>& in_the_way() const;

    /// To be called once. Failures of pieces are in the result. Throws Error{io} where the figures cannot be written.
    const BatchResult& run(InTheWay in_the_way);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
