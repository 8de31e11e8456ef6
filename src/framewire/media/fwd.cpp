#include "framewire/media/fwd.hpp"
#include "framewire/codec/host_encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/media/fwd_file.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/media/sources.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

// Reads `.fwd` files as a Source. Damage is confined: a damaged block keeps its previous content until the next
// keyframe, and so does each block that is predicted from a damaged one.

namespace framewire::fwd {
namespace {

// Frame times are sums of fractions: times this close are equal.
constexpr double same_time_s = 1e-6;

}  // namespace

PictureReader::PictureReader(const std::string& path, const SourceOptions& options, const ThreadPool* pool,
                             DamageLog log)
    : reader_(path, options, log), pool_(pool) {}

bool PictureReader::next(FrameTime& time) {
    while (reader_.next(frame_)) {
        const auto seconds = reader_.seconds(frame_.place.ticks);
        // After a seek, frames between the keyframe and the target are decoded but not delivered.
        if (!decode() || seconds < wanted_seconds_ - same_time_s) continue;
        time = {frame_.number, seconds, Clock::now()};
        return true;
    }
    return false;
}

bool PictureReader::seek(double seconds) {
    if (!reader_.go_to(seconds)) return false;
    spread_.reset();
    wanted_seconds_ = seconds;
    return true;
}

// Decodes frame_ into picture_. Returns false if no keyframe came before it.
bool PictureReader::decode() {
    if (!unpacker_) {
        if (!frame_.place.whole) return skip_before_picture();
        begin();
    }
    if (frame_.place.whole) {
        say_spread();
        // A keyframe replaces every block.
        std::ranges::fill(damaged_, std::uint8_t{0});
    } else if (frame_.lost > 0) {
        std::ranges::fill(damaged_, std::uint8_t{1});  // it is unknown which blocks the lost frames changed
    }
    // The decoder extends this set by the blocks that are predicted from blocks in it.
    auto left_out = damaged_;
    for (std::size_t i = 0; i < frame_.blocks.size(); ++i)
        if (frame_.broken[i]) left_out[static_cast<std::size_t>(frame_.blocks[i].block)] = 1;
    try {
        if (frame_.place.whole)
            unpacker_->apply_picture(frame_.packed, picture_.view(), left_out);
        else
            unpacker_->apply_changes(frame_.packed, picture_.view(), left_out);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::source_lost) throw;
        reader_.damage().say(frame_.place.offset, "frame {} at {:.3f} s, at byte {}, is invalid", frame_.number,
                             reader_.seconds(frame_.place.ticks), frame_.place.offset);
        std::ranges::fill(left_out, std::uint8_t{1});
    }
    say_damage(left_out);
    damaged_ = std::move(left_out);
    if (std::ranges::any_of(damaged_, [](auto block) { return block != 0; }))
        reader_.damage().count_frames(frame_.place.offset, 1);
    return true;
}

// Reports a delta frame that has no keyframe before it. Returns false.
bool PictureReader::skip_before_picture() {
    reader_.damage().say(frame_.place.offset, "frame {} at {:.3f} s, at byte {}, has no keyframe before it",
                         frame_.number, reader_.seconds(frame_.place.ticks), frame_.place.offset);
    reader_.damage().count_frames(frame_.place.offset, 1);
    return false;
}

// Allocates decoder and picture at the first keyframe, so that a file cannot request memory without the bytes of a
// keyframe.
void PictureReader::begin() {
    unpacker_.emplace(shape(), pool_);
    picture_ = HostImage(shape());
    std::fill_n(picture_.view().data(), shape().bytes(), std::uint8_t{0});
    damaged_.assign(static_cast<std::size_t>(codec::BlockGrid(shape()).count()), 0);
}

