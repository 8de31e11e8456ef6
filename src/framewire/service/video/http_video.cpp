#include "framewire/service/video/http_video.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <stop_token>
#include <thread>
#include <utility>

// The HLS playlist. A segment consists of parts, and a part of fragments:
//
//    segment 12.mp4  |  12.0.mp4  |  12.1.mp4  |  12.2.mp4  |     about 2 s, starts with a keyframe
//                     f f f ... f  f f f ... f                    0.5 s, one fragment per picture
//
// Files are concatenations of fragments, so nothing is packed again for HLS.

namespace framewire::service {
namespace {

// Parts are listed for this many complete segments at the end of the playlist; the rest plays as whole segments.
constexpr std::size_t segments_with_parts = 3;

double seconds(std::int64_t ticks) { return static_cast<double>(ticks) / static_cast<double>(video_clock_hz); }

std::int64_t ticks(std::chrono::milliseconds time) { return time.count() * video_clock_hz / 1000; }

// Returns a time as in RFC 3339, in UTC with milliseconds.
std::string date_text(std::chrono::system_clock::time_point time) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(since / 1000)),
                       since % 1000);
}

}  // namespace

HlsWindow::HlsWindow(const HlsLimits& limits, std::string query, std::uint64_t first_number)
    : limits_(limits), query_(std::move(query)), next_number_(first_number) {}

void HlsWindow::begin(std::string header) {
    segments_.clear();
    part_.clear();
    part_duration_ = 0;
    closed_segments_ = 0;
    header_ = std::make_shared<const std::string>(std::move(header));
    ++timelines_;
}

void HlsWindow::add(const Mp4Fragment& fragment, bool key, std::uint64_t version) {
    // A keyframe that comes a little early starts a segment too, so that segments match the encoder's own keyframes.
    const auto wanted = ticks(closed_segments_ < 2 ? limits_.first_segment : limits_.segment) * 3 / 4;
    if (!starts_segment() && key && segments_.back().duration >= wanted) cut();
    if (starts_segment()) {
        if (!key) fail(ErrorCode::internal, "a segment must start with a keyframe");
        segments_.push_back(
            {.number = next_number_++, .oldest_version = version, .begun = std::chrono::system_clock::now()});
    }
    const auto limit = ticks(limits_.part);
    if (part_duration_ > 0 && part_duration_ + fragment.duration > limit) close_part();
    if (part_.empty()) part_independent_ = key;
    part_ += fragment.bytes;
    part_duration_ += fragment.duration;
    segments_.back().duration += fragment.duration;
    segments_.back().bytes += fragment.bytes.size();
    // The next fragment would not fit: publish the part without waiting for it.
    if (part_duration_ + fragment.duration > limit) close_part();
    trim();
}

// Completes the part that grows.
void HlsWindow::close_part() {
    if (part_.empty()) return;
    segments_.back().parts.push_back({std::make_shared<const std::string>(std::exchange(part_, {})),
                                      std::exchange(part_duration_, 0), part_independent_});
}

void HlsWindow::cut() {
    if (starts_segment()) return;
    close_part();
    segments_.back().complete = true;
    ++closed_segments_;
}

// Drops the oldest segments beyond the limits.
void HlsWindow::trim() {
    const auto bytes = [this] {
        std::size_t all = 0;
        for (const auto& segment : segments_) all += segment.bytes;
        return all;
    };
    while (segments_.size() > limits_.kept || (segments_.size() > 2 && bytes() > limits_.kept_bytes))
        segments_.erase(segments_.begin());
}

void HlsWindow::withdraw(std::uint64_t oldest) {
    const auto last = std::find_if(segments_.rbegin(), segments_.rend(),
                                   [&](const Segment& one) { return one.oldest_version < oldest; });
    if (last == segments_.rend()) return;
    if (last == segments_.rbegin()) part_.clear(), part_duration_ = 0;
    segments_.erase(segments_.begin(), last.base());
    // Players without low latency wait for the next segment, so it is short.
    if (segments_.empty()) closed_segments_ = 0;
}

bool HlsWindow::wants_key() const {
    return starts_segment() ||
           segments_.back().duration >= ticks(closed_segments_ < 2 ? limits_.first_segment : limits_.segment);
}

