#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time/clock.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/cuda/device/device.hpp"
#include "framewire/cuda/stream.hpp"

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace framewire {

enum class Backend { cpu, cuda };

/// "cpu" or "cuda".
std::string_view to_string(Backend backend);

/// What `--backend` may say.
enum class BackendChoice { automatic, cpu, cuda };

/// Reads "auto", "cpu" or "cuda"; throws Error{usage} on anything else.
BackendChoice parse_backend(std::string_view text);

/// What a plan runs on: the CPU's thread pool, and with the CUDA backend a stream of its own. Plans keep a reference
/// to the executor they were made for and run on its backend. Move-only, but do not move one that plans refer to.
class Executor {
public:
    /// `automatic` takes CUDA when there is a GPU. The choice is made here, once, and logged; Error{config} when the
    /// one asked for cannot serve, never a silent change to the other. `threads` as in ThreadPool.
    explicit Executor(BackendChoice choice = BackendChoice::automatic, int threads = 0);

    Backend backend() const { return backend_; }
    const ThreadPool& pool() const { return pool_; }
    /// The CUDA backend's stream of work, and those on which frames come up and results go down beside it. Throw
    /// Error{internal} on the CPU backend.
    const cuda::Stream& stream() const { return streams().work; }
    const cuda::Stream& uploads() const { return streams().up; }
    const cuda::Stream& downloads() const { return streams().down; }
    /// Records what `body` queues on stream(), as Graph says.
    template <class Body>
    cuda::Graph record(Body&& body) const {
        return cuda::Graph(stream(), std::forward<Body>(body));
    }
    /// Returns when the work queued on the stream of work is over; throws what it failed with. On the CPU backend there
    /// is none.
    void synchronize() const;
    /// What plans of the CUDA backend fit their blocks to; nothing on the CPU backend.
    const cuda::SharedMemory& shared_memory() const { return shared_memory_; }
    /// Plans made from now on make do with so much, or with what there is where that is less: a smaller GPU, for tests.
    void limit_shared_memory(const cuda::SharedMemory& most);
    /// The memory frames should live in so that the backend reads them fastest: pinned for CUDA, else the heap.
    HostMemory& frame_memory() const;

    /// Gives body.operator()<space>() with the memory space that the backend works in: the one place that turns a
    /// backend into a type. Code for device memory is left out of builds without CUDA.
    template <class Body>
    decltype(auto) in_its_space(Body&& body) const {
        if constexpr (cuda::compiled)
            if (backend_ == Backend::cuda) return body.template operator()<MemorySpace::device>();
        return body.template operator()<MemorySpace::host>();
    }
    /// Throws Error{internal} where the backend works in other memory than `space`. `who` was given it: "a chain".
    template <MemorySpace space>
    void require_space(const char* who) const {
        if ((space == MemorySpace::device) != (backend_ == Backend::cuda)) refuse_space(who);
    }

    /// Lets step() tell how long steps take: `tell` gets a step's name and its milliseconds, from the thread that did
    /// it. On the CUDA backend a step that is told of is waited for, so that nothing overlaps: for who wants to know
    /// the steps' own times, not the run's.
    void time_steps(std::function<void(std::string_view name, double ms)> tell) { tell_ = std::move(tell); }
    bool times_steps() const { return static_cast<bool>(tell_); }
    /// Does `body`, which is a step of a frame's way. One within another is a part of that, and not told of.
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
    /// Returns when all that was queued on any of the streams is over.
    void wait_for_all() const;
    /// Whether this thread is within a step that is told of.
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
    cuda::SharedMemory shared_memory_;
    std::function<void(std::string_view, double)> tell_;
};

}  // namespace framewire
