#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/clock.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace framewire {

/// When and where in its source a frame was taken.
struct FrameTime {
    std::int64_t index = 0;        ///< number in the source, from 0; dropped frames leave gaps
    double seconds = 0;            ///< presentation time in the source, from its start
    Clock::time_point captured{};  ///< when this machine had it
};

class FramePool;

/// A frame of a FramePool: image and time, counted references. Copying shares the image; the last one gone gives
/// the memory back to the pool. Whoever shares a frame agrees on who writes; the counting itself is thread-safe.
class Frame {
public:
    Frame() = default;
    Frame(const Frame& other) noexcept;
    Frame(Frame&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Frame& operator=(Frame other) noexcept {
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~Frame();

    explicit operator bool() const { return slot_ != nullptr; }
    HostView<std::uint8_t> view() const;
    FrameTime& time() const;

private:
    friend class FramePool;
    struct Slot;
    explicit Frame(Slot* slot) noexcept : slot_(slot) {}
    Slot* slot_ = nullptr;
};

/// A fixed set of frames of one shape, allocated once and reused: the report's circle of buffers.
/// Frames may outlive the pool object; its memory goes when the last of them does. Thread-safe.
class FramePool {
public:
    /// Throws Error{usage} on a shape that is not allowed or fewer than 1 frame, Error{config} without memory.
    FramePool(Shape shape, int frames, HostMemory& memory = heap_memory());
    ~FramePool();
    FramePool(FramePool&&) noexcept;
    FramePool& operator=(FramePool&&) noexcept;

    const Shape& shape() const;

    /// A free frame, waiting for one when all are in use; an empty Frame once close() was called.
    Frame acquire();
    /// A free frame, or an empty one when all are in use.
    Frame try_acquire();
    /// Wakes everyone who waits; from then on acquire() gives empty frames.
    void close();

    struct State;

private:
    std::shared_ptr<State> state_;
};

}  // namespace framewire