bool HlsWindow::starts_segment() const { return segments_.empty() || segments_.back().complete; }

bool HlsWindow::has_segment() const {
    return std::ranges::any_of(segments_, [](const auto& segment) { return segment.complete; });
}

std::uint64_t HlsWindow::number() const { return starts_segment() ? next_number_ : segments_.back().number; }

std::size_t HlsWindow::parts() const { return starts_segment() ? 0 : segments_.back().parts.size(); }

std::uint64_t HlsWindow::version_of(std::uint64_t number) const {
    const auto found = std::ranges::find(segments_, number, &Segment::number);
    return found == segments_.end() ? 0 : found->oldest_version;
}

bool HlsWindow::has(std::uint64_t number, std::optional<std::uint64_t> part) const {
    if (number != this->number()) return number < this->number();
    return part && *part < parts();
}

std::string HlsWindow::address(std::string_view name) const {
    return fmt::format("hls/{}{}{}", name, query_.empty() ? "" : "?", query_);
}

std::string HlsWindow::playlist() const {
    const auto part = std::chrono::duration<double>(limits_.part).count();
    const auto target = std::ceil(std::chrono::duration<double>(limits_.segment).count() + 1);
    const auto first = segments_.size() > limits_.listed ? segments_.size() - limits_.listed : 0;
    std::string text;
    auto to = std::back_inserter(text);
    fmt::format_to(to,
                   "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:{}\n"
                   "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK={}\n#EXT-X-PART-INF:PART-TARGET={}\n"
                   "#EXT-X-MEDIA-SEQUENCE:{}\n#EXT-X-DISCONTINUITY-SEQUENCE:{}\n#EXT-X-MAP:URI=\"{}\"\n",
                   static_cast<int>(target), 3 * part, part, segments_.empty() ? next_number_ : segments_[first].number,
                   timelines_, address(fmt::format("init-{}.mp4", timelines_)));
    for (auto at = first; at < segments_.size(); ++at) {
        const auto& segment = segments_[at];
        fmt::format_to(to, "#EXT-X-PROGRAM-DATE-TIME:{}\n", date_text(segment.begun));
        if (at + segments_with_parts + 1 >= segments_.size())
            for (std::size_t i = 0; i < segment.parts.size(); ++i)
                fmt::format_to(to, "#EXT-X-PART:DURATION={:.5f},URI=\"{}\"{}\n", seconds(segment.parts[i].duration),
                               address(fmt::format("{}.{}.mp4", segment.number, i)),
                               segment.parts[i].independent ? ",INDEPENDENT=YES" : "");
        if (segment.complete)
            fmt::format_to(to, "#EXTINF:{:.5f},\n{}\n", seconds(segment.duration),
                           address(fmt::format("{}.mp4", segment.number)));
    }
    fmt::format_to(to, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"{}\"\n",
                   address(fmt::format("{}.{}.mp4", number(), parts())));
    return text;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> HlsWindow::part_named(std::string_view name) {
    constexpr std::string_view ending = ".mp4";
    if (!name.ends_with(ending)) return std::nullopt;
    name.remove_suffix(ending.size());
    const auto point = name.find('.');
    if (point == std::string_view::npos) return std::nullopt;
    const auto number = number_in<std::uint64_t>(name.substr(0, point));
    const auto part = number_in<std::uint64_t>(name.substr(point + 1));
    if (!number || !part) return std::nullopt;
    return std::pair(*number, *part);
}

HlsWindow::File HlsWindow::file(std::string_view name) const {
    if (header_ && name == fmt::format("init-{}.mp4", timelines_)) return header_;
    const auto part = part_named(name);
    for (const auto& segment : segments_) {
        if (part && part->first == segment.number)
            return part->second < segment.parts.size() ? segment.parts[part->second].bytes : nullptr;
        if (part || !segment.complete || name != fmt::format("{}.mp4", segment.number)) continue;
        std::string whole;
        whole.reserve(segment.bytes);
        for (const auto& one : segment.parts) whole += *one.bytes;
        return std::make_shared<const std::string>(std::move(whole));
    }
    return nullptr;
}

}  // namespace framewire::service

