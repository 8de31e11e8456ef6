#include "framewire/service/video/camera_video.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/scale.hpp"
#include "framewire/media/sound_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

namespace framewire::service {
namespace {

// Range of a variant's width and rate.
constexpr int min_width_px = 64;
constexpr double min_fps = 0.1, max_fps = 120;

}  // namespace

VideoVariant VideoVariant::parse(const std::map<std::string, std::string, std::less<>>& query) {
    VideoVariant variant;
    if (const auto given = query.find("width"); given != query.end()) {
        variant.width = number_in<int>(given->second);
        if (!variant.width || *variant.width < min_width_px || *variant.width > max_side_px || *variant.width % 2 != 0)
            fail(ErrorCode::usage, "width {} is not allowed; allowed: an even number from {} to {}",
                 in_quotes(given->second), min_width_px, max_side_px);
    }
    if (const auto given = query.find("max-rate"); given != query.end()) {
        variant.max_rate = number_in<double>(given->second);
        if (!variant.max_rate || !(*variant.max_rate >= min_fps && *variant.max_rate <= max_fps))
            fail(ErrorCode::usage, "max-rate {} is not allowed; allowed: {} to {} frames per second",
                 in_quotes(given->second), min_fps, max_fps);
    }
    return variant;
}

namespace {

// Returns the values of a query that is not percent-encoded.
std::map<std::string, std::string, std::less<>> values_of_query(std::string_view query) {
    std::map<std::string, std::string, std::less<>> values;
    while (!query.empty()) {
        const auto one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const auto equals = one.find('=');
        if (equals != std::string_view::npos)
            values.try_emplace(std::string(one.substr(0, equals)), one.substr(equals + 1));
    }
    return values;
}

}  // namespace

VideoVariant VideoVariant::parse(std::string_view query) { return parse(values_of_query(query)); }

bool parse_audio(const std::map<std::string, std::string, std::less<>>& query) {
    const auto given = query.find("audio");
    if (given == query.end() || given->second == "1") return true;
    if (given->second != "0")
        fail(ErrorCode::usage, "audio {} is not allowed; allowed: 0 and 1", in_quotes(given->second));
    return false;
}

bool parse_audio(std::string_view query) { return parse_audio(values_of_query(query)); }

std::string to_string(const VideoVariant& variant) {
    std::string text;
    if (variant.width) text = fmt::format("width={}", *variant.width);
    if (variant.max_rate) text += fmt::format("{}max-rate={:g}", text.empty() ? "" : "&", *variant.max_rate);
    return text;
}

}  // namespace framewire::service

// The encode thread polls the camera's version, as Motion JPEG does, and pushes each access unit to the queues of all
// subscribers. `mutex` guards everything that subscribers see; the encoder belongs to the thread and is used without
// it.