// Reports the blocks that this frame damaged, each with its position in the file.
void PictureReader::say_damage(const codec::BlockSet& left_out) {
    const codec::BlockGrid grid(shape());
    const auto seconds = reader_.seconds(frame_.place.ticks);
    int first_spread = grid.count();
    for (std::size_t i = 0; i < frame_.blocks.size(); ++i) {
        const auto& [block, bytes] = frame_.blocks[i];
        const auto number = static_cast<std::size_t>(block);
        if (!left_out[number] || damaged_[number]) continue;
        const auto place = grid.place(block);
        const auto offset =
            frame_.place.offset + static_cast<std::int64_t>(frame_head_bytes) + (bytes.data() - frame_.packed.data());
        if (!frame_.broken[i]) {
            first_spread = std::min(first_spread, block);
            continue;
        }
        reader_.damage().say(offset,
                             "frame {} at {:.3f} s: block {}, {}x{} pixels at {},{}, is damaged, at bytes {} to "
                             "{}; it stays unchanged until the next keyframe",
                             frame_.number, seconds, block, place.width, place.height, place.x, place.y, offset,
                             offset + std::ssize(bytes) - 1);
    }
    if (first_spread < grid.count() && !spread_) {
        const auto place = grid.place(first_spread);
        spread_ = Spread{frame_.number, frame_.place.offset};
        reader_.damage().say(frame_.place.offset,
                             "frame {} at {:.3f} s: block {}, at {},{}, is invalid or was predicted from damaged "
                             "blocks; such blocks stay unchanged until the next keyframe",
                             frame_.number, seconds, first_spread, place.x, place.y);
    }
    if (spread_) spread_->blocks = std::ranges::count_if(left_out, [](auto left) { return left != 0; });
}

// Reports at a keyframe how far damage had spread.
void PictureReader::say_spread() {
    if (!spread_) return;
    reader_.damage().say(spread_->offset + 1,
                         "frames {} to {}: {} of {} blocks remained unchanged until the next keyframe", spread_->first,
                         frame_.number - 1, spread_->blocks, damaged_.size());
    spread_.reset();
}

}  // namespace framewire::fwd

namespace framewire {
namespace {

// Source of the pictures of a recording.
class FwdSource final : public Source {
public:
    FwdSource(const std::string& path, const SourceOptions& options) : pictures_(path, options, &media_threads()) {
        const auto& reader = pictures_.reader();
        const auto& header = reader.header();
        info_.name = path;
        info_.shape = header.shape;
        info_.rate = header.rate.value_or(options.rate.value_or(Rational{30, 1}));
        info_.frames = reader.frames();
        info_.threshold = header.threshold;
        info_.facts.pixel_aspect = header.pixel_aspect;
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        if (!pictures_.next(time)) return false;
        copy(pictures_.picture(), image);
        return true;
    }

    bool seek(double seconds) override { return pictures_.seek(seconds); }
    std::int64_t damaged() const override { return pictures_.reader().damage().frames(); }
    void require_whole() const override { pictures_.reader().damage().require_none(); }

private:
    fwd::PictureReader pictures_;
    SourceInfo info_;
};

// Returns true for regular files that start with the magic, whatever their name.
bool is_fwd(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) return false;
    std::array<char, 8> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    return fwd::has_magic(
        {reinterpret_cast<const std::uint8_t*>(begin.data()), static_cast<std::size_t>(file.gcount())});
}

}  // namespace

// Returns the table entry for recordings. Unfinished files have another extension, so the content is checked, too.
SourceKind fwd_source() {
    return {.name = "fwd",
            .form = "PATH",
            .summary = "a recording of the difference stream (.fwd); an unfinished recording may have any name",
            .endings = {".fwd"},
            .examples = {"camera.fwd"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .matches = is_fwd,
            .open = [](const SourceCall& call,
                       const SourceOptions& options) { return open_fwd_source(call.path, options); },
            .reads = reads_path};
}

std::unique_ptr<Source> open_fwd_source(const std::string& path, const SourceOptions& options) {
    return std::make_unique<FwdSource>(path, options);
}

FrameTimes fwd_frame_times(const std::string& path, const SourceOptions& options) {
    fwd::Reader reader(path, options);
    FrameTimes times;
    reader.for_each_place([&](const fwd::IndexEntry& place) {
        if (times.seconds.size() >= static_cast<std::size_t>(most_frames_of_times)) {
            times.unknown = "it has too many frames";
            return;
        }
        if (place.whole) times.entries.push_back(times.seconds.size());
        times.seconds.push_back(reader.seconds(place.ticks));
    });
    return times.unknown.empty() ? times : FrameTimes{.unknown = times.unknown};
}

}  // namespace framewire

