#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace framewire::delta {

/// Result of comparing one frame with the reference picture R, without the changes themselves.
struct Summary {
    std::uint32_t count = 0;          ///< how many bytes changed by more than the threshold
    std::uint32_t max_error = 0;      ///< largest |camera - R| after the update
    std::uint64_t squared_error = 0;  ///< sum of (camera - R)^2 after the update, for the PSNR
};

/// Adds the result for another area of the same frame to `sum`: counts and squared errors add up, `max_error` is the
/// maximum.
inline void add(Summary& sum, const Summary& more) {
    sum.count += more.count;
    sum.max_error = std::max(sum.max_error, more.max_error);
    sum.squared_error += more.squared_error;
}

/// Changes of a batch of streams in the layout of the streaming report, section 2 (h_pos, h_diff, h_xs). Stream s has
/// summaries[s].count changes. Their positions start at `positions + s * capacity` and their differences at
/// `differences + s * capacity`.
///
/// A position is a byte index in the frame, with rows counted without gaps; positions ascend. A difference is the new
/// byte minus the old one, modulo 256. The view owns nothing.
template <MemorySpace space>
struct ChangesView {
    std::uint32_t* positions = nullptr;   ///< `streams` rows of `capacity` entries
    std::uint8_t* differences = nullptr;  ///< same layout as `positions`
    Summary* summaries = nullptr;         ///< one per stream
    std::int64_t capacity = 0;            ///< entries per stream; an encoder needs one for every byte of a frame
    int streams = 0;

    /// Returns the changes of one stream as a view with `streams` 1.
    ChangesView of_stream(int stream) const {
        return {positions + stream * capacity, differences + stream * capacity, summaries + stream, capacity, 1};
    }
};

/// Throws Error{usage} unless `changes` has memory for every byte of a batch of `shape`, as an encoder needs it. `what`
/// names the changes in the message.
template <MemorySpace space>
void validate(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || changes.capacity < shape.frame_bytes() || !changes.positions ||
        !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " have no room for " + to_string(shape)).c_str());
}

/// Variant of validate() for changes that are only read: requires the number of streams and the pointers, but does not
/// check the capacity.
template <MemorySpace space>
void validate_found(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || !changes.positions || !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " are not those of " + to_string(shape)).c_str());
}

/// Owns the memory that a ChangesView describes. Move-only.
template <MemorySpace space>
class ChangesBuffer {
public:
    /// Makes an empty buffer.
    ChangesBuffer() = default;
    /// Allocates device memory for every byte of every frame of `shape`.
    explicit ChangesBuffer(const Shape& shape) requires(space == MemorySpace::device)
        : ChangesBuffer(shape.frames, shape.frame_bytes()) {}
    /// Allocates host memory for every byte of every frame of `shape` from `memory`. The default suits buffers
    /// that are mostly untouched, because usually few bytes of a frame change.
    explicit ChangesBuffer(const Shape& shape,
                           HostMemory& memory = sparse_memory()) requires(space == MemorySpace::host)
        : ChangesBuffer(shape.frames, shape.frame_bytes(), memory) {}
    /// Allocates `capacity` entries per stream, for changes whose number has a known bound. `memory`: optional host
    /// memory to allocate from.
    template <class... Memory>
    ChangesBuffer(int streams, std::int64_t capacity, Memory&... memory)
        : capacity_(capacity),
          streams_(streams),
          positions_(count() * sizeof(std::uint32_t), memory...),
          differences_(count(), memory...),
          summaries_(static_cast<std::size_t>(streams) * sizeof(Summary), memory...) {}

    /// Returns a view of the whole buffer. It stays valid until the buffer is moved from or destroyed.
    ChangesView<space> view() const {
        return {positions_.template as<std::uint32_t>(), differences_.data(), summaries_.template as<Summary>(),
                capacity_, streams_};
    }

private:
    std::size_t count() const { return static_cast<std::size_t>(streams_) * static_cast<std::size_t>(capacity_); }

    std::int64_t capacity_ = 0;
    int streams_ = 0;
    BufferIn<space> positions_, differences_, summaries_;
};

/// Changes in host memory and in device memory.
using HostChanges = ChangesBuffer<MemorySpace::host>;
using DeviceChanges = ChangesBuffer<MemorySpace::device>;

}  // namespace framewire::delta