namespace framewire::service {
namespace {

// Maximum delay until a new picture is noticed.
constexpr std::chrono::milliseconds between_looks{4};
// A picture is encoded again if there is no new one for this long, so that players do not run out of pictures. Repeated
// pictures cost about 50 bytes each. Low-latency HLS needs less than the duration of a part, 0.5 s.
constexpr std::chrono::milliseconds repeat_after{400};
// A keyframe that is wanted waits this long for a new picture.
constexpr std::chrono::milliseconds key_patience{50};
constexpr auto repeat_ticks = repeat_after.count() * video_clock_hz / 1000;
// A keyframe is made before the access units since the last one exceed this. They are kept for new subscribers.
constexpr std::size_t group_limit_bytes = CameraVideo::queue_limit_bytes / 2;

// A repeated picture of a camera with sound gets a time that is this much earlier than now. A picture that a busy
// machine delivers later can then still have its own time. Cameras whose pictures are usually repeated get less,
// because parts of HLS may not exceed 0.5 s.
constexpr std::chrono::milliseconds repeated_before{350}, often_repeated_before{100};
constexpr double often_repeated_fps = 5;
// Times on the stream's clock that differ by more than this from now are not used.
constexpr std::chrono::seconds longest_deviation{10};

// Sound is continuous as long as its packets' times deviate by less than this from their durations, as they do in
// containers that round times.
constexpr std::int64_t sound_tolerance_ticks = video_clock_hz * 30 / 1000;
// Silence takes the place of sound after this, however late the sound was before.
constexpr std::int64_t longest_sound_patience_ticks = 3 * video_clock_hz;
// Units of sound that are kept for new subscribers: more than last from one keyframe to the next.
constexpr std::size_t group_sound_limit = 1024;

// An access unit with its format.
struct Entry {
    std::shared_ptr<const AccessUnit> unit;
    std::shared_ptr<const VideoFormat> format;
};

// Size of a variant's pictures.
Shape variant_shape(const Shape& shape, const VideoVariant& variant) {
    if (!variant.width || *variant.width >= shape.width) return shape;
    const auto height = std::lround(static_cast<double>(shape.height) * *variant.width / shape.width / 2) * 2;
    return {1, std::max(2, static_cast<int>(height)), *variant.width, shape.channels};
}

// Scales and encodes pictures of one shape.
class PictureEncoder {
public:
    PictureEncoder(const LiveVideoSettings& settings, const Shape& shape, const VideoVariant& variant, Rational rate)
        : shape_(shape), encoder_(settings, variant_shape(shape, variant), rate) {
        const auto to = variant_shape(shape, variant);
        if (to == shape) return;
        executor_.emplace(BackendChoice::cpu, 1);
        scale_.emplace(ScaleParameters{.width = to.width, .height = to.height, .method = ScaleMethod::area}, shape,
                       *executor_);
        scaled_ = HostImage(to);
    }

    const Shape& shape() const { return shape_; }
    const LiveEncoder& encoder() const { return encoder_; }

    void encode(HostView<const std::uint8_t> image, std::int64_t pts, bool key, std::uint64_t version,
                const LiveEncoder::Deliver& deliver) {
        if (scale_) {
            scale_->run(FilterImages<MemorySpace::host>{.in = image, .previous = {}, .out = scaled_.view()});
            image = scaled_.view();
        }
        encoder_.encode(image, pts, key, version, deliver);
    }

private:
    Shape shape_;
    LiveEncoder encoder_;
    std::optional<Executor> executor_;
    std::optional<Scale> scale_;
    HostImage scaled_{};
};

bool operator==(const VideoFormat& a, const VideoFormat& b) {
    return a.width == b.width && a.height == b.height && a.sps == b.sps && a.pps == b.pps;
}

}  // namespace

// Guarded by its own mutex, which is taken last.
struct CameraVideo::Counters {
    std::mutex mutex;
    VideoStatistics all;

    template <class Change>
    void change(Change&& body) {
        const std::lock_guard lock(mutex);
        body(all);
    }
};

// Access units that one subscriber has not taken yet. Guarded by the video's mutex.
struct CameraVideo::Subscription::Queue {
    std::deque<Entry> entries;
    std::deque<SoundUnit> sound;
    std::size_t bytes = 0;  // of both
    bool wants_sound = false;
    std::int64_t begin = 0;  // time of the keyframe with which it started or continued
    bool waits_for_key = true;
    bool lost = false, ended = false;
    std::string failure;
    std::function<void()> wake;
};

struct CameraVideo::State {
    using Queue = Subscription::Queue;

    State(std::shared_ptr<LiveCamera> camera_, LiveVideoSettings settings_, const VideoVariant& variant_,
          std::shared_ptr<Counters> counters_)
        : camera(std::move(camera_)),
          settings(std::move(settings_)),
          variant(variant_),
          counters(counters_ ? std::move(counters_) : std::make_shared<Counters>()) {}

    // Functions with the mutex held:

    void add(Queue& queue, const Entry& entry);
    void add(Queue& queue, const SoundUnit& unit);
    void drop(Queue& queue, std::size_t count);
    void withdraw(Queue& queue, std::uint64_t oldest);
    void withdraw_group();
    void push(const Entry& entry);
    void end(Queue& queue, const std::string& why);
    void end_all(const std::string& why);
    bool may_retry() const { return failure.empty() || Clock::now() >= failed_at + retry_pause; }

    // Functions of the encode thread:

    void run(const std::stop_token& stop);
    void step(const std::stop_token& stop);
    void encode(const LiveCamera::Picture& picture, bool key);
    void take_sound();
    void deliver(const SoundUnit& unit);
    void fill_with_silence(std::int64_t until);
    std::optional<SoundUnit> placed(const std::shared_ptr<const SoundPacket>& packet, std::int64_t pts);
    std::int64_t sound_end() const;
    std::int64_t ticks_at(Clock::time_point time) const;
    std::int64_t pts_of(const LiveCamera::Picture& picture);
    void close_encoder();
    bool is_due(Clock::time_point now);

    const std::shared_ptr<LiveCamera> camera;
    const LiveVideoSettings settings;
    const VideoVariant variant;
    const std::shared_ptr<Counters> counters;

    std::mutex mutex;
    std::condition_variable_any changed;  // a keyframe is wanted, subscribers came, or access units arrived
    std::vector<std::shared_ptr<Queue>> queues;
    std::deque<Entry> group;  // access units since the last keyframe, for new subscribers
    std::size_t group_bytes = 0;
    std::deque<SoundUnit> group_sound;                // since then
    std::optional<SoundTap::Reader> sound;            // while a subscriber wants sound
    std::shared_ptr<const SoundFormat> sound_format;  // of the sound that can be expected
    Clock::time_point last_key{};
    bool key_wanted = false;
    std::string failure;  // of the last encoder; empty if it works
    Clock::time_point failed_at{};

    // Members of the encode thread:
    std::optional<PictureEncoder> encoder;
    std::shared_ptr<const VideoFormat> format;
    std::uint64_t seen = 0;   // version encoded last
    bool key_forced = false;  // a keyframe was requested from the encoder and has not been delivered yet
    double camera_rate = 0;
    std::int64_t last_pts = -1;
    Clock::time_point last_encoded{}, next_due{};
    const Clock::time_point start = Clock::now() - longest_deviation;  // pts 0; frames are not older
    // The newest picture that had its own time on the stream's clock: its version, that time, and when it was encoded.
    struct Timed {
        std::uint64_t version = 0;
        std::int64_t pts = 0;
        Clock::time_point encoded{};
    };
    std::optional<Timed> timed;
    std::int64_t sound_since = 0;     // time at which the first subscriber wanted sound
    std::int64_t sound_lateness = 0;  // by which packets have arrived after their pictures, at most
    std::shared_ptr<const SoundFormat> sound_counted_in;
    std::int64_t sound_begin = 0, sound_samples = 0;  // continuous sound: its first time, and samples since then
    bool sound_is_silence = false;                    // the newest unit is silence instead of late sound