// The thread of a video over HTTP. `signals` has its own mutex, because the callbacks that set it hold mutexes of the
// feed or of the CameraVideo. `mutex` guards the rest.

namespace framewire::service {
namespace {

using net::http::Feed;
using net::http::Response;

constexpr const char* playlist_type = "application/vnd.apple.mpegurl";
constexpr const char* mp4_type = "video/mp4";

// A client that does not read is disconnected when this many bytes are pending.
constexpr std::size_t client_limit_bytes = CameraVideo::queue_limit_bytes;
// A client whose line is too slow for the video continues with the next keyframe when it is this late.
constexpr std::chrono::seconds client_late_after{2};
// An HttpVideo is not idle this soon after a request, whose client may not be connected to the feed yet.
constexpr std::chrono::seconds connecting{5};
// Interval at which deadlines are checked while the thread runs.
constexpr std::chrono::milliseconds between_checks{100};

Response file_response(std::string_view type, std::shared_ptr<const std::string> body) {
    return {.content_type = std::string(type), .body = std::move(body)};
}

// Returns the oldest version that clients may be sent.
std::function<std::uint64_t()> oldest_version_of(const std::shared_ptr<CameraVideo>& video) {
    return [video = std::weak_ptr(video)]() -> std::uint64_t {
        const auto there = video.lock();
        return there ? there->camera().oldest_picture_version() : 0;
    };
}

// Returns a number of the query, or nothing. Throws Error{usage} if it is not a whole number.
std::optional<std::uint64_t> number_of(const std::map<std::string, std::string, std::less<>>& query,
                                       std::string_view name) {
    const auto given = query.find(name);
    if (given == query.end()) return std::nullopt;
    const auto number = number_in<std::uint64_t>(given->second);
    if (!number) fail(ErrorCode::usage, "{} {} is not a whole number", name, in_quotes(given->second));
    return number;
}

// Number of the first segment: seconds since 1970, so that numbers also grow when the server restarts.
std::uint64_t first_segment_number() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

// Query of all addresses in a playlist.
std::string query_of(const VideoVariant& variant, bool sound) {
    auto query = to_string(variant);
    if (!sound) query += query.empty() ? "audio=0" : "&audio=0";
    return query;
}

bool is_same(const std::shared_ptr<const SoundFormat>& a, const std::shared_ptr<const SoundFormat>& b) {
    return a && b ? *a == *b : a == b;
}

// Reasons for the thread to run.
struct Signals {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool has_clients = false;  // the feed has clients
    bool has_units = false;    // the subscription has access units, or ended
    bool is_asked = false;     // HLS is requested

    void set(bool Signals::*signal, bool value) {
        {
            const std::lock_guard lock(mutex);
            this->*signal = value;
        }
        changed.notify_all();
    }
    bool is_wanted() const { return has_clients || is_asked; }
};

}  // namespace

struct HttpVideo::State {
    // A request that waits for a part, or for a playlist that contains it.
    struct Waiting {
        std::shared_ptr<Feed> feed{};
        std::uint64_t number = 0;
        std::optional<std::uint64_t> part{};
        std::string file{};        // name of the part; empty: the playlist
        bool any_segment = false;  // waits until there is a segment instead
        Clock::time_point until{};
    };

    State(std::shared_ptr<CameraVideo> video_, const HlsLimits& limits_, bool sound)
        : video(std::move(video_)),
          limits(limits_),
          has_sound(sound),
          window(limits_, query_of(video->variant(), sound), first_segment_number()) {
        feed = make_feed();
    }

    std::shared_ptr<Feed> make_feed() const;
    // Ends the responses of all clients. Later clients get another feed.
    void end_clients();
    // Ends the responses of all clients and HLS, so that the thread rests until the next request.
    void end_everything();

    void run(const std::stop_token& stop);
    void serve(const std::stop_token& stop);
    void take(CameraVideo::Subscription::Taken& taken);
    void take_unit(const AccessUnit& unit);
    void start_timeline();
    void check_hls();

    // Functions with the mutex held:

    void touch() {
        last_request = Clock::now();
        hls_until = last_request + limits.idle;
        signals->set(&Signals::is_asked, true);
    }
    void answer_waiting();
    // Returns true while there are recent requests for HLS, or requests that wait.
    bool hls_is_asked() const { return Clock::now() < hls_until || !waiting.empty(); }
    bool is_ready(const Waiting& one) const {
        return one.any_segment ? window.has_segment() : window.has(one.number, one.part);
    }
    Response wait(Waiting one, std::string_view type);

    const std::shared_ptr<CameraVideo> video;
    const HlsLimits limits;
    const bool has_sound;
    const std::shared_ptr<Signals> signals = std::make_shared<Signals>();

    mutable std::mutex mutex;
    std::shared_ptr<Feed> feed;
    HlsWindow window;
    bool hls_runs = false;  // fragments go to the window
    std::deque<Waiting> waiting;
    Clock::time_point last_request{}, hls_until{}, last_key{};

    // Members of the thread:
    std::shared_ptr<const VideoFormat> format;
    std::shared_ptr<const SoundFormat> sound_format;  // null: the timeline has no sound
    std::deque<SoundUnit> waiting_sound;              // that waits for its picture
    bool told_of_codec = false;
    std::optional<Mp4Fragments> fragments;
    bool needs_key = true;

    std::jthread thread;
};

// --- the thread ---

std::shared_ptr<Feed> HttpVideo::State::make_feed() const {
    const auto for_client = [] {
        return [numbers = Mp4Renumbering()](Feed::Part part) mutable { return numbers.apply(std::move(part)); };
    };
    auto made = std::make_shared<Feed>(net::http::FeedOptions{.queued_limit_bytes = client_limit_bytes,
                                                              .starts_at_entry = true,
                                                              .late_after = client_late_after,
                                                              .oldest_version = oldest_version_of(video),
                                                              .for_client = for_client});
    made->on_wanted([signals = signals](bool now) { signals->set(&Signals::has_clients, now); });
    return made;
}

void HttpVideo::State::end_clients() {
    const std::lock_guard lock(mutex);
    std::exchange(feed, make_feed())->end();
    signals->set(&Signals::has_clients, false);
    for (const auto& one : waiting) one.feed->end();
    waiting.clear();
    hls_runs = false;
}

void HttpVideo::State::end_everything() {
    end_clients();
    const std::lock_guard lock(mutex);
    hls_until = {};
    signals->set(&Signals::is_asked, false);
}

void HttpVideo::State::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(signals->mutex);
            if (!signals->changed.wait(lock, stop, [this] { return signals->is_wanted(); })) return;
            signals->has_units = false;
        }
        try {
            serve(stop);
        } catch (const std::exception& error) {
            log_warning("camera '{}' cannot be shown as MP4: {}", video->camera().name(), error.what());
            end_everything();
        }
        const std::lock_guard lock(mutex);
        feed->set_first(nullptr);
        feed->forget_entry();
        fragments.reset();
        format.reset();
        sound_format.reset();
        waiting_sound.clear();
        hls_runs = false;
    }
}

// Runs while there are clients.
void HttpVideo::State::serve(const std::stop_token& stop) {
    const auto subscription =
        video->subscribe([signals = signals] { signals->set(&Signals::has_units, true); }, has_sound);
    for (;;) {
        {
            std::unique_lock lock(signals->mutex);
            signals->changed.wait_for(lock, stop, between_checks,
                                      [this] { return signals->has_units || !signals->is_wanted(); });
            if (stop.stop_requested() || !signals->is_wanted()) return;
            signals->has_units = false;
        }
        auto taken = subscription->take();
        if (taken.lost) {
            const std::lock_guard lock(mutex);
            window.cut();
        }
        take(taken);
        check_hls();
        if (taken.ended) {
            return end_everything();
        }
        // Access units of another format may be left.
        if (!taken.units.empty()) signals->set(&Signals::has_units, true);
    }
}

