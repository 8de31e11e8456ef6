#include "framewire/service/mqtt_spool.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace framewire::service {
namespace {

// The file is rewritten when it is larger than this plus twice the bytes of the waiting events.
constexpr std::size_t allowed_rest_bytes = 4 << 20;
constexpr std::chrono::seconds pause_after_failure{10};

}  // namespace

// Rewrites the file at the start, which removes forgotten events and damaged lines.
EventSpool::EventSpool(std::size_t limit, const std::string& path) : limit_(limit) {
    if (path.empty()) return;
    file_.emplace(path);
    auto read = file_->read(limit);
    events_ = std::move(read.waiting);
    dropped_ = static_cast<std::int64_t>(read.dropped);
    if (read.damaged > 0) log_warning("{}: ignoring {} lines that are not events", path, read.damaged);
    if (!events_.empty()) log_info("{} events are waiting in {}", events_.size(), path);
    for (const auto& [number, event] : events_) live_bytes_ += event->json.size();
    if (!events_.empty()) newest_ = events_.rbegin()->first;
    file_->rewrite(events_);
}

void EventSpool::add(const SharedEvent& event) {
    if (events_.size() >= limit_) drop_oldest();
    events_.emplace(++newest_, event);
    live_bytes_ += event->json.size();
    if (file_) keep(!failed_ && file_->add(newest_, event->json));
}

// Never drops an event that was handed out, because it may have been delivered.
void EventSpool::drop_oldest() {
    const auto oldest = events_.upper_bound(handed_);
    if (oldest == events_.end()) return;
    const auto number = oldest->first;
    live_bytes_ -= oldest->second->json.size();
    events_.erase(oldest);
    ++dropped_;
    if (file_ && !failed_) keep(file_->forget(number));
}

std::optional<EventSpool::Handed> EventSpool::hand_out() {
    const auto next = events_.upper_bound(handed_);
    if (next == events_.end()) return std::nullopt;
    handed_ = next->first;
    return Handed{next->first, next->second};
}

void EventSpool::forget(std::uint64_t number) {
    const auto found = events_.find(number);
    if (found == events_.end()) return;
    live_bytes_ -= found->second->json.size();
    events_.erase(found);
    if (file_ && !failed_) keep(file_->forget(number));
}

bool EventSpool::has_motion_of(const std::string& camera) const {
    return std::ranges::any_of(events_, [&camera](const auto& entry) {
        return entry.second->type == Event::Type::motion && entry.second->camera == camera;
    });
}

// Rewrites the file if it contains too many forgotten events, or if writing failed now or before.
void EventSpool::keep(bool written) {
    if (written && file_->bytes() <= allowed_rest_bytes + 2 * live_bytes_) return;
    const auto now = Clock::now();
    if (failed_ && now < next_attempt_) return;
    try {
        file_->rewrite(events_);
        if (failed_) log_info("events are stored in {} again", file_->path());
        failed_ = false;
    } catch (const Error& error) {
        if (!failed_) log_warning("{}; events are kept only in memory until it can be written again", error.what());
        failed_ = true;
        next_attempt_ = now + pause_after_failure;
    }
}