    std::jthread thread;
};

// --- queues ---

// Appends an access unit. If the queue is full, clears it and waits for the next keyframe.
void CameraVideo::State::add(Queue& queue, const Entry& entry) {
    if (queue.ended || (queue.waits_for_key && !entry.unit->key)) return;
    const auto limit = std::chrono::duration_cast<std::chrono::seconds>(queue_limit).count() * video_clock_hz;
    const bool full = !queue.entries.empty() && (queue.bytes + entry.unit->bytes.size() > queue_limit_bytes ||
                                                 entry.unit->pts - queue.entries.front().unit->pts > limit);
    if (full) {
        drop(queue, queue.entries.size());
        if (!entry.unit->key) {
            queue.waits_for_key = true;
            return;
        }
    }
    const bool was_empty = queue.entries.empty() && queue.sound.empty();
    if (queue.waits_for_key || full) queue.begin = entry.unit->pts;
    queue.waits_for_key = false;
    queue.entries.push_back(entry);
    queue.bytes += entry.unit->bytes.size();
    if (was_empty) queue.wake();
}

// Appends sound, unless its pictures are skipped.
void CameraVideo::State::add(Queue& queue, const SoundUnit& unit) {
    if (queue.ended || !queue.wants_sound || queue.waits_for_key || unit.pts < queue.begin) return;
    const bool was_empty = queue.entries.empty() && queue.sound.empty();
    if (queue.bytes + unit.packet->bytes.size() > queue_limit_bytes) {
        drop(queue, queue.entries.size());
        queue.waits_for_key = true;
        return;
    }
    queue.sound.push_back(unit);
    queue.bytes += unit.packet->bytes.size();
    if (was_empty) queue.wake();
}

// Drops the oldest `count` access units, and the sound before the next one.
void CameraVideo::State::drop(Queue& queue, std::size_t count) {
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) queue.bytes -= queue.entries[i].unit->bytes.size();
    queue.entries.erase(queue.entries.begin(), queue.entries.begin() + static_cast<std::ptrdiff_t>(count));
    while (!queue.sound.empty() &&
           (queue.entries.empty() || queue.sound.front().pts < queue.entries.front().unit->pts)) {
        queue.bytes -= queue.sound.front().packet->bytes.size();
        queue.sound.pop_front();
    }
    queue.lost = true;
    counters->change([&](auto& all) { all.skipped += static_cast<std::int64_t>(count); });
}

// Drops withdrawn access units and those that refer to them, up to the next keyframe.
void CameraVideo::State::withdraw(Queue& queue, std::uint64_t oldest) {
    auto& entries = queue.entries;
    const auto last = std::find_if(entries.rbegin(), entries.rend(),
                                   [&](const Entry& one) { return one.unit->picture_version < oldest; });
    if (last == entries.rend()) return;
    const auto next = std::find_if(last.base(), entries.end(), [](const Entry& one) { return one.unit->key; });
    drop(queue, static_cast<std::size_t>(next - entries.begin()));
    queue.waits_for_key = entries.empty();
}

// Forgets the current group of pictures. The next access unit that subscribers get is a keyframe.
void CameraVideo::State::withdraw_group() {
    group.clear();
    group_sound.clear();
    group_bytes = 0;
    key_wanted = true;
    for (const auto& queue : queues) queue->lost = true;
}

// Delivers an access unit, unless it was withdrawn or depends on a keyframe that was.
void CameraVideo::State::push(const Entry& entry) {
    const auto oldest = camera->oldest_picture_version();
    const auto& unit = *entry.unit;
    if (unit.picture_version < oldest || (!unit.key && !group.empty() && group.front().unit->picture_version < oldest))
        withdraw_group();
    if (unit.picture_version < oldest || (!unit.key && group.empty())) return;
    if (unit.key) {
        group.clear();
        group_sound.clear();
        group_bytes = 0;
        last_key = Clock::now();
        key_wanted = false;
    }
    group.push_back(entry);
    group_bytes += unit.bytes.size();
    if (group_bytes > group_limit_bytes) key_wanted = true;
    failure.clear();
    counters->change([&](auto& all) {
        ++all.frames;
        all.keyframes += unit.key;
        all.bytes += static_cast<std::int64_t>(unit.bytes.size());
        all.failure.clear();
    });
    for (const auto& queue : queues) add(*queue, entry);
    changed.notify_all();
}

void CameraVideo::State::end(Queue& queue, const std::string& why) {
    if (queue.ended) return;
    queue.ended = true;
    queue.failure = why;
    if (queue.entries.empty()) queue.wake();
}

void CameraVideo::State::end_all(const std::string& why) {
    for (const auto& queue : queues) end(*queue, why);
    changed.notify_all();
}

// --- the encode thread ---

