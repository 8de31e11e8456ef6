// Recording on a separate thread:
//
//    sender: add(), add_picture() -> waiting_ (bounded) -> work() -> Writer -> disk
//
// Frames arrive encoded, as they are sent. If the recording needs a keyframe that no viewer needs, it arrives as a
// picture instead and is encoded on the recorder's thread, so that the sender does not spend time on it.

#include "framewire/media/fwd/recorder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <algorithm>
#include <utility>

namespace framewire::fwd {
namespace {

// The queue holds at least this much, and at least four uncompressed frames.
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

// While the queue lags, a keyframe is requested once it is half empty, not at the usual interval.
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

// True if a frame must be dropped: writing failed, the queue is full, or it dropped frames and this is not a keyframe.
// Frames after a dropped one cannot be decoded until the next keyframe.
bool Recorder::is_refused(std::int64_t bytes, bool picture) {
    const std::lock_guard lock(mutex_);
    if (failure_) return true;
    const bool full = waiting_bytes_ > 0 && waiting_bytes_ + bytes > limit_bytes_;
    if (!full && (picture || !lags_)) return false;
    ++left_out_;
    if (!std::exchange(lags_, true))
        log_warning("{}: more comes than is written, {:.0f} MB wait; frames are left out of it until that is better",
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

// The thread: writes queued items until the recorder is closed or writing fails.
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
            log_error("{}; the stream goes on without being recorded", error.what());
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
    if (left_out_ > 0) log_warning("{}: {} frames were left out of it", writer_.name(), left_out_);
    writer_.finish(ending);
}

}  // namespace framewire::fwd
