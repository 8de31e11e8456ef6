#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/detect/background.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/shard.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::jobs {

/// Callbacks around the job of an item: `began` is called before the job runs and `ended` after it. Both receive the
/// job's statistics, which stay valid until `ended` returns.
struct ItemWatch {
    std::function<void(const Statistics&statistics)> began, ended;
};

struct CutItem;

/// An item of batch work: one input file and the job that processes it.
struct BatchItem {
    /// Input as shown to people.
    std::string input;
    /// Path of the item's first output, relative to the output folder.
    std::string name;
    /// Files that the job reads and writes.
    JobFiles files;
    /// Command-line option of the output that replaces the source's video; sound, subtitles and metadata are copied
    /// into that output. Empty: no output replaces the video.
    std::string film;
    /// Makes and runs the job with these options. Throws as jobs do.
    std::function<JobResult(const JobOptions& job, const ItemWatch& watch)> work;
    /// Optional. Splits the item into parts, if possible. Throws as `work` does.
    std::function<CutItem()> cut{};
    /// True if the command line names an input that does not exist. Every shard then reports the missing input, so that
    /// no shard succeeds.
    bool in_every_share = false;
};

/// An item that was split into parts, each of which is an item of its own. If parts fail because of the source, the
/// whole item is processed by its own `work` instead.
struct CutItem {
    /// Parts in order. With fewer than two parts the item is not split.
    std::vector<BatchItem> parts{};
    /// Joins the parts' outputs into the outputs of the whole item. Throws Error.
    std::function<void(const JobOptions& job)> join{};
};

/// Returns the path of the folder with the done markers in an output folder.
std::string markers_folder(const std::string& folder);
/// Returns the path of the folder for the parts of item `name` in an output folder.
std::string parts_folder(const std::string& folder, const std::string& name);

/// Returns a BatchItem::work that runs an `AnyJob`, such as RunJob, with `options`; their JobOptions are replaced at
/// each call.
template <class AnyJob, class Options>
auto item_work(Options options) {
    return [options = std::move(options)](const JobOptions& job_options, const ItemWatch& watch) -> JobResult {
        auto own = options;
        own.job = job_options;
        AnyJob job(own);
        struct Watched {
            Watched(const ItemWatch& who, const Statistics& what) : watch(who), statistics(what) {
                watch.began(statistics);
            }
            ~Watched() { watch.ended(statistics); }
            Watched(const Watched&) = delete;
            Watched& operator=(const Watched&) = delete;
            const ItemWatch& watch;
            const Statistics& statistics;
        } const watched(watch, job.statistics());
        return job.run();
    };
}

/// How an existing output that no batch run made is treated.
enum class InTheWay { refuse, replace, keep };

/// Options of a BatchJob.
struct BatchOptions {
    /// Options that all items share: threads are divided among the items; statistics and progress are totals. Each item
    /// takes one of the GPUs, if there are any. If it fails because that GPU failed, it is processed again on another.
    JobOptions job{};
    /// Output folder, which also holds the done markers.
    std::string folder{};
    /// Version of the program, see Making.
    std::string version{};
    /// Options that outputs depend on, see Making.
    std::vector<std::string> made_with{};
    /// Number of items processed at a time, 1 to most_jobs.
    int jobs = 1;
    /// Shard of the items that this process takes.
    Shard shard{};

    /// Maximum value of `jobs`.
    static constexpr int most_jobs = 256;
};

/// Outcome of one item.
struct ItemOutcome {
    /// How the item ended.
    enum class End {
        made,
        /// Skipped, because an earlier run made it with the same inputs and options.
        was_done,
        /// Skipped, because its output exists and no batch run made that output.
        kept,
        failed,
        /// Stopped before the item was complete, or before it began.
        stopped
    };
    std::string input{};
    /// True for a part of a split item.
    bool part = false;
    /// True if this outcome's failure is reported separately; false if the split item reports it.
    bool reported = true;
    End end = End::stopped;
    /// Error code if the item failed.
    ErrorCode code = ErrorCode::internal;
    /// Error message with the input's name if the item failed.
    std::string why{};
    /// Frames processed.
    std::int64_t frames = 0;
};

/// Outcome of a BatchJob.
struct BatchResult {
    /// Items of this shard, in order; parts precede the item they belong to.
    std::vector<ItemOutcome> items{};
    double seconds = 0;
    std::int64_t frames = 0;

    /// Returns the number of items, or of parts if `parts` is true.
    int size(bool parts = false) const;
    /// Returns how many items, or parts, have this outcome.
    int count(ItemOutcome::End end, bool parts = false) const;
    /// Returns the failed items in order, including failed parts that no item reports.
    std::vector<const ItemOutcome*> failures() const;
};

/// Returns the result as JSON: `files`, `made`, `were_done`, `kept`, `failed`, `stopped`, the same counts for `parts`
/// if there are any, `frames`, `seconds`, `fps`, `shard`, and `failures`, a list of objects with `file`, `code` and
/// `why`.
std::string to_json(const BatchResult& result, const Shard& shard);

/// Processes a list of work items, several at a time. Items that are done and unchanged since an earlier run are
/// skipped; each finished item gets a done marker (DoneMarkers). A failed item does not stop the others, and its
/// incomplete outputs remain as NAME.part. A stopped item leaves nothing behind.
///
/// Split items are processed part by part, and the parts are distributed over the shards as well: part p of item n
/// belongs to shard (n + p) modulo the number of shards. Parts are joined only if there is a single shard. A job runs
/// once.
class BatchJob {
public:
    /// Determines which items need work. Throws Error{usage} if an output of one item is an output or input of another,
    /// or if options are out of range, and Error{io} if the statistics file cannot be written.
    BatchJob(const BatchOptions& options, std::vector<BatchItem> items);
    ~BatchJob();

