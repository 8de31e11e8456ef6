#include "framewire/jobs/clips.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/fwd_file.hpp"
#include "framewire/media/media.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace framewire::jobs {
namespace {

constexpr double most_clip_seconds = 86'400, most_before_seconds = 300;

const std::vector<ParameterInfo>& clip_parameters() {
    using enum ParameterInfo::Type;
    static const std::vector<ParameterInfo> parameters{{.name = "before",
                                                        .help = "seconds that a clip begins before the event",
                                                        .type = real,
                                                        .default_value = "5",
                                                        .minimum = 0,
                                                        .maximum = most_before_seconds},
                                                       {.name = "after",
                                                        .help = "seconds that a clip continues after the event",
                                                        .type = real,
                                                        .default_value = "5",
                                                        .minimum = 0,
                                                        .maximum = most_clip_seconds},
                                                       {.name = "most",
                                                        .help = "seconds after which a clip continues in another file",
                                                        .type = real,
                                                        .default_value = "120",
                                                        .minimum = 1,
                                                        .maximum = most_clip_seconds}};
    return parameters;
}

}  // namespace

ClipOptions parse_clips(const std::string& text) {
    const auto& parameters = clip_parameters();
    const auto end = end_of_path(text, parameters);
    ClipOptions options{.folder = text.substr(0, end)};
    if (options.folder.empty()) fail(ErrorCode::usage, "clips {}: the folder is missing; use FOLDER", in_quotes(text));
    // The path ends before a known parameter, so any other one is at its end.
    const auto colon = options.folder.rfind(':');
    const auto equals = options.folder.rfind('=');
    if (colon != std::string::npos && equals != std::string::npos && equals > colon &&
        options.folder.find('/', colon) == std::string::npos)
        fail(ErrorCode::usage, "clips: unknown parameter '{}'; allowed: before, after, most",
             options.folder.substr(colon + 1, equals - colon - 1));
    const auto values = parse_parameters(std::string_view(text).substr(std::min(end + 1, text.size())),
                                         {.who = "clips", .parameters = parameters, .unnamed = 0});
    options.before_seconds = values.real("before");
    options.after_seconds = values.real("after");
    options.most_seconds = values.real("most");
    return options;
}

void prepare_clip_folder(const std::string& folder) {
    make_folder(folder);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        fail(ErrorCode::io, "cannot write clips to {}: {}", folder, std::generic_category().message(errno));
}

std::string usual_clip_ending() { return ffmpeg_version().empty() ? "y4m" : "mp4"; }