// Sleeps while there is no subscriber that waits for access units.
void CameraVideo::State::run(const std::stop_token& stop) {
    const auto is_wanted = [this] {
        return std::ranges::any_of(queues, [](const auto& queue) { return !queue->ended; });
    };
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(mutex);
            if (!is_wanted()) {
                group.clear();
                group_sound.clear();
                group_bytes = 0;
                sound.reset();
                sound_format.reset();
                lock.unlock();
                close_encoder();
                lock.lock();
                if (!changed.wait(lock, stop, is_wanted)) break;
                key_wanted = true;
            }
        }
        try {
            step(stop);
        } catch (const std::exception& error) {
            close_encoder();
            const std::lock_guard lock(mutex);
            group.clear();
            group_sound.clear();
            group_bytes = 0;
            if (failure != error.what())
                log_warning("camera '{}' cannot be encoded as video: {}", camera->name(), error.what());
            failure = error.what();
            failed_at = Clock::now();
            counters->change([&](auto& all) { all.failure = failure; });
            end_all(failure);
        }
    }
    close_encoder();
}

void CameraVideo::State::close_encoder() {
    if (encoder) counters->change([](auto& all) { --all.encoders; });
    encoder.reset();
    seen = 0;
    key_forced = false;
}

// Returns true if a new picture is not too early for the variant's rate. Pictures do not arrive at exact times, so half
// of the camera's frame period is tolerated.
bool CameraVideo::State::is_due(Clock::time_point now) {
    if (!variant.max_rate) return true;
    const auto seconds = [](double value) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
    };
    if (now + seconds(camera_rate > 0 ? 0.5 / camera_rate : 0) < next_due) return false;
    next_due = std::max(next_due, now - seconds(1 / *variant.max_rate)) + seconds(1 / *variant.max_rate);
    return true;
}

// Encodes the newest picture if it is new, or again if the last one is old. Waits a little otherwise.
void CameraVideo::State::step(const std::stop_token& stop) {
    take_sound();
    const auto version = camera->picture_version(), oldest = camera->oldest_picture_version();
    const auto now = Clock::now();
    bool key = false;
    {
        const std::lock_guard lock(mutex);
        if (!group.empty() && group.front().unit->picture_version < oldest) withdraw_group();
        key = key_wanted && !key_forced && (group.empty() || now >= last_key + keyframe_pause);
    }
    // A picture older than `oldest` is about to be replaced.
    const bool is_there = version != 0 && version >= oldest;
    // A keyframe waits for the next picture, unless that is late: encoding a picture twice would disturb its time.
    const auto patience = key ? key_patience : repeat_after;
    if (is_there && ((version != seen && is_due(now)) || !encoder || now >= last_encoded + patience)) {
        if (const auto picture = camera->picture()) return encode(*picture, key);
    }
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, between_looks, [] { return false; });
}

void CameraVideo::State::encode(const LiveCamera::Picture& picture, bool key) {
    const auto image = picture.image.view();
    if (!encoder || encoder->shape() != image.shape()) {
        close_encoder();
        camera_rate = camera->state().rate;
        const double rate = std::min(camera_rate > 0 ? camera_rate : 30, variant.max_rate.value_or(max_fps));
        encoder.emplace(settings, image.shape(), variant,
                        claimed_rate(std::llround(rate * 1000), 1000).value_or(Rational{30, 1}));
        counters->change([&](auto& all) {
            ++all.encoders;
            all.encoder = encoder->encoder().name();
        });
    }
    seen = picture.version;
    last_encoded = Clock::now();
    last_pts = std::max(last_pts + 1, pts_of(picture));
    key_forced = key_forced || key;
    encoder->encode(image, last_pts, key, picture.version, [this](AccessUnit&& unit) {
        if (unit.key) {
            key_forced = false;
            if (!format || !(*format == encoder->encoder().format()))
                format = std::make_shared<const VideoFormat>(encoder->encoder().format());
        }
        unit.duration = std::min(unit.duration, repeat_ticks);
        const std::lock_guard lock(mutex);
        push({std::make_shared<const AccessUnit>(std::move(unit)), format});
    });
}