// Records on a separate thread:
//
//    sender: add(), add_picture() -> waiting_ (bounded) -> work() -> Writer -> disk
//
// Frames arrive encoded, as they are sent. If the recording needs a keyframe that no viewer needs, the keyframe arrives
// as a picture and is encoded on the recorder's thread, so that the sender does not spend time on it.

namespace framewire::fwd {
namespace {

// Least capacity of the queue, which also holds at least four uncompressed frames.
constexpr std::int64_t least_limit_bytes = 64 << 20;

}  // namespace

Recorder::Recorder(const std::string& path, const Recording& recording, double key_seconds,
                   const OutputFileOptions& options, const ThreadPool& pool)
    : writer_(path, recording, options, pool),
      packer_(recording.shape, &pool),
      shape_(recording.shape),
      limit_bytes_(std::max(least_limit_bytes, 4 * recording.shape.bytes())),
      pictures_(key_seconds),
      thread_([this] { work(); }) {}

Recorder::~Recorder() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = abandoned_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

bool Recorder::goes_on() const {
    const std::lock_guard lock(mutex_);
    return !failure_;
}

// Returns true if the next frame must be a keyframe. While the queue lags, that is the case once the queue is half
// empty, not at the usual interval.
bool Recorder::wants_picture(const FrameTime& time) const {
    const std::lock_guard lock(mutex_);
    return lags_ ? waiting_bytes_ <= limit_bytes_ / 2 : pictures_.is_due(time.seconds);
}

void Recorder::add(ByteSpan packed, const FrameTime& time) {
    const bool picture = is_picture(packed);
    if (!is_refused(std::ssize(packed), picture)) put({time, {packed.begin(), packed.end()}}, picture);
}

void Recorder::add_picture(const FrameTime& time, int threshold,
                           const std::function<void(HostView<std::uint8_t> picture)>& draw) {
    if (is_refused(shape_.bytes(), true)) return;
    Item item{time, {}, HostImage(shape_), threshold};
    draw(item.picture.view());
    put(std::move(item), true);
}

// Returns true if a frame must be dropped: writing failed, the queue is full, or an earlier frame was dropped and this
// is not a keyframe. Frames after a dropped one cannot be decoded until the next keyframe.
bool Recorder::is_refused(std::int64_t bytes, bool picture) {
    const std::lock_guard lock(mutex_);
    if (failure_) return true;
    const bool full = waiting_bytes_ > 0 && waiting_bytes_ + bytes > limit_bytes_;
    if (!full && (picture || !lags_)) return false;
    ++left_out_;
    if (!std::exchange(lags_, true))
        log_warning(
            "{}: frames arrive faster than they are written, {:.0f} MB are waiting; frames are dropped until the disk "
            "catches up",
            writer_.name(), 1e-6 * static_cast<double>(waiting_bytes_));
    return true;
}

void Recorder::put(Item item, bool picture) {
    {
        const std::lock_guard lock(mutex_);
        if (picture) {
            pictures_.wrote_one(item.time.seconds);
            lags_ = false;
        }
        waiting_bytes_ += item.bytes();
        waiting_.push_back(std::move(item));
    }
    changed_.notify_one();
}

// Runs on the recorder's thread: writes queued items until the recorder is closed or writing fails.
void Recorder::work() {
    for (std::unique_lock lock(mutex_);;) {
        changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
        if (abandoned_ || waiting_.empty()) return;
        auto item = std::move(waiting_.front());
        waiting_.pop_front();
        const auto bytes = item.bytes();
        lock.unlock();
        std::exception_ptr failure;
        try {
            write(item);
        } catch (const std::exception& error) {
            failure = std::current_exception();
            log_error("{}; the stream continues without a recording", error.what());
        }
        lock.lock();
        waiting_bytes_ -= bytes;
        if (!failure) continue;
        failure_ = failure;
        waiting_.clear();
        waiting_bytes_ = 0;
        return;
    }
}

void Recorder::write(Item& item) {
    if (item.packed.empty()) packer_.pack_picture(std::as_const(item.picture).view(), item.threshold, item.packed);
    writer_.write(item.packed, item.time);
}

void Recorder::finish(Ending ending) {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    if (left_out_ > 0) log_warning("{}: {} frames were dropped", writer_.name(), left_out_);
    writer_.finish(ending);
}

}  // namespace framewire::fwd

