#pragma once

#include <cstddef>
#include <functional>
#include <utility>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace framewire::cuda {

/// Where in the sources a function was called; std::source_location is not in all standard libraries in use.
struct CallPlace {
    const char* file;
    int line;
    static CallPlace current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// A queue of work on the current GPU, not synchronizing with the default stream. Move-only.
///
/// While a thread records a Graph of a stream, what that thread queues on the stream goes into the graph. The CUDA
/// handle therefore depends on the moment, and nobody can keep it: queue() lends it for one call.
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

    /// Calls commands(CUstream_st*), which queues kernels or copies there, at least one. Everything that runs on a
    /// stream is queued this way. Throws Error{internal}, naming `where`, if this thread records a graph that the
    /// commands did not reach, or records that of another stream.
    template <class Commands>
    void queue(Commands&& commands, CallPlace where = CallPlace::current()) const {
        std::forward<Commands>(commands)(target(where));
        confirm(where);
    }

    /// Blocks until all queued work is done; throws what it failed with. Not while a graph of it is recorded.
    void synchronize() const;

private:
    friend class Event;
    friend class Graph;
    friend bool is_recording(const Stream& stream);
    friend void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body);

    /// The handle that this thread's commands go to now.
    CUstream_st* target(CallPlace where = CallPlace::current()) const;
    static void confirm(CallPlace where);

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
    /// Records what `body` queues on `stream` from this thread; nothing runs. Other threads go on queueing there
    /// meanwhile. `body` must not synchronize or allocate, and uses no other stream. Throws Error{internal} if it
    /// queues anything that the graph does not hold in the end, or nothing at all.
    template <class Body>
    Graph(const Stream& stream, Body&& body) {
        Recording recording(stream);
        std::forward<Body>(body)();
        handle_ = recording.finish();
    }
    ~Graph();
    Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Graph& operator=(Graph&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    void launch(const Stream& stream) const;

private:
    friend class Stream;

    /// A recording under way on this thread. The capture has a stream of its own, which nobody else can reach.
    class Recording {
    public:
        explicit Recording(const Stream& stream);
        ~Recording();
        Recording(const Recording&) = delete;
        Recording& operator=(const Recording&) = delete;

        /// This thread's recording, or null.
        static Recording*& current();
        /// Returns what stands for `handle` meanwhile.
        CUstream_st* target_of(CUstream_st* handle, CallPlace where) const;
        /// Expects the graph to have grown since the last call.
        void confirm(CallPlace where);
        CUgraphExec_st* finish();

    private:
        CUstream_st* recorded_;
        Stream capture_;
        std::size_t nodes_ = 0;  // that confirm() has seen
        bool capturing_ = false;
    };

    CUgraphExec_st* handle_ = nullptr;
};

}  // namespace framewire::cuda