namespace {

constexpr std::string_view first_line = "framewire events 1\n";
constexpr std::size_t longest_number = 21, longest_line = max_event_bytes + longest_number + 3;
constexpr mode_t owner_alone = 0600;

// Writes the whole text. Returns false if that fails.
bool write_whole(int file, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string event_line(std::uint64_t number, std::string_view json) { return fmt::format("+{} {}\n", number, json); }

// Parses one line without its line break. Returns false if it is invalid.
bool take_line(std::string_view line, SpoolFile::Read& read) {
    if (line.empty() || line.size() > longest_line) return false;
    const char kind = line.front();
    line.remove_prefix(1);
    std::uint64_t number = 0;
    if (take_number(line, number) != std::errc{}) return false;
    if (kind == '-' && line.empty()) return read.waiting.erase(number), true;
    if (kind != '+' || !line.starts_with(' ')) return false;
    auto event = read_event(line.substr(1));
    if (!event) return false;
    read.waiting[number] = std::make_shared<const Event>(std::move(*event));
    return true;
}

// Calls `take` with each complete line. Lines longer than any valid one are truncated in memory.
template <class Take>
void for_each_line(int file, const std::string& path, const Take& take) {
    std::array<char, 1 << 16> piece{};
    std::string line;
    for (;;) {
        const auto got = ::read(file, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(ErrorCode::io, "{} cannot be read: {}", path, std::strerror(errno));
        if (got == 0) return;
        std::string_view rest(piece.data(), static_cast<std::size_t>(got));
        for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
            line.append(rest.substr(0, end));
            take(line);
            line.clear();
            rest.remove_prefix(end + 1);
        }
        if (line.size() <= longest_line) line.append(rest);
    }
}

}  // namespace

SpoolFile::SpoolFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, owner_alone)) {
    if (descriptor_ < 0) fail(ErrorCode::io, "{} cannot be opened: {}", path, std::strerror(errno));
    struct stat own {
    }, named{};
    const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const bool regular = ::fstat(descriptor_, &own) == 0 && S_ISREG(own.st_mode);
    // Another program may have replaced the file between open() and flock().
    const bool current = ::stat(path.c_str(), &named) == 0 && named.st_ino == own.st_ino;
    if (locked && regular && current) return;
    ::close(descriptor_);
    if (!regular) fail(ErrorCode::config, "{} is not a regular file, so it cannot store events", path);
    fail(ErrorCode::config, "{} is in use: another framewire process stores its events there", path);
}

SpoolFile::~SpoolFile() { ::close(descriptor_); }

SpoolFile::Read SpoolFile::read(std::size_t limit) {
    Read read;
    bool begun = false;
    if (::lseek(descriptor_, 0, SEEK_SET) < 0)
        fail(ErrorCode::io, "{} cannot be read: {}", path_, std::strerror(errno));
    for_each_line(descriptor_, path_, [&](std::string_view line) {
        if (!std::exchange(begun, true)) {
            if (line != first_line.substr(0, first_line.size() - 1))
                fail(ErrorCode::config, "{} is not an event file: its first line is not '{}'", path_,
                     first_line.substr(0, first_line.size() - 1));
            return;
        }
        if (!take_line(line, read)) ++read.damaged;
        if (read.waiting.size() <= limit) return;
        read.waiting.erase(read.waiting.begin());
        ++read.dropped;
    });
    const auto size = ::lseek(descriptor_, 0, SEEK_END);
    if (!begun && size >= static_cast<off_t>(first_line.size()))
        fail(ErrorCode::config, "{} is not an event file", path_);
    bytes_ = static_cast<std::size_t>(size);
    return read;
}

// Writes a new file, locks and syncs it, and renames it over the old one; the old lock ends with its descriptor.
void SpoolFile::rewrite(const WaitingEvents& waiting) {
    const auto unfinished = path_ + ".new";
    ::unlink(unfinished.c_str());
    const int file = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, owner_alone);
    if (file < 0) fail(ErrorCode::io, "{} cannot be written: {}", unfinished, std::strerror(errno));
    std::size_t bytes = first_line.size();
    bool whole = ::flock(file, LOCK_EX | LOCK_NB) == 0 && write_whole(file, first_line);
    for (auto event = waiting.begin(); whole && event != waiting.end(); ++event) {
        const auto line = event_line(event->first, event->second->json);
        bytes += line.size();
        whole = write_whole(file, line);
    }
    if (whole && ::fsync(file) == 0 && ::rename(unfinished.c_str(), path_.c_str()) == 0) {
        ::close(std::exchange(descriptor_, file));
        bytes_ = bytes;
        return;
    }
    const int problem = errno;
    ::close(file);
    ::unlink(unfinished.c_str());
    fail(ErrorCode::io, "{} cannot be written: {}", path_, std::strerror(problem));
}

bool SpoolFile::add(std::uint64_t number, std::string_view json) {
    const auto line = event_line(number, json);
    bytes_ += line.size();
    return write_whole(descriptor_, line);
}

bool SpoolFile::forget(std::uint64_t number) {
    const auto line = fmt::format("-{}\n", number);
    bytes_ += line.size();
    return write_whole(descriptor_, line);
}

}  // namespace framewire::service
