#include "network/camera/frame_log.hpp"

#include "network/link/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace framewire::network {

constexpr std::uint32_t times_kept = 1u << 16;

struct FrameLog::Front {
    std::int32_t width, height, channels, pixels_kept;
    std::atomic<std::uint32_t> newest;
    std::atomic<std::int64_t> times_ns[times_kept];
};

namespace {

constexpr std::size_t front_room_bytes = std::size_t{1} << 20;

std::size_t bytes_of(const Shape& shape, int pixels_kept) {
    return front_room_bytes + static_cast<std::size_t>(shape.bytes()) * static_cast<std::size_t>(pixels_kept);
}

}  // namespace

FrameLog::FrameLog(const std::string& path, const Shape& shape, int pixels_kept) : shape_(shape) {
    static_assert(sizeof(Front) <= front_room_bytes && std::atomic<std::int64_t>::is_always_lock_free);
    const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    struct stat there {};
    if (file.number() < 0 || fstat(file.number(), &there) != 0)
        throw std::runtime_error("cannot open the frame log " + path);
    if (there.st_size == 0 && ftruncate(file.number(), static_cast<off_t>(bytes_of(shape, pixels_kept))) != 0)
        throw std::runtime_error("no space for " + path);
    map(file.number(), bytes_of(shape, pixels_kept), true);
    if (there.st_size == 0) {
        front_->width = shape.width, front_->height = shape.height, front_->channels = shape.channels;
        front_->pixels_kept = pixels_kept;
    } else if (front_->width != shape.width || front_->height != shape.height || front_->channels != shape.channels ||
               front_->pixels_kept != pixels_kept) {
        throw std::runtime_error(path + " belongs to another camera");
    }
}

FrameLog::FrameLog(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat there {};
    if (file.number() < 0 || fstat(file.number(), &there) != 0 || there.st_size < static_cast<off_t>(front_room_bytes))
        throw std::runtime_error("cannot open the frame log " + path);
    map(file.number(), static_cast<std::size_t>(there.st_size), false);
    shape_ = {1, front_->height, front_->width, front_->channels};
}

FrameLog::~FrameLog() { munmap(front_, mapped_bytes_); }

void FrameLog::map(int descriptor, std::size_t bytes, bool writable) {
    void* memory = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map the frame log");
    front_ = static_cast<Front*>(memory);
    mapped_bytes_ = bytes;
}

std::uint32_t FrameLog::newest() const { return front_->newest.load(std::memory_order_acquire); }

std::uint8_t* FrameLog::slot(std::uint32_t frame) const {
    const auto index = frame % static_cast<std::uint32_t>(front_->pixels_kept);
    return reinterpret_cast<std::uint8_t*>(front_) + front_room_bytes +
           static_cast<std::size_t>(shape_.bytes()) * index;
}

HostView<std::uint8_t> FrameLog::next_pixels() { return {slot(newest() + 1), shape_}; }

void FrameLog::add() {
    const auto frame = newest() + 1;
    front_->times_ns[frame % times_kept] =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
    front_->newest.store(frame, std::memory_order_release);
}

std::optional<Clock::time_point> FrameLog::captured(std::uint32_t frame) const {
    const auto last = newest();
    if (frame == 0 || frame > last || last - frame >= times_kept - 1) return std::nullopt;
    return Clock::time_point(std::chrono::nanoseconds(front_->times_ns[frame % times_kept].load()));
}

// Returns null for the oldest frame in the log, too: the writer may already be overwriting its slot.
const std::uint8_t* FrameLog::pixels(std::uint32_t frame) const {
    const auto last = newest();
    if (frame == 0 || frame > last || last - frame + 1 >= static_cast<std::uint32_t>(front_->pixels_kept))
        return nullptr;
    return slot(frame);
}

}  // namespace framewire::network
