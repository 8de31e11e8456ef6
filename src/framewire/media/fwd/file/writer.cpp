// Writes frames so that the file is usable after every write(): each frame is complete in itself, and
// OutputFile::mark_whole() keeps the file if the process fails before finish().

#include "framewire/media/fwd/file/writer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace framewire::fwd {
namespace {

// A larger jump in the timestamps is treated as an error, as in all recordings.
constexpr double longest_gap_s = 30.0 * 24 * 3600;

// Time unit in which frame periods of the rate are whole numbers, and which is at most a microsecond.
Rational time_base_for(Rational rate) {
    constexpr std::int64_t least = 1'000'000, most = 0x7fffffff;
    if (rate.numerator < 1 || rate.numerator > most) return {1, least};
    return {1, rate.numerator * std::max<std::int64_t>(1, (least + rate.numerator - 1) / rate.numerator)};
}

// Time of day of a frame, from its capture time if it has one.
std::int64_t time_of_day_us(const FrameTime& time) {
    using namespace std::chrono;
    auto now = system_clock::now();
    if (time.captured != Clock::time_point{})
        now -= duration_cast<system_clock::duration>(Clock::now() - time.captured);
    return duration_cast<microseconds>(now.time_since_epoch()).count();
}

}  // namespace

Writer::Writer(const std::string& path, const Recording& recording, const OutputFileOptions& options,
               const ThreadPool& pool)
    : file_(path, options), recording_(recording), time_base_(time_base_for(recording.rate)), pool_(&pool) {}

// Writes both copies of the header.
void Writer::begin(const FrameTime& time) {
    first_seconds_ = recording_.begin_seconds.value_or(time.seconds);
    Bytes header;
    put_header({.shape = recording_.shape,
                .mode = recording_.mode,
                .threshold = recording_.threshold,
                .time_base = time_base_,
                .rate = recording_.rate,
                .began_us = recording_.live ? time_of_day_us(time) : 0,
                .pixel_aspect = recording_.pixel_aspect},
               header);
    file_.write(header.data(), header.size());
    file_.write(header.data(), header.size());
}

// Time of a frame: later than that of the previous one, whatever the source's clock says.
std::int64_t Writer::ticks_of(const FrameTime& time) {
    const double unit_s = time_base_.value();
    double seconds = time.seconds - *first_seconds_ + shifted_seconds_;
    const double last_s = static_cast<double>(std::max<std::int64_t>(last_ticks_, 0)) * unit_s;
    if (!(seconds <= last_s + longest_gap_s)) {
        if (!std::exchange(warned_, true))
            log_warning("{}: the time goes from {:.0f} s to {:.0f} s; the recording goes on after one frame",
                        file_.name(), last_s, seconds);
        const double next_s = last_s + 1 / recording_.rate.value();
        if (std::isfinite(seconds)) shifted_seconds_ += next_s - seconds;
        seconds = next_s;
    }
    const double ticks = std::max(seconds / unit_s, static_cast<double>(last_ticks_ + 1));
    if (ticks > static_cast<double>(max_ticks))
        fail(ErrorCode::io, "{}: there is no room for later times", file_.name());
    return std::max<std::int64_t>(std::llround(ticks), last_ticks_ + 1);
}

void Writer::write(ByteSpan packed, const FrameTime& time) {
    const delta::BlockGrid grid(recording_.shape);
    if (packed.size() < delta::PackedHead::bytes ||
        !delta::read_directory(packed.subspan(delta::PackedHead::bytes), grid.count(), coded_) ||
        (frames_ == 0 && !is_picture(packed)))
        fail(ErrorCode::internal, "{} was given bytes that no packer makes first", file_.name());
    if (frames_ == std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::io, "{} has no room for more than {} frames", file_.name(), frames_);
    if (frames_ == 0) begin(time);
    const FrameHead head{.number = frames_, .ticks = ticks_of(time), .whole = is_picture(packed)};
    record_.clear();
    put_frame(head, packed, coded_, *pool_, record_);
    file_.write(record_.data(), record_.size());
    file_.mark_whole();
    index_.add(std::ssize(record_), head.ticks, head.whole);
    last_ticks_ = head.ticks;
    ++frames_;
}

void Writer::finish(Ending ending) {
    if (frames_ > 0) {
        const auto index = index_.finish(file_.bytes());
        file_.write(index.data(), index.size());
        file_.mark_whole();
    }
    file_.finish(ending);
}

}  // namespace framewire::fwd