std::int64_t CameraVideo::State::ticks_at(Clock::time_point time) const {
    const auto since = std::chrono::duration<double>(time - start).count();
    return std::max<std::int64_t>(0, std::llround(since * static_cast<double>(video_clock_hz)));
}

// A picture of a camera with sound has the time of its frame on the clock of the sound, however late it is. Any other
// picture has the time at which it is encoded.
std::int64_t CameraVideo::State::pts_of(const LiveCamera::Picture& picture) {
    const auto tap = camera->sound();
    const auto own = tap ? tap->at(picture.seconds) : std::nullopt;
    const auto deviation = own ? *own - last_encoded : Clock::duration{};
    if (!own || std::max(deviation, -deviation) > longest_deviation) {
        timed.reset();
        return ticks_at(last_encoded);
    }
    if (timed && timed->version == picture.version) {
        const auto before = camera_rate < often_repeated_fps ? often_repeated_before : repeated_before;
        const auto since = std::max(last_encoded - timed->encoded - before, Clock::duration{});
        return timed->pts + ticks_at(start + since);
    }
    timed = {picture.version, ticks_at(*own), last_encoded};
    return timed->pts;
}

// Gives sound that is due to the subscribers.
void CameraVideo::State::take_sound() {
    const auto now = Clock::now();
    const auto tap = camera->sound();
    if (!tap) return;
    const std::lock_guard lock(mutex);
    if (std::ranges::none_of(queues, [](const auto& queue) { return queue->wants_sound && !queue->ended; })) {
        sound.reset();
        sound_format.reset();
        return;
    }
    if (!sound) {
        sound.emplace(tap);
        sound_format = tap->format();
        sound_since = ticks_at(now);
        sound_counted_in.reset();
        sound_is_silence = false;
        sound_lateness = 0;
    }
    for (const auto& [packet, at] : sound->take(now)) {
        if (!sound_format || !(*sound_format == *packet->format)) sound_format = packet->format;
        const auto deviation = now - at;
        if (std::max(deviation, -deviation) > longest_deviation) continue;
        const auto pts = ticks_at(at);
        // Forgets a late packet within about 20 s.
        sound_lateness = std::max(last_pts - pts, sound_lateness - sound_lateness / 1024);
        if (sound_counted_in && pts > sound_end() + sound_tolerance_ticks) fill_with_silence(pts);
        if (sound_is_silence) {
            if (pts < sound_end()) continue;
            sound_is_silence = false;
            sound_counted_in.reset();
        }
        if (const auto unit = placed(packet, pts)) deliver(*unit);
    }
    constexpr auto patience = sound_patience.count() * video_clock_hz / 1000;
    fill_with_silence(last_pts - std::min(sound_lateness + patience, longest_sound_patience_ticks));
}

void CameraVideo::State::deliver(const SoundUnit& unit) {
    group_sound.push_back(unit);
    if (group_sound.size() > group_sound_limit) group_sound.pop_front();
    for (const auto& queue : queues) add(*queue, unit);
}

// Delivers silence from the end of the sound until a time, but not beyond. Sound that arrives for the same time later
// is dropped.
void CameraVideo::State::fill_with_silence(std::int64_t until) {
    const bool is_counted = sound_counted_in && sound_format && *sound_counted_in == *sound_format;
    auto end = is_counted ? sound_end() : sound_since;
    if (!sound_format || end >= until) return;
    const auto silence = coded_silence(*sound_format);
    if (!silence) return;
    constexpr auto longest_silence = std::chrono::seconds(longest_deviation).count() * video_clock_hz;
    end = std::max(end, until - longest_silence);
    const auto packet = std::make_shared<const SoundPacket>(
        SoundPacket{.bytes = silence->bytes, .seconds = 0, .samples = silence->samples, .format = sound_format});
    const auto duration = silence->samples * video_clock_hz / sound_format->sample_rate;
    while (end + duration <= until) {
        const auto unit = placed(packet, end);
        if (!unit) return;
        deliver(*unit);
        sound_is_silence = true;
        end = sound_end();
    }
}

