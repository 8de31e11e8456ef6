#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/stream.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace framewire {

/// The processor that runs operations.
enum class Backend { cpu, cuda };

/// Returns "cpu" or "cuda".
std::string_view to_string(Backend backend);

/// Values of the option `--backend`.
enum class BackendChoice { automatic, cpu, cuda };

/// Parses "auto", "cpu" or "cuda". Throws Error{usage} for any other text.
BackendChoice parse_backend(std::string_view text);

/// Runs plans: holds the chosen backend, a thread pool for the CPU and, with CUDA, three streams. A plan
/// keeps a reference to the executor that it was made for and runs on its backend. Move-only, but an executor
/// that plans refer to must not be moved.
///
/// With CUDA there are three streams of one GPU, so that copies overlap with kernels:
///     uploads() -> stream() -> downloads()
///
/// A process may have executors on several GPUs. The executor's GPU becomes the current one of a thread that constructs
/// the executor, enters in_its_space(), makes backend memory, or queues work. Other threads that construct objects on
/// the GPU call use_gpu() first.
class Executor {
public:
    /// Chooses the backend once and logs it. `automatic` chooses CUDA if there is a GPU, else the CPU. `cuda`
    /// without a usable GPU throws Error{config}; the executor never falls back silently. `threads` is passed
    /// to ThreadPool. `gpu` is an index of cuda::devices(); it is ignored on the CPU backend. Throws Error{config} if
    /// there are GPUs, but not this one.
    explicit Executor(BackendChoice choice = BackendChoice::automatic, int threads = 0, int gpu = 0);

    /// Returns the backend that was chosen. It never changes.
    Backend backend() const { return backend_; }
    /// Returns the index of the executor's GPU; empty on the CPU backend.
    std::optional<int> gpu() const { return streams_ ? std::optional(streams_->work.device()) : std::nullopt; }
    /// Makes the executor's GPU the current one of the calling thread. Does nothing on the CPU backend.
    void use_gpu() const;
    /// Returns the threads of the CPU backend; they exist with CUDA too, for work on the host.
    const ThreadPool& pool() const { return pool_; }
    /// Returns the stream of the kernels. Throws Error{internal} on the CPU backend, as do uploads() and downloads().
    const cuda::Stream& stream() const { return streams().work; }
    /// Returns the stream of the copies to the GPU.
    const cuda::Stream& uploads() const { return streams().up; }
    /// Returns the stream of the copies from the GPU.
    const cuda::Stream& downloads() const { return streams().down; }
    /// Records the commands that `body` queues on stream() as a graph; see cuda::Graph for its rules.
    template <class Body>
    cuda::Graph record(Body&& body) const {
        return cuda::Graph(stream(), std::forward<Body>(body));
    }
    /// Blocks until all work queued on stream() is done, and throws if it failed. Returns at once on the CPU
    /// backend, whose operations are synchronous.
    void synchronize() const;
    /// Returns the host memory from which the backend reads frames fastest: pinned memory for CUDA, else the
    /// heap.
    HostMemory& frame_memory() const;

    /// Calls the template `body.operator()` with the backend's memory space and returns its result. On CUDA the
    /// executor's GPU is current meanwhile. This is the only place that turns a backend into a type. Builds without
    /// CUDA do not instantiate code for device memory.
    template <class Body>
    decltype(auto) in_its_space(Body&& body) const {
        if constexpr (cuda::compiled)
            if (backend_ == Backend::cuda) {
                use_gpu();
                return body.template operator()<MemorySpace::device>();
            }
        return body.template operator()<MemorySpace::host>();
    }
    /// Throws Error{internal} if the backend works in a memory space other than `space`. `who` names the
    /// receiver in the message: "a chain".
    template <MemorySpace space>
    void require_space(const char* who) const {
        if ((space == MemorySpace::device) != (backend_ == Backend::cuda)) refuse_space(who);
    }

