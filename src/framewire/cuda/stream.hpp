#pragma once

#include <utility>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace framewire::cuda {

/// A queue of work on the current GPU, not synchronizing with the default stream. Move-only.
class Stream {
public:
    /// Work of high priority goes first where a GPU has no room for all.
    enum class Priority { usual, high };
    /// Throws Error{config} without a GPU.
    explicit Stream(Priority priority = Priority::usual);
    ~Stream();
    Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    CUstream_st* handle() const { return handle_; }

    /// Blocks until all queued work is done; throws what it failed with.
    void synchronize() const;

private:
    CUstream_st* handle_ = nullptr;
};

/// A point in a stream's work. Move-only.
class Event {
public:
    /// Whether milliseconds_since() is asked; those without time cost less.
    enum class Timing { kept, none };
    explicit Event(Timing timing = Timing::kept);
    ~Event();
    Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    void record(const Stream& stream);
    /// Makes later work of `stream` wait for this point, without blocking the caller.
    void make_wait(const Stream& stream) const;
    void synchronize() const;
    /// Milliseconds from `begin` to this event; both recorded and done.
    float milliseconds_since(const Event& begin) const;

private:
    CUevent_st* handle_ = nullptr;
};

/// Work recorded once and launched many times for the price of one launch. Move-only.
class Graph {
public:
    /// Records what `body` queues on `stream`; nothing runs. `body` must not synchronize or allocate.
    template <class Body>
    Graph(const Stream& stream, Body&& body) {
        begin(stream);
        try {
            body();
        } catch (...) {
            abandon(stream);
            throw;
        }
        end(stream);
    }
    ~Graph();
    Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Graph& operator=(Graph&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    void launch(const Stream& stream) const;

private:
    static void begin(const Stream& stream);
    static void abandon(const Stream& stream) noexcept;
    void end(const Stream& stream);
    CUgraphExec_st* handle_ = nullptr;
};

}  // namespace framewire::cuda