// Returns the end of the continuous sound.
std::int64_t CameraVideo::State::sound_end() const {
    const auto rate = sound_counted_in->sample_rate;
    return sound_begin + (sound_samples * video_clock_hz + rate / 2) / rate;
}

// Places a packet at the end of the previous one, or at its own time after a gap. Returns nothing if it would overlap.
std::optional<SoundUnit> CameraVideo::State::placed(const std::shared_ptr<const SoundPacket>& packet,
                                                    std::int64_t pts) {
    const bool is_counted = sound_counted_in && *sound_counted_in == *packet->format;
    if (is_counted && pts < sound_end() - sound_tolerance_ticks) return std::nullopt;
    if (!is_counted || pts > sound_end() + sound_tolerance_ticks) {
        sound_counted_in = packet->format;
        sound_begin = pts;
        sound_samples = 0;
    }
    SoundUnit unit{.packet = packet, .pts = sound_end()};
    sound_samples += packet->samples;
    unit.duration = sound_end() - unit.pts;
    return unit;
}

// --- CameraVideo ---

CameraVideo::CameraVideo(std::shared_ptr<LiveCamera> camera, LiveVideoSettings settings, const VideoVariant& variant,
                         std::shared_ptr<Counters> counters)
    : state_(std::make_shared<State>(std::move(camera), std::move(settings), variant, std::move(counters))) {
    // The thread does not own the state: the destructor joins it.
    state_->thread = std::jthread([state = state_.get()](const std::stop_token& stop) { state->run(stop); });
}

CameraVideo::~CameraVideo() {
    state_->thread.request_stop();
    state_->thread.join();
    const std::lock_guard lock(state_->mutex);
    state_->end_all({});
}

std::unique_ptr<CameraVideo::Subscription> CameraVideo::subscribe(std::function<void()> wake, bool sound) {
    auto queue = std::make_shared<Subscription::Queue>();
    queue->wake = std::move(wake);
    queue->wants_sound = sound;
    auto& state = *state_;
    {
        const std::lock_guard lock(state.mutex);
        state.queues.push_back(queue);
        // The first keyframe may be there before the encode thread begins with the sound.
        if (const auto tap = sound && !state.sound ? state.camera->sound() : nullptr)
            state.sound_format = tap->format();
        state.counters->change([](auto& all) { ++all.subscribers; });
        if (!state.may_retry()) {
            state.end(*queue, state.failure);
        } else {
            const bool fresh = !state.group.empty() && Clock::now() < state.last_key + keyframe_pause &&
                               state.group.front().unit->picture_version >= state.camera->oldest_picture_version();
            if (fresh) {
                for (const auto& entry : state.group) state.add(*queue, entry);
                for (const auto& unit : state.group_sound) state.add(*queue, unit);
            } else {
                state.key_wanted = true;
            }
        }
    }
    state.changed.notify_all();
    return std::unique_ptr<Subscription>(new Subscription(state_, std::move(queue)));
}

void CameraVideo::request_keyframe() {
    const std::lock_guard lock(state_->mutex);
    state_->key_wanted = true;
    state_->changed.notify_all();
}

VideoStatistics CameraVideo::statistics() const {
    VideoStatistics copy;
    state_->counters->change([&](const auto& all) { copy = all; });
    return copy;
}

std::string CameraVideo::failure() const {
    const std::lock_guard lock(state_->mutex);
    return state_->may_retry() ? std::string() : state_->failure;
}

const VideoVariant& CameraVideo::variant() const { return state_->variant; }
const LiveCamera& CameraVideo::camera() const { return *state_->camera; }