    /// Lets step() report the duration of each step: `tell` receives the step's name and its milliseconds, on
    /// the thread that ran it. On the CUDA backend every reported step is waited for, so nothing overlaps: this
    /// measures the steps themselves, not the throughput of a run.
    void time_steps(std::function<void(std::string_view name, double ms)> tell) { tell_ = std::move(tell); }
    /// Returns true if time_steps() was given a function.
    bool times_steps() const { return static_cast<bool>(tell_); }
    /// Runs `body` as one step of processing a frame, and reports its duration if time_steps() asks for it. A
    /// step inside another step is part of it and not reported.
    template <class Body>
    void step(std::string_view name, Body&& body) const {
        if (!tell_ || in_step()) return std::forward<Body>(body)();
        const InStep mark;
        wait_for_all();
        const auto begin = Clock::now();
        std::forward<Body>(body)();
        wait_for_all();
        tell_(name, milliseconds_since(begin));
    }

private:
    /// Blocks until all work queued on any of the streams is done.
    void wait_for_all() const;
    /// Returns a flag that is true while this thread is inside a reported step.
    static bool& in_step();
    struct InStep {
        InStep() { in_step() = true; }
        ~InStep() { in_step() = false; }
        InStep(const InStep&) = delete;
        InStep& operator=(const InStep&) = delete;
    };

    struct Streams {
        cuda::Stream work, up, down;
    };
    const Streams& streams() const;
    [[noreturn]] void refuse_space(const char* who) const;

    Backend backend_;
    ThreadPool pool_;
    std::optional<Streams> streams_;
    std::function<void(std::string_view, double)> tell_;
};

}  // namespace framewire

namespace framewire::cuda {

/// Copies between host and GPU that run in parallel to the executor's stream but in a defined order with it. The
/// owner must call wait() before it frees memory that the copies use; the destructor waits too. On the CPU backend
/// nothing is copied and every call returns at once. Only one thread at a time may use an object; several objects may
/// have copies in flight at once. Move-only.
class Transfer {
public:
    Transfer();
    /// Keeps a reference to `executor`, which must outlive the object.
    explicit Transfer(const Executor& executor);
    Transfer(Transfer&&) noexcept;
    Transfer& operator=(Transfer&&) noexcept;
    ~Transfer();

    /// Calls queue(stream), which queues copies to the GPU on the upload stream. Work queued later on the
    /// executor's stream waits for them. The copies themselves wait for nothing, so the memory that they write
    /// must no longer be in use.
    template <class Queue>
    void up(Queue&& queue) {
        begin_up(queue);
        join_up();
    }
    /// Does the first half of up(): queues the copies, or other work that writes the same memory. join_up() then
    /// makes the executor's stream wait for them. begin_up() may be called by a thread other than the one that queues
    /// the work.
    template <class Queue>
    void begin_up(Queue&& queue) {
        if (!events_) return;
        queue(executor_->uploads());
        finish_up();
    }
    /// Makes the executor's stream wait for what begin_up() queued.
    void join_up();

    /// Calls queue(stream), which queues copies to the host on the download stream. They wait for all work
    /// queued so far on the executor's stream; nothing on that stream waits for them.
    template <class Queue>
    void down(Queue&& queue) {
        if (!events_) return;
        begin_down();
        queue(executor_->downloads());
        finish_down();
    }

    /// Blocks until the last copies are done. Throws if they, or the work before them, failed.
    void wait();

private:
    struct Events;

    void begin_down();
    void finish_up();
    void finish_down();

    const Executor* executor_ = nullptr;
    std::unique_ptr<Events> events_;
};

/// Returns true if work queued on `stream` by this thread is recorded for a Graph instead of being run.
bool is_recording(const Stream& stream);

/// Records work that a GPU may run in parallel: the commands that body(0), body(1), ... queue on `stream`
/// become `count` branches of the graph. is_recording(stream) must be true. Every branch waits for all work
/// recorded before the call but not for the other branches; work recorded after the call waits for all
/// branches.
///
///             +-> body(0) -+
///     before -+-> body(1) -+-> after
///             +-> body(2) -+
void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body);

}  // namespace framewire::cuda
