#pragma once

#include <cstddef>
#include <functional>
#include <utility>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace framewire::cuda {

/// Source location of a call. std::source_location is missing from one of the standard libraries in use.
struct CallPlace {
    const char* file;
    int line;
    /// As a default argument, returns the place of the call that uses the default.
    static CallPlace current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// A queue of work on the GPU that was current when it was made. It does not synchronize with the default stream.
/// Move-only.
///
/// Queueing makes the stream's GPU the current one of the calling thread, so any thread may queue work.
/// While a thread records a Graph of a stream, the commands that this thread queues on the stream go into the
/// graph instead. The CUDA handle therefore depends on the moment of the call, and no caller may keep it:
/// queue() lends it for one call. Threads may queue on the same stream.
class Stream {
public:
    /// Scheduling priority: if the GPU cannot run all pending work at once, work of high priority goes first.
    enum class Priority { usual, high };
    /// Makes a stream on the current GPU. Throws Error{config} if there is none.
    explicit Stream(Priority priority = Priority::usual);
    ~Stream();
    Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), device_(other.device_) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(device_, other.device_);
        return *this;
    }

    /// Returns the index of the stream's GPU.
    int device() const { return device_; }

    /// Calls commands(CUstream_st*), which must queue at least one kernel or copy on that handle. All work on a
    /// stream is queued this way. Throws Error{internal}, which names `where`, if this thread is recording a
    /// graph and the commands did not get into it, or if it is recording the graph of another stream.
    template <class Commands>
    void queue(Commands&& commands, CallPlace where = CallPlace::current()) const {
        std::forward<Commands>(commands)(target(where));
        confirm(where);
    }

    /// Blocks until all queued work is done, and throws if any of it failed. Throws Error{internal} while this
    /// thread records a graph.
    void synchronize() const;

private:
    friend class Event;
    friend class Graph;
    friend bool is_recording(const Stream& stream);
    friend void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body);

    /// Makes the stream's GPU current, and returns the handle that this thread's commands go to now: the stream's own
    /// handle or that of the recording.
    CUstream_st* target(CallPlace where = CallPlace::current()) const;
    /// Checks, if this thread is recording, that the graph has grown.
    static void confirm(CallPlace where);

    CUstream_st* handle_ = nullptr;
    int device_ = 0;
};

/// A point in the work of a stream. Move-only.
class Event {
public:
    /// Selects whether milliseconds_since() can be used. Events without a time stamp are cheaper.
    enum class Timing { kept, none };
    /// Makes an event that has not been recorded, for streams of the current GPU.
    explicit Event(Timing timing = Timing::kept);
    ~Event();
    Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    /// Moves the event to the end of the work queued on `stream` so far, a stream of the same GPU.
    void record(const Stream& stream);
    /// Makes later work of `stream` wait for this point, without blocking the caller.
    void make_wait(const Stream& stream) const;
    /// Blocks until the work before the event is done, and throws if it failed.
    void synchronize() const;
    /// Returns the GPU time in milliseconds from `begin` to this event. Both must be recorded, done, and of
    /// kind Timing::kept.
    float milliseconds_since(const Event& begin) const;

private:
    friend class ForeignOrder;

    CUevent_st* handle_ = nullptr;
};

/// A sequence of commands that is recorded once and launched many times at the cost of a single launch.
/// Move-only.
class Graph {
public:
    /// Records the commands that `body` queues on `stream` from this thread, without running them. Other
    /// threads may queue work on the stream meanwhile; it runs as usual. `body` must not synchronize, allocate,
    /// or use any other stream. Throws Error{internal} if a queued command is missing from the graph, or if the
    /// graph is empty.
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

    /// Queues all recorded commands on `stream`. The memory that they use must still exist.
    void launch(const Stream& stream) const;

private:
    friend class Stream;

    /// A recording in progress on this thread. It captures a private stream, which no other code can reach.
    class Recording {
    public:
        explicit Recording(const Stream& stream);
        ~Recording();
        Recording(const Recording&) = delete;
        Recording& operator=(const Recording&) = delete;

        /// Returns this thread's recording, or null.
        static Recording*& current();
        /// Returns the capture stream's handle if `handle` is the recorded stream; throws Error{internal} if it
        /// is another one.
        CUstream_st* target_of(CUstream_st* handle, CallPlace where) const;
        /// Throws Error{internal} unless the graph has grown since the last call.
        void confirm(CallPlace where);
        /// Ends the capture and returns the executable graph.
        CUgraphExec_st* finish();

    private:
        CUstream_st* recorded_;
        Stream capture_;
        std::size_t nodes_ = 0;  // number of nodes at the last confirm()
        bool capturing_ = false;
    };

    CUgraphExec_st* handle_ = nullptr;
};

}  // namespace framewire::cuda
