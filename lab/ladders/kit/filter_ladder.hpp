#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace framewire::bench {

/// What a row of a ladder says beside its times.
struct LadderVariant {
    std::string operation;
    std::map<std::string, std::string> details{};
    std::string note{};
    std::optional<Reported> reported{};
    bool pageable = false;  ///< on a GPU: transfers from and to ordinary memory, each step waited for
};

/// Throws Error{internal} naming the operation unless an image is right.
using ImageCheck = std::function<void(HostView<const std::uint8_t> got, const std::string& operation)>;
/// The image must be `want`, which the check refers to.
ImageCheck image_is(HostView<const std::uint8_t> want);

/// Makes the result of a frame on the CPU.
using CpuLoop = std::function<void(HostView<const std::uint8_t> in, HostView<std::uint8_t> out)>;

/// What a variant queues on the session's stream; after the last of its steps the result is there.
struct LadderStep {
    std::string name;  ///< "kernel", "memset", ...
    std::function<void()> queue;
};

/// Ways of making one image of another, each checked before it is timed: rows of `ladders/NAME`. A variant that fails
/// is told of by the session, and the next ones still run. On a GPU the frame, its result and pinned memory for both
/// are kept.
class FilterLadder {
public:
    /// Refers to `session` and `in`, one frame without gaps. `details` go with every row.
    FilterLadder(Session& session, std::string name, HostView<const std::uint8_t> in, const Shape& out_shape,
                 std::map<std::string, std::string> details = {});

    /// Where the frame and the result are on the GPU. There are 64 bytes behind each that nobody uses.
    const std::uint8_t* device_in() const { return device_in_.data(); }
    std::uint8_t* device_out() const { return device_out_.data(); }

    /// A loop on one thread, and one that works on the caller's own data, as a step of a job does; `check` throws.
    void cpu(const LadderVariant& variant, const CpuLoop& loop, const ImageCheck& check);
    void cpu_step(const LadderVariant& variant, const std::function<void()>& loop, const std::function<void()>& check);
    /// Kernels: a row for each step, and one with the transfers, waited for, to which the report's figure belongs
    /// unless it is of the `reported_step`. Only on a GPU.
    void gpu(const LadderVariant& variant, const std::vector<LadderStep>& steps, const ImageCheck& check,
             const std::string& reported_step = "whole");
    /// framewire's own filter, on the CPU and, where there is one, the GPU.
    void framewire(const LadderVariant& variant, const FilterInfo& info, const ParameterValues& values,
                   const ImageCheck& check);
    /// The two transfers of a frame, each on its own. Only on a GPU.
    void transfers();

private:
    /// What `run` makes of one frame, and how long it takes with frames in turn that no cache holds together.
    Timing check_and_time(const CpuLoop& run, const ImageCheck& check, const std::string& operation);
    void add(const LadderVariant& variant, const char* runner, const std::string& step, const Timing& timing,
             double bytes, bool is_reported, const char* limit = "");
    void gpu_rows(const LadderVariant& variant, const char* runner, const std::vector<LadderStep>& steps,
                  const ImageCheck& check, const std::string& reported_step);

    Session* session_;
    std::string name_;
    HostView<const std::uint8_t> in_;
    Shape out_shape_;
    std::map<std::string, std::string> details_;
    double bytes_;
    cuda::DeviceBuffer device_in_, device_out_;
    HostImage pinned_in_, pinned_out_;
};

}  // namespace framewire::bench
