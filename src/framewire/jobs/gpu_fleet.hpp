#pragma once

#include "framewire/cuda/executor.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// Processor on which jobs can run.
struct Processor {
    BackendChoice backend = BackendChoice::cuda;
    int gpu = 0;  ///< index of cuda::devices(), if the backend is cuda
};

/// Parses the value of `--gpus`: `all`, or indices of GPUs such as `0,2`. `there` are the indices of the GPUs of this
/// machine. Throws Error{usage} if the text is neither or names a GPU twice, and Error{config} if it names a GPU that
/// is not there.
std::vector<int> parse_gpus(std::string_view text, std::span<const int> there);

class GpuFleet;
class GpuShare;

/// Returns the GPUs for jobs with these values of `--backend` and `--gpus`; an empty text means the first GPU. With
/// `automatic`, the CPU is the last resort. Returns null if the backend is cpu, and if this machine has no GPU but the
/// text names none. Throws as parse_gpus() does, and Error{usage} if GPUs are named for the backend cpu.
std::shared_ptr<GpuFleet> make_gpu_fleet(BackendChoice backend, const std::string& gpus);

/// GPUs that are shared by jobs. Each job takes the least loaded one. A GPU that fails is not given to any further job;
/// its jobs can go on with another. Thread-safe.
class GpuFleet {
public:
    /// Load of a camera whose size is not known yet: 1080p with 30 frames per second. In pixels per second.
    static constexpr double usual_load = 1920.0 * 1080 * 30;

    /// `processors` are the GPUs, at least one. `last_resort` is for jobs when all of them have failed; if it is empty,
    /// there is none.
    explicit GpuFleet(std::vector<Processor> processors, std::optional<Processor> last_resort = {});
    ~GpuFleet();
    GpuFleet(const GpuFleet&) = delete;
    GpuFleet& operator=(const GpuFleet&) = delete;

    /// Gives a job the processor whose jobs have the smallest total load, the first of several. `load` is in a unit
    /// that all jobs of this object share. The share keeps the state of the fleet, which may be destroyed before.
    /// Throws Error{config} if every processor has failed and there is no last resort.
    std::shared_ptr<GpuShare> take(double load = usual_load);

    /// Declares that processor `index`, in the order of the constructor, has failed because of `why`, which is logged
    /// once.
    void mark_failed(int index, std::string_view why);

    /// Returns the total load of each processor, in the order of the constructor.
    std::vector<double> loads() const;

private:
    friend class GpuShare;
    struct State;
    std::shared_ptr<State> state_;
};

/// The processor of one job, from GpuFleet::take() until the object is destroyed. Thread-safe.
class GpuShare {
public:
    ~GpuShare();
    GpuShare(const GpuShare&) = delete;
    GpuShare& operator=(const GpuShare&) = delete;

    /// Returns the processor on which the job runs.
    const Processor& processor() const;
    /// Replaces the load of the job.
    void set_load(double load);
    /// Throws Error{internal} if the processor was declared failed, so that its jobs end and can go on elsewhere.
    void require_working() const;
    /// Returns true if the processor has failed: if it was declared failed, or if the GPU refuses work, which declares
    /// it failed. For a job that has ended with an error.
    bool has_failed();
    /// Returns true if has_failed() and there is another processor.
    bool must_move();

private:
    friend class GpuFleet;
    GpuShare(std::shared_ptr<GpuFleet::State> fleet, std::size_t index, double load);

    std::shared_ptr<GpuFleet::State> fleet_;
    std::size_t index_;
    double load_;  // guarded by the fleet's mutex
};

/// Returns a phrase for messages: "GPU 2" or "the CPU".
std::string to_string(const Processor& processor);

}  // namespace framewire::jobs
