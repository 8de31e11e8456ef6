#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/fwd/file/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::fwd {

/// Properties of a `.fwd` file that are known before its first frame.
struct Recording {
    Shape shape{};
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;
    Rational rate{30, 1};
    Rational pixel_aspect{1, 1};
    bool live = false;                      ///< frames have a time of day
    std::optional<double> begin_seconds{};  ///< the source time that is 0 in the file; default: that of the first frame
};

/// Writes packed frames to a `.fwd` file: a frame is in the file when write() returns, and the index follows at the
/// end. Not thread-safe.
class Writer {
public:
    /// Opens the file. Threads of `pool`, which must outlive this object, compute checksums. Throws Error{io}.
    Writer(const std::string& path, const Recording& recording, const OutputFileOptions& options,
           const ThreadPool& pool);

    /// Writes one frame encoded by a delta packer. The first frame must be a keyframe. Throws Error{io}.
    void write(ByteSpan packed, const FrameTime& time);

    /// Writes the index and gives the file its name. Throws Error{io}.
    void finish(Ending ending);

    std::int64_t bytes() const { return file_.bytes(); }
    const std::string& name() const { return file_.name(); }

private:
    // Writes the headers.
    void begin(const FrameTime& time);
    // Time of a frame in units of the time base, later than the previous one.
    std::int64_t ticks_of(const FrameTime& time);

    OutputFile file_;
    Recording recording_;
    Rational time_base_;
    const ThreadPool* pool_;
    IndexWriter index_;
    Bytes record_;  // of the frame being written
    std::vector<delta::CodedBlock> coded_;
    std::optional<double> first_seconds_;
    std::uint32_t frames_ = 0;
    std::int64_t last_ticks_ = -1;
    double shifted_seconds_ = 0;
    bool warned_ = false;
};

}  // namespace framewire::fwd
