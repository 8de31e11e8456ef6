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

/// What one frame's comparison with the reference found, apart from the changes themselves.
struct Summary {
    std::uint32_t count = 0;          ///< how many bytes changed by more than the threshold
    std::uint32_t max_error = 0;      ///< largest |camera - R| after the update
    std::uint64_t squared_error = 0;  ///< sum of (camera - R)^2 after the update, for the PSNR
};

/// Adds what was found in another part of the frame.
inline void add(Summary& sum, const Summary& more) {
    sum.count += more.count;
    sum.max_error = std::max(sum.max_error, more.max_error);
    sum.squared_error += more.squared_error;
}

/// The report's three outputs (streaming report, section 2: h_pos, h_diff, h_xs) for a batch of streams: for stream s,
/// summaries[s].count changes, their positions (byte index in the frame, rows without gaps, ascending) from
/// positions + s * capacity on and their differences, new minus old modulo 256, from differences + s * capacity on.
template <MemorySpace space>
struct ChangesView {
    std::uint32_t* positions = nullptr;
    std::uint8_t* differences = nullptr;
    Summary* summaries = nullptr;
    std::int64_t capacity = 0;  ///< changes each stream has room for: the bytes of a frame
    int streams = 0;

    /// Those of one stream alone.
    ChangesView of_stream(int stream) const {
        return {positions + stream * capacity, differences + stream * capacity, summaries + stream, capacity, 1};
    }
};

/// Throws Error{usage} unless `changes` has memory for every byte of a batch of `shape`. `what` names it in the
/// message.
template <MemorySpace space>
void validate(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || changes.capacity < shape.frame_bytes() || !changes.positions ||
        !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " have no room for " + to_string(shape)).c_str());
}

/// The same for changes that are there, to be read: they need room for no more than those, which is not looked at.
template <MemorySpace space>
void validate_found(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || !changes.positions || !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " are not those of " + to_string(shape)).c_str());
}

/// Owns room for the changes of a batch of streams, every byte of every frame if need be. Move-only.
template <MemorySpace space>
class ChangesBuffer {
public:
    ChangesBuffer() = default;
    explicit ChangesBuffer(const Shape& shape) requires(space == MemorySpace::device)
        : ChangesBuffer(shape.frames, shape.frame_bytes()) {}
    /// `memory`: where a host's changes come from. Few bytes of a frame change, as a rule.
    explicit ChangesBuffer(const Shape& shape,
                           HostMemory& memory = sparse_memory()) requires(space == MemorySpace::host)
        : ChangesBuffer(shape.frames, shape.frame_bytes(), memory) {}
    /// Room for `capacity` changes of each stream only: for those that are known to be no more.
    template <class... Memory>
    ChangesBuffer(int streams, std::int64_t capacity, Memory&... memory)
        : capacity_(capacity),
          streams_(streams),
          positions_(count() * sizeof(std::uint32_t), memory...),
          differences_(count(), memory...),
          summaries_(static_cast<std::size_t>(streams) * sizeof(Summary), memory...) {}

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

using HostChanges = ChangesBuffer<MemorySpace::host>;
using DeviceChanges = ChangesBuffer<MemorySpace::device>;

}  // namespace framewire::delta