// Packs access units and their sound in order of time.
void HttpVideo::State::take(CameraVideo::Subscription::Taken& taken) {
    auto playable = std::move(taken.sound_format);
    if (playable && !is_mp4_sound(playable->codec)) {
        if (!std::exchange(told_of_codec, true))
            log_info("camera '{}': MP4 and HLS are without sound, because they cannot hold {}", video->camera().name(),
                     to_string(playable->codec));
        playable.reset();
    }
    if (taken.format && (taken.format != format || !is_same(playable, sound_format))) {
        format = taken.format;
        sound_format = playable;
        start_timeline();
    }
    waiting_sound.insert(waiting_sound.end(), taken.sound.begin(), taken.sound.end());
    for (const auto& unit : taken.units) {
        for (; !waiting_sound.empty() && waiting_sound.front().pts <= unit->pts; waiting_sound.pop_front())
            fragments->add(waiting_sound.front());
        take_unit(*unit);
    }
}

// Starts again with another header. Clients of an earlier one must reconnect.
void HttpVideo::State::start_timeline() {
    if (fragments) end_clients();
    fragments.emplace(*format, sound_format);
    waiting_sound.clear();
    needs_key = true;
    const std::lock_guard lock(mutex);
    feed->set_first(std::make_shared<const std::string>(fragments->header()));
    hls_runs = false;
}

// Packs an access unit and gives the fragment to all clients.
void HttpVideo::State::take_unit(const AccessUnit& unit) {
    const auto oldest = video->camera().oldest_picture_version();
    if (unit.picture_version < oldest || (needs_key && !unit.key)) {
        if (!std::exchange(needs_key, true)) video->request_keyframe();
        return;
    }
    needs_key = false;
    const auto fragment = fragments->pack(unit);
    const std::lock_guard lock(mutex);
    if (unit.key) last_key = Clock::now();
    feed->publish(std::make_shared<const std::string>(fragment.bytes),
                  {.version = unit.picture_version, .entry = unit.key});
    window.withdraw(oldest);
    if (!hls_runs && unit.key && hls_is_asked()) {
        window.begin(fragments->header());
        hls_runs = true;
    }
    if (!hls_runs) return;
    // The segment may have been withdrawn since the last fragment.
    if (unit.key || !window.starts_segment()) window.add(fragment, unit.key, unit.picture_version);
    answer_waiting();
}

// Requests keyframes for segments, applies deadlines, and ends HLS without requests.
void HttpVideo::State::check_hls() {
    bool wants_key = false;
    {
        const std::lock_guard lock(mutex);
        const bool is_asked = hls_is_asked();
        if (!is_asked) {
            if (std::exchange(hls_runs, false)) window.begin({});
            signals->set(&Signals::is_asked, false);
        }
        wants_key = is_asked && (!hls_runs || window.wants_key());
        answer_waiting();
    }
    if (wants_key) video->request_keyframe();
}

// Answers requests whose part is there or that have waited for too long.
void HttpVideo::State::answer_waiting() {
    if (waiting.empty()) return;
    const auto now = Clock::now();
    std::shared_ptr<const std::string> playlist;
    std::erase_if(waiting, [&](const Waiting& one) {
        const bool ready = hls_runs && is_ready(one);
        if (!ready && now < one.until) return false;
        if (one.file.empty() && window.has_segment()) {
            if (!playlist) playlist = std::make_shared<const std::string>(window.playlist());
            one.feed->end_with(playlist, {.version = net::http::always_allowed});
        } else if (const auto file = window.file(one.file); ready && file) {
            one.feed->end_with(file, {.version = window.version_of(one.number)});
        } else {
            one.feed->end();
        }
        return true;
    });
}

// Responds once the request can be answered. The response is a feed with one part, so no thread waits for it.
Response HttpVideo::State::wait(Waiting one, std::string_view type) {
    one.until = Clock::now() + limits.wait;
    one.feed = std::make_shared<Feed>(net::http::FeedOptions{
        .queued_limit_bytes = limits.kept_bytes, .deferred = true, .oldest_version = oldest_version_of(video)});
    Response response{.content_type = std::string(type), .feed = one.feed};
    waiting.push_back(std::move(one));
    return response;
}

// --- requests ---

HttpVideo::HttpVideo(std::shared_ptr<CameraVideo> video, const HlsLimits& limits, bool sound)
    : state_(std::make_shared<State>(std::move(video), limits, sound)) {
    state_->thread = std::jthread([state = state_.get()](const std::stop_token& stop) { state->run(stop); });
}

