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

/// What a `.fwd` file tells of its frames, as far as it is known before the first.
struct Recording {
    Shape shape{};
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;
    Rational rate{30, 1};
    Rational pixel_aspect{1, 1};
    bool live = false;                      ///< frames have a time of day
    std::optional<double> begin_seconds{};  ///< which time is the file's 0; none: that of the first frame
};

/// Writes packed frames into a `.fwd` file: each is there when write() returns, and the index at the end. Used by one
/// thread at a time.
class Writer {
public:
    /// Opens the file. Threads of `pool`, which lives longer, make checks. Throws Error{io}.
    Writer(const std::string& path, const Recording& recording, const OutputFileOptions& options,
           const ThreadPool& pool);

    /// Takes the bytes that a delta packer made of one frame. The first is a picture. Throws Error{io}.
    void write(ByteSpan packed, const FrameTime& time);

    /// Writes the index and lets the file appear. Throws Error{io}.
    void finish(Ending ending);

    std::int64_t bytes() const { return file_.bytes(); }
    const std::string& name() const { return file_.name(); }

private:
    void begin(const FrameTime& time);
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
