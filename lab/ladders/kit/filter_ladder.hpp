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

/// Contents of a ladder's row other than its times.
struct LadderVariant {
    std::string operation;
    std::map<std::string, std::string> details{};
    std::string note{};
    std::optional<Reported> reported{};
    bool pageable = false;  ///< on a GPU, transfers use pageable memory and each step is waited for
};

/// Throws Error{internal} naming the operation if an image is wrong.
using ImageCheck = std::function<void(HostView<const std::uint8_t> got, const std::string& operation)>;
/// Returns a check that the image equals `want`, which the check refers to.
ImageCheck image_is(HostView<const std::uint8_t> want);

/// Computes the result of a frame on the CPU.
using CpuLoop = std::function<void(HostView<const std::uint8_t> in, HostView<std::uint8_t> out)>;

/// Work that a variant queues on the session's stream; after its last step the result is complete.
struct LadderStep {
    std::string name;  ///< "kernel", "memset", ...
    std::function<void()> queue;
};

/// Compares ways of making one image from another, and checks each one before it is timed. Adds the rows of
/// `ladders/NAME`. If a variant fails, the session reports it and continues with the next ones. On a GPU the object
/// holds the frame, its result and pinned memory for both.
class FilterLadder {
public:
    /// Refers to `session` and to `in`, one dense frame. `details` are added to every row.
    FilterLadder(Session& session, std::string name, HostView<const std::uint8_t> in, const Shape& out_shape,
                 std::map<std::string, std::string> details = {});

    /// Return the device addresses of the frame and the result. Each is followed by 64 unused bytes.
    const std::uint8_t* device_in() const { return device_in_.data(); }
    std::uint8_t* device_out() const { return device_out_.data(); }

    /// Measures a loop on one thread, and one that works on the caller's own data as a step of a job; `check` throws on
    /// a wrong result.
    void cpu(const LadderVariant& variant, const CpuLoop& loop, const ImageCheck& check);
    void cpu_step(const LadderVariant& variant, const std::function<void()>& loop, const std::function<void()>& check);
    /// Measures kernels: one row for each step, and one including the transfers and the wait for them, to which the
    /// report's figure belongs unless it is that of `reported_step`. Only on a GPU.
    void gpu(const LadderVariant& variant, const std::vector<LadderStep>& steps, const ImageCheck& check,
             const std::string& reported_step = "whole");
    /// Measures framewire's own filter on the CPU and, if there is one, on the GPU.
    void framewire(const LadderVariant& variant, const FilterInfo& info, const ParameterValues& values,
                   const ImageCheck& check);
    /// Measures the two transfers of a frame separately. Only on a GPU.
    void transfers();

private:
    /// Checks the result of `run` for one frame, and times it with frames that together exceed the caches.
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