HttpVideo::~HttpVideo() {
    state_->thread.request_stop();
    state_->thread.join();
    state_->end_clients();
}

Response HttpVideo::mp4() {
    check_video(*state_->video);
    const std::lock_guard lock(state_->mutex);
    const auto now = Clock::now();
    // A client would play what it gets first, so it would stay behind by the age of the keyframe.
    if (now >= state_->last_key + CameraVideo::keyframe_pause) {
        state_->feed->forget_entry();
        state_->video->request_keyframe();
    }
    return {.content_type = mp4_type, .feed = state_->feed};
}

Response HttpVideo::playlist(const std::map<std::string, std::string, std::less<>>& query) {
    const auto number = number_of(query, "_HLS_msn"), part = number_of(query, "_HLS_part");
    if (part && !number) fail(ErrorCode::usage, "_HLS_part requires _HLS_msn");
    check_video(*state_->video);
    auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    state.touch();
    state.window.withdraw(state.video->camera().oldest_picture_version());
    if (number && state.hls_runs && *number > state.window.number() + 1)
        fail(ErrorCode::usage, "_HLS_msn {} is too far ahead; the newest segment is {}", *number,
             state.window.number());
    State::Waiting one{.number = number.value_or(0), .part = part, .any_segment = !number || !state.hls_runs};
    if (state.hls_runs && state.is_ready(one))
        return file_response(playlist_type, std::make_shared<const std::string>(state.window.playlist()));
    if (state.waiting.size() < state.limits.waiting) return state.wait(std::move(one), playlist_type);
    if (!state.hls_runs || !state.window.has_segment())
        return net::http::error_response(503, "too many requests wait for the first segment");
    return file_response(playlist_type, std::make_shared<const std::string>(state.window.playlist()));
}

Response HttpVideo::file(std::string_view name) {
    auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    state.touch();
    state.window.withdraw(state.video->camera().oldest_picture_version());
    if (auto file = state.hls_runs ? state.window.file(name) : nullptr) return file_response(mp4_type, std::move(file));
    const auto part = HlsWindow::part_named(name);
    const bool is_next = part && state.hls_runs && part->first == state.window.number() &&
                         !state.window.has(part->first, part->second) && part->second <= state.window.parts();
    if (!is_next || state.waiting.size() >= state.limits.waiting)
        fail(ErrorCode::no_input, "there is no file {}, or no longer", in_quotes(name));
    return state.wait({.number = part->first, .part = part->second, .file = std::string(name)}, mp4_type);
}

void HttpVideo::expect_client() {
    const std::lock_guard lock(state_->mutex);
    state_->last_request = Clock::now();
}

int HttpVideo::clients() const {
    const std::lock_guard lock(state_->mutex);
    return state_->feed->clients();
}

bool HttpVideo::is_idle() const {
    const std::lock_guard lock(state_->mutex);
    const auto now = Clock::now();
    return state_->feed->clients() == 0 && !state_->hls_is_asked() && now >= state_->last_request + connecting;
}

// --- HttpVideos ---

std::shared_ptr<HttpVideo> HttpVideos::of(const std::map<std::string, std::string, std::less<>>& query) {
    const auto wanted = VideoVariant::parse(query);
    const bool sound = parse_audio(query);
    // Variants without clients count as in use as long as they exist. Their destructors join threads, so they run
    // without the lock.
    decltype(all_) dropped;
    {
        const std::lock_guard lock(mutex_);
        for (auto at = all_.begin(); at != all_.end();)
            if (const auto one = at++; one->first != std::pair(wanted, sound) && one->second->is_idle())
                dropped.insert(all_.extract(one));
    }
    dropped.clear();
    const auto video = videos_->variant(wanted);
    const std::lock_guard lock(mutex_);
    auto& shown = all_[{video->variant(), sound}];
    if (!shown) shown = std::make_shared<HttpVideo>(video, limits_, sound);
    shown->expect_client();
    return shown;
}

int HttpVideos::clients() const {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (const auto& [variant, video] : all_) all += video->clients();
    return all;
}

}  // namespace framewire::service