namespace framewire {

std::vector<ParameterInfo> fwd_sink_parameters() {
    auto parameters = codec::encoder_fields().infos();
    parameters.push_back({.name = "key",
                          .help = "seconds between keyframes, at which reading can start",
                          .type = ParameterInfo::Type::real,
                          .default_value = fmt::to_string(fwd::usual_key_seconds),
                          .minimum = 0,
                          .maximum = 86'400});
    return parameters;
}

}  // namespace framewire

namespace framewire::fwd {

Settings settings_of(const SinkCall& call, std::optional<int> source_threshold) {
    const auto& values = call.values;
    Settings settings{codec::encoder_fields().from(values), values.real("key")};
    const auto& encoder = settings.encoder;
    if (encoder.mode == codec::Mode::lossless && values.is_given("threshold") && encoder.threshold > 0)
        fail(ErrorCode::usage, "{}: threshold={} cannot be combined with mode=lossless, whose threshold is 0",
             call.path, encoder.threshold);
    if (encoder.mode != codec::Mode::bounded && values.is_given("effort"))
        fail(ErrorCode::usage, "{}: effort requires mode=bounded; mode={} searches for nothing", call.path,
             to_string(encoder.mode));
    if (source_threshold && !values.is_given("mode") && !values.is_given("threshold")) settings.encoder.threshold = 0;
    return settings;
}

RecordCall parse_record(const std::string& text) {
    const auto call = parse_sink(text);
    if (call.kind->name != "fwd") fail(ErrorCode::usage, "{}: a stream can only be recorded to a .fwd file", call.path);
    for (const auto& parameter : codec::encoder_fields().infos())
        if (call.values.is_given(parameter.name))
            fail(ErrorCode::usage, "{}: {} is a property of the stream and cannot be set for its recording", call.path,
                 parameter.name);
    return {call.path, call.values.real("key")};
}

}  // namespace framewire::fwd

// Encodes the frames of any source as a difference stream in a file. The encoder owns R, the picture that a reader of
// the file has after each frame, so errors do not accumulate over frames.

namespace framewire {
namespace {

// Sink that encodes on the CPU, because its frames are in host memory.
class FwdSink final : public Sink {
public:
    FwdSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : settings_(fwd::settings_of(call, options.source_threshold)),
          executor_(BackendChoice::cpu, options.encoder_threads),
          writer_(call.path, recording(settings_, frame, rate, options), options.file_options(), executor_.pool()),
          encoder_(settings_.encoder, frame, executor_.pool()) {}

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        const bool due = pictures_.is_due(time.seconds);
        const auto encoded = encoder_.encode(image, due ? codec::PackAs::keyframe : codec::PackAs::delta_frame);
        writer_.write(encoded.packed, time);
        if (encoded.whole) pictures_.wrote_one(time.seconds);
    }

    void finish(Ending ending) override { writer_.finish(ending); }
    std::int64_t bytes() const override { return writer_.bytes(); }

private:
    // Returns the properties for the file header. The threshold covers the whole path from the camera to this file.
    static fwd::Recording recording(const fwd::Settings& settings, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
        // Errors add up: a recording of a stream that was not lossless is not lossless either.
        const int before = options.source_threshold.value_or(0);
        const bool exact = before > 0 && settings.encoder.mode == codec::Mode::lossless;
        return {.shape = frame,
                .mode = exact ? codec::Mode::exact : settings.encoder.mode,
                .threshold = std::min(before + settings.encoder.effective_threshold(), 254),
                .rate = rate,
                .pixel_aspect = options.facts.pixel_aspect,
                .live = options.live,
                .begin_seconds = options.begin_seconds};
    }

    fwd::Settings settings_;
    Executor executor_;
    fwd::Writer writer_;
    fwd::PictureClock pictures_{settings_.key_seconds};
    codec::HostEncoder encoder_;
};

}  // namespace

std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<FwdSink>(call, frame, rate, options);
}

}  // namespace framewire
