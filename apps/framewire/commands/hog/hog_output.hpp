#pragma once

#include "options/hog_options.hpp"

#include "framewire/core/view.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/frames/frame_hog.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::app {

/// What descriptors go by.
struct DescribeOptions : HogOptions {
    std::string steps_folder;
    std::optional<int> streams;  ///< frames under way at once; none: as many as suit the backend

    static constexpr int most_streams = 8;
    /// How many. Throws Error{usage} on more than the backend takes.
    int streams_on(Backend backend) const;
};

/// An image's array is rows x columns x values; a video's has the frames before.
std::vector<std::int64_t> array_shape(const HogShape& shape);

/// Makes a folder, and those it lies in, where they are missing. Throws Error{io}.
void make_folder(const std::string& folder);

/// A PNG file of any name, which is there when it is whole; gives its bytes. Throws Error{io}.
std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options);

/// The pictures of `--steps`: of a frame whatever its norm, into a folder that is made where it is missing. Throws
/// Error{io}.
void write_steps(const DescribeOptions& options, HostView<const std::uint8_t> frame, Executor& executor);

/// What `--json` says of all descriptors.
class HogSummary {
public:
    /// The next frame's.
    void add(const float* values, std::int64_t count);
    /// Prints it; `shape` where all frames have one.
    void print(const DescribeOptions& options, const StatisticsSnapshot& figures, const RunDescription& run,
               const HogShape* shape) const;

private:
    std::int64_t frames_ = 0, values_ = 0;
    float largest_ = 0;  // no value is negative
    double sum_ = 0;
};

}  // namespace framewire::app