// --- Subscription ---

CameraVideo::Subscription::Subscription(std::shared_ptr<State> video, std::shared_ptr<Queue> queue)
    : video_(std::move(video)), queue_(std::move(queue)) {}

CameraVideo::Subscription::~Subscription() {
    const std::lock_guard lock(video_->mutex);
    std::erase(video_->queues, queue_);
    video_->counters->change([](auto& all) { --all.subscribers; });
    video_->changed.notify_all();
}

CameraVideo::Subscription::Taken CameraVideo::Subscription::take() {
    Taken taken;
    const std::lock_guard lock(video_->mutex);
    video_->withdraw(*queue_, video_->camera->oldest_picture_version());
    auto& entries = queue_->entries;
    if (!entries.empty()) {
        taken.format = entries.front().format;
        taken.lost = std::exchange(queue_->lost, false);
    }
    while (!entries.empty() && entries.front().format == taken.format) {
        queue_->bytes -= entries.front().unit->bytes.size();
        taken.units.push_back(std::move(entries.front().unit));
        entries.pop_front();
    }
    auto& sound = queue_->sound;
    while (!sound.empty() && (entries.empty() || sound.front().pts < entries.front().unit->pts)) {
        queue_->bytes -= sound.front().packet->bytes.size();
        taken.sound.push_back(std::move(sound.front()));
        sound.pop_front();
    }
    if (queue_->wants_sound) taken.sound_format = video_->sound_format;
    taken.ended = queue_->ended && entries.empty();
    taken.failure = taken.ended ? queue_->failure : std::string();
    if (queue_->waits_for_key && !queue_->ended) {
        video_->key_wanted = true;
        video_->changed.notify_all();
    }
    return taken;
}

std::shared_ptr<const VideoFormat> CameraVideo::Subscription::format(std::chrono::milliseconds limit) {
    std::unique_lock lock(video_->mutex);
    video_->changed.wait_for(lock, limit, [this] { return !queue_->entries.empty() || queue_->ended; });
    return queue_->entries.empty() ? nullptr : queue_->entries.front().format;
}

// --- CameraVideos ---

void check_video(const CameraVideo& video) {
    if (video.camera().picture_version() == 0)
        fail(ErrorCode::config, "camera '{}' has no frame yet", video.camera().name());
    if (const auto why = video.failure(); !why.empty())
        fail(ErrorCode::config, "camera '{}' cannot be encoded as video: {}", video.camera().name(), why);
}

CameraVideos::CameraVideos(std::shared_ptr<LiveCamera> camera, LiveVideoSettings settings)
    : camera_(std::move(camera)),
      settings_(std::move(settings)),
      counters_(std::make_shared<CameraVideo::Counters>()) {}

std::shared_ptr<CameraVideo> CameraVideos::variant(const VideoVariant& wanted) {
    auto variant = wanted;
    if (variant.width || variant.max_rate) {
        const auto state = camera_->state();
        if (variant.width && state.shape.width > 0 && *variant.width >= state.shape.width) variant.width.reset();
        if (variant.max_rate && state.rate > 0 && *variant.max_rate >= state.rate) variant.max_rate.reset();
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(variants_, [](const auto& entry) { return entry.second.expired(); });
    const auto found = variants_.find(variant);
    if (auto video = found == variants_.end() ? nullptr : found->second.lock()) return video;
    if (variants_.size() >= most_variants)
        fail(ErrorCode::config, "camera '{}' is already watched in {} sizes or rates, which is the most",
             camera_->name(), most_variants);
    auto video = std::make_shared<CameraVideo>(camera_, settings_, variant, counters_);
    variants_.insert_or_assign(variant, video);
    return video;
}

VideoStatistics CameraVideos::statistics() const {
    VideoStatistics copy;
    counters_->change([&](const auto& all) { copy = all; });
    return copy;
}

}  // namespace framewire::service