std::string clip_name(const std::string& source, std::int64_t began_us, double seconds) {
    const auto stem = std::filesystem::path(source).stem().string();
    const auto whole = static_cast<std::int64_t>(seconds);
    if (began_us <= 0) return fmt::format("{}-{:02}h{:02}m{:02}s", stem, whole / 3600, whole / 60 % 60, whole % 60);
    const auto time =
        std::chrono::sys_seconds(std::chrono::seconds((began_us + std::llround(seconds * 1e6)) / 1'000'000));
    return fmt::format("{}-{:%Y%m%d-%H%M%S}Z", stem, fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

RunOptions cut_of(const JobOptions& job, const InputOptions& input, const ClipRange& range, const std::string& path,
                  bool audio) {
    RunOptions run{.job = job, .input = input, .output = literal_sink(path), .audio = audio, .pace = Pace::hurried};
    run.job.statistics_path.clear();
    run.job.statistics = nullptr;
    run.job.progress = ProgressMode::none;
    run.job.frames.reset();
    run.input.start_seconds = range.begin_seconds;
    run.input.duration_seconds = range.end_seconds - range.begin_seconds;
    return run;
}

std::vector<ClipRange> parts_of(const ClipRange& range, double most_seconds) {
    std::vector<ClipRange> parts{range};
    while (most_seconds > 0 && parts.back().end_seconds - parts.back().begin_seconds > most_seconds) {
        const auto last = parts.back();
        parts.back().end_seconds = last.begin_seconds + most_seconds;
        parts.push_back({parts.back().end_seconds, last.end_seconds});
    }
    return parts;
}

void ClipTimes::add(double seconds, const Happening& happening) {
    newest_ = seconds;
    if (!happening.starts) run_ = 0;
    if (happening.starts && run_++ == 0) run_begin_ = seconds;
    const bool starts = run_ > 0 && run_ >= happening.after_frames;
    run_ = std::min(run_, happening.after_frames);
    if (starts && !(range_ && run_begin_ - before_ <= range_->end_seconds))
        range_ = ClipRange{run_begin_ - before_, seconds + after_};
    else if (starts || (happening.lasts && range_ && seconds <= range_->end_seconds))
        range_->end_seconds = seconds + after_;
}

double ClipTimes::horizon_seconds() const {
    if (!newest_) return -std::numeric_limits<double>::infinity();
    const bool may_start = run_ > 0 && !(range_ && *newest_ <= range_->end_seconds);
    return (may_start ? run_begin_ : *newest_) - before_ - rounding;
}

void ClipTimes::reset() {
    range_.reset();
    newest_.reset();
    run_ = 0;
}

// The thread takes what the sender adds out of `inbox`, in order. Packed frames then wait in `line` until the horizon
// of `times` has passed them:
//
//     add(), note() ──> inbox ──> line ──> picture ──> sink
//                        `mutex`  └──── the recorder's thread ────┘
struct ClipRecorder::State {
    // An item that the sender added.
    struct Item {
        enum class Kind {
            changes,     // delta frame or keyframe
            picture,     // bytes of the whole picture
            refinement,  // delta frame that improves the frame before
            note         // what happens in the frame before
        };
        Kind kind = Kind::changes;
        FrameTime time{};
        fwd::Bytes bytes{};
        Happening happening{};
        bool signal = true;
        std::int64_t generation = 0;
    };

    State(const ClipOptions& clips, const Stream& stream, const SinkOptions& sinks)
        : options(clips),
          name(stream.name),
          shape(stream.shape),
          rate(stream.rate),
          waits(stream.waits),
          sink_options(sinks),
          unpacker(stream.shape),
          picture(stream.shape),
          times(clips.before_seconds, clips.after_seconds),
          thread([this] { work(); }) {}

    ~State() {
        {
            const std::lock_guard lock(mutex);
            closing = abandoned = true;
        }
        changed.notify_one();
        if (thread.joinable()) thread.join();
    }

    // Returns true if the thread is too far behind. `mutex` is locked.
    bool is_full(std::int64_t bytes, std::size_t items) const { return inbox_bytes > bytes || inbox.size() > items; }

    void put(Item item) {
        {
            std::unique_lock lock(mutex);
            const bool is_whole = item.kind == Item::Kind::picture;
            if (waits) has_room.wait(lock, [&] { return is_dead || !is_full(limit_bytes / 2, most_waiting / 2); });
            if (is_dead) return;
            // The thread is far behind although it leaves out frames. Clips go on with the next whole picture.
            if (inbox_bytes + std::ssize(item.bytes) > 2 * limit_bytes) {
                inbox.clear();
                inbox_bytes = 0;
                needs_picture = leaves_out = true;
            }
            if (is_whole) needs_picture = false;
            if (needs_picture && item.kind != Item::Kind::note) return;
            item.generation = generation;
            inbox_bytes += std::ssize(item.bytes);
            inbox.push_back(std::move(item));
        }
        changed.notify_one();
    }

    void work() {
        try {
            work_on();
        } catch (const std::exception& error) {
            log_error("{}: {}; the stream continues without clips", name, error.what());
            failure.attempt([] { throw; });
            sink.reset();
            const std::lock_guard lock(mutex);
            is_dead = true;
            inbox.clear();
        }
        has_room.notify_all();
    }

    void work_on() {
        for (std::unique_lock lock(mutex);;) {
            changed.wait(lock, [&] { return closing || !inbox.empty(); });
            if (abandoned) return;
            if (inbox.empty()) break;
            if (is_full(limit_bytes, most_waiting))
                leaves_out = true;
            else if (!is_full(limit_bytes / 2, most_waiting / 2))
                leaves_out = false;
            is_late = leaves_out && !waits;
            auto item = std::move(inbox.front());
            inbox.pop_front();
            inbox_bytes -= std::ssize(item.bytes);
            lock.unlock();
            has_room.notify_one();
            take(std::move(item));
            lock.lock();
        }
        is_late = false;
        end();
    }

    // The rest runs on the thread.

    void take(Item item) {
        if (item.generation != generation_taken) {
            generation_taken = item.generation;
            end();
        }
        const bool is_frame = item.kind == Item::Kind::changes || item.kind == Item::Kind::picture;
        // without a signal, and when a looped source starts over or the clock of a camera jumps back
        if (is_frame && (!item.signal || (last_seconds && item.time.seconds < *last_seconds))) end();
        if (is_frame) last_seconds = item.time.seconds;
        if (item.kind != Item::Kind::note) {
            line_bytes += std::ssize(item.bytes);
            line.push_back(std::move(item));
            while (line_bytes > limit_bytes) {
                if (!std::exchange(said_short, true))
                    log_warning(
                        "{}: clips may begin less than {} s before an event, because the frames of that time take more "
                        "than {} MiB",
                        name, options.before_seconds, limit_bytes >> 20);
                pass_one();
            }
            return;
        }
        times.add(item.time.seconds, item.happening);
        while (!line.empty() && line.front().time.seconds < times.horizon_seconds()) pass_one();
    }

    // Passes on all frames, ends the clip in progress, and waits for the next event.
    void end() {
        while (!line.empty()) pass_one();
        attempt([&] { close(); });
        times.reset();
        failed.reset();
    }

    // Applies the oldest frame to the picture, and writes that if it belongs to a clip.
    void pass_one() {
        const auto item = std::move(line.front());
        line.pop_front();
        line_bytes -= std::ssize(item.bytes);
        apply(item);
        if (item.kind == Item::Kind::refinement) return;
        const bool is_wanted = item.signal && item.generation == generation && times.wants(item.time.seconds);
        attempt([&] {
            if (is_wanted)
                write(item.time);
            else
                close();
        });
    }

    void apply(const Item& item) {
        if (item.kind == Item::Kind::picture)
            copy(HostView<const std::uint8_t>(item.bytes.data(), shape), picture.view());
        else if (fwd::is_picture(item.bytes))
            unpacker.apply_picture(item.bytes, picture.view());
        else
            unpacker.apply_changes(item.bytes, picture.view());
    }

    // Runs `body`. If it fails, gives up the clip in progress, and for a while does not go on in another file.
    template <class Body>
    void attempt(Body&& body) {
        try {
            body();
        } catch (const std::exception& error) {
            log_error("{}: {}; the stream continues without this clip", name, error.what());
            failure.attempt([] { throw; });
            sink.reset();
            if (times.range()) failed = {times.range()->begin_seconds, last_seconds.value_or(0) + pause_seconds};
        }
    }

    void write(const FrameTime& time) {
        if (failed && failed->begin_seconds == times.range()->begin_seconds && time.seconds < failed->end_seconds)
            return;
        if (sink && time.seconds - first_seconds >= options.most_seconds && options.most_seconds > 0) close();
        if (is_late) {
            if (!std::exchange(said_late, true))
                log_warning("{}: frames are missing in clips, because they cannot be written in time", name);
            return;
        }
        if (!sink) open(time);
        sink->write(std::as_const(picture).view(), time);
        last_written_seconds = time.seconds;
    }

    void open(const FrameTime& time) {
        const auto age = std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::now() - time.captured);
        const auto begin = std::chrono::system_clock::now() - age;
        make_folder(options.folder);
        const auto ending = options.ending.empty() ? usual_clip_ending() : options.ending;
        path = new_file_name(options.folder, name, ending, std::chrono::system_clock::to_time_t(begin));
        sink = open_sink(literal_sink(path), shape, rate, sink_options);
        first_seconds = time.seconds;
    }

    // Completes the clip in progress, if there is one.
    void close() {
        if (!sink) return;
        sink->finish();
        sink.reset();
        log_info("{}: {} has {:.1f} s", name, path, last_written_seconds - first_seconds);
    }

    static constexpr std::size_t most_waiting = 1024;  // items: 17 s at 30 frames per second
    static constexpr double pause_seconds = 10;        // a full disk is not full for ever

    const ClipOptions options;
    const std::string name;
    const Shape shape;
    const Rational rate;
    const bool waits;
    const SinkOptions sink_options;
    // A picture of 1080p has 6 MB. A quiet street in 720p takes 1 to 10 MB for 5 s in the default mode.
    std::atomic<std::int64_t> limit_bytes = std::int64_t{64} << 20;
    // Frames of earlier generations are not written. Changed by the sender.
    std::atomic<std::int64_t> generation = 0;

    std::mutex mutex;  // guards the members up to the next comment
    std::condition_variable changed, has_room;
    std::deque<Item> inbox;
    std::int64_t inbox_bytes = 0;
    bool needs_picture = true;  // the next frame must be a whole picture
    bool leaves_out = false;    // clips lack frames until the inbox is half empty
    bool closing = false, abandoned = false, is_dead = false;

    // used by the sender
    FrameTime last_added{};

    // used by the thread
    codec::Unpacker unpacker;
    HostImage picture;
    ClipTimes times;
    std::deque<Item> line;
    std::int64_t line_bytes = 0;
    std::int64_t generation_taken = 0;
    bool is_late = false, said_late = false, said_short = false;
    std::optional<double> last_seconds;
    std::unique_ptr<Sink> sink;
    std::string path;  // of the clip in progress
    double first_seconds = 0, last_written_seconds = 0;
    // Begin of the range in which writing failed, and the time when it is tried again in this range.
    std::optional<ClipRange> failed;
    FirstFailure failure;
    std::jthread thread;  // last member: starts when all others exist
};

ClipRecorder::ClipRecorder(const ClipOptions& options, const Stream& stream, const SinkOptions& sink)
    : state_(std::make_unique<State>(options, stream, sink)) {}

ClipRecorder::~ClipRecorder() = default;

void ClipRecorder::add(std::span<const std::uint8_t> packed, const FrameTime& time, bool signal, bool replaces,
                       const Draw& draw) {
    auto& state = *state_;
    if (replaces) withdraw();
    bool needs_picture = packed.empty();
    {
        const std::lock_guard lock(state.mutex);
        needs_picture |= state.needs_picture;
    }
    State::Item item{.time = time, .signal = signal};
    if (needs_picture) {
        item.kind = State::Item::Kind::picture;
        item.bytes.resize(static_cast<std::size_t>(state.shape.bytes()));
        draw(HostView<std::uint8_t>(item.bytes.data(), state.shape));
    } else {
        item.bytes.assign(packed.begin(), packed.end());
    }
    state.last_added = time;
    state.put(std::move(item));
}

void ClipRecorder::add_refinement(std::span<const std::uint8_t> packed) {
    state_->put({.kind = State::Item::Kind::refinement,
                 .time = state_->last_added,
                 .bytes = fwd::Bytes(packed.begin(), packed.end())});
}

void ClipRecorder::note(const Happening& happening) {
    state_->put({.kind = State::Item::Kind::note, .time = state_->last_added, .happening = happening});
}

void ClipRecorder::withdraw() { ++state_->generation; }

void ClipRecorder::finish() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->closing = true;
    }
    state_->changed.notify_one();
    if (state_->thread.joinable()) state_->thread.join();
    state_->failure.rethrow();
}

void ClipRecorder::limit_waiting(std::int64_t bytes) { state_->limit_bytes = bytes; }

}  // namespace framewire::jobs