    /// Returns the existing outputs of this shard that no batch run made or that were changed after a batch run made
    /// them.
    const std::vector<std::string>& in_the_way() const;

    /// Processes the items; may be called once. Failed items are recorded in the result instead of being thrown. Throws
    /// Error{io} if the statistics cannot be written.
    const BatchResult& run(InTheWay in_the_way);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// An input file of a batch.
struct BatchInput {
    std::string path;
    /// Path of the file's output relative to the output folder, without an extension.
    std::string name;
    /// True if the file's extension is that of an image.
    bool image = false;
    /// True if `-i` names the file and it does not exist.
    bool missing = false;
};

/// Returns true if an `-i` text names several files: a list (`@LIST`), a folder, or a pattern (`clips/*.avi`) that
/// matches files and is not itself the name of a file.
bool names_many(const std::string& text);

/// Returns the files that the `-i` texts name, each once, sorted by bytes within each text:
/// - a file: itself, even if it does not exist;
/// - a folder: its videos and images, identified by extension; hidden files and subfolders are skipped;
/// - a shell pattern (`*`, `?`, `[...]`): the matching files. Their output names keep the folders below the pattern's
///   fixed part: `cams/*/*.mp4` yields names such as `door/0001`;
/// - `@LIST`: one file per line of LIST; `@-` is standard input, and empty lines are skipped.
///
/// Does not open any video. Throws Error{usage} for other sources, and Error{no_input} if a folder, pattern or list
/// contains no file.
std::vector<BatchInput> batch_inputs(const std::vector<std::string>& texts);

/// Progress of a batch. A plain value.
struct BatchStatistics {
    /// Number of files, or number of items if some files are split.
    int files = 0;
    /// Number of files or items that have ended: made, skipped or failed.
    int ended = 0;
    /// Number of files or items that failed; included in `ended`.
    int failed = 0;
    std::int64_t frames = 0;
    double seconds = 0;
    /// Input bytes of all files that need work, and of those whose work has ended.
    std::int64_t bytes = 0, ended_bytes = 0;
    /// True if some files are split into items.
    bool cut = false;
};

/// Collects the progress of items that are processed in parallel. Thread-safe.
class BatchTally {
public:
    /// `files` is the total number of files, or of items if some files are split (`cut`). `bytes` is the total size of
    /// the inputs that need work.
    BatchTally(int files, std::int64_t bytes, bool cut = false);

    /// Includes the statistics of a running job until unwatch() is called. `statistics` must live until then.
    void watch(const Statistics& statistics);
    /// Adds the frames of a job that has ended to the total.
    void unwatch(const Statistics& statistics);
    /// Counts an item that has ended, with the size of its input.
    void count(std::int64_t bytes, bool failed);

    /// Returns the progress so far.
    BatchStatistics figures() const;

private:
    mutable std::mutex mutex_;
    BatchStatistics ended_;
    std::set<const Statistics*> running_;
    Clock::time_point start_ = Clock::now();
};

/// Returns the lines for Progress: "12/40 files, 1 failed, ..." with the finished fraction and the remaining time, both
/// estimated from input bytes. Refers to `tally`.
ProgressLines progress_lines(const BatchTally& tally);

/// Returns the progress as a line of at most `columns` characters.
std::string batch_bar(const BatchStatistics& figures, int columns);
/// Returns the progress as a line of JSON.
std::string batch_json(const BatchStatistics& figures);

/// Describes how many earlier frames a job's filters and detector depend on.
struct LookBack {
    /// Number of earlier frames needed, counted at the source's rate.
    int frames = 0;
    /// Number of earlier frames that filters after a change of the rate need, counted at the new rate.
    int rated_frames = 0;
    /// True if the very first frame of the source is needed.
    bool first_frame = false;
    /// Name of the background model that learns from all frames; empty if there is none.
    std::string learns{};
};

/// Returns the dependencies of a filter chain and of the detector's `background` model; null means that there is no
/// detector. Throws as parse_chain() does.
LookBack look_back_of(const std::string& filters, const BackgroundModel* background);

/// How a long video is split.
struct Cutting {
    /// Minimum duration of a time range.
    double seconds = 0;
    /// Optional. Duration in seconds before each range from which a learning background model is trained.
    std::optional<double> warm_up_seconds{};
    /// Earlier frames that the job depends on.
    LookBack look_back{};
};

/// Throws Error{usage} if a learning model has no warm-up duration, or if the input has a start or a duration.
void require_can_be_cut(const InputOptions& input, const Cutting& cutting);

/// Returns the time ranges into which a source with these frames is split. Each range begins at the first keyframe that
/// is at least Cutting::seconds after the previous range's begin. Without such a keyframe a single range covers the
/// whole source.
std::vector<FileSegment> segments_of(const FrameTimes& times, const InputOptions& input, const Cutting& cutting);

/// Makes the work item for one time range. Its outputs correspond, in order, to those of the whole item; `name` makes
/// their paths unique.
using SegmentItem = std::function<BatchItem(const FileSegment& segment, const std::string& name)>;

/// Throws Error{usage} if an output has a format that cannot be joined from parts.
void require_can_be_joined(const JobFiles& files);

/// Splits `whole`, whose job reads `input`, into one part per time range of its source; parts are named 00000, 00001
/// and so on. The joined outputs equal those of a run without splitting. The output that replaces the source's video
/// gets the file's other contents, and its sound if `audio` is true. Returns a single part if the source cannot be
/// split or is too short. Throws as frame_times_of() does.
CutItem cut_video(const BatchItem& whole, const InputOptions& input, const Cutting& cutting, bool audio,
                  const std::stop_token& stop, const SegmentItem& item);

}  // namespace framewire::jobs
