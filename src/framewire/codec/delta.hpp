#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::codec {

/// Result of comparing one frame with the reference picture R, without the changes themselves.
struct Summary {
    std::uint32_t count = 0;          ///< number of bytes that changed by more than the threshold
    std::uint32_t max_error = 0;      ///< largest |camera - R| after the update
    std::uint64_t squared_error = 0;  ///< sum of (camera - R)^2 after the update, for the PSNR
};

/// Merges the summary of another area of the same frame into `sum`: adds counts and squared errors, and keeps the
/// larger `max_error`.
inline void add(Summary& sum, const Summary& more) {
    sum.count += more.count;
    sum.max_error = std::max(sum.max_error, more.max_error);
    sum.squared_error += more.squared_error;
}

/// Changes of a batch of streams in the layout of the streaming report, section 2 (h_pos, h_diff, h_xs). Stream s has
/// summaries[s].count changes. Their positions start at `positions + s * capacity` and their differences at
/// `differences + s * capacity`.
///
/// A position is the index of a byte in a frame without gaps between rows; positions ascend. A difference is the new
/// byte minus the old one, modulo 256. The view does not own the memory.
template <MemorySpace space>
struct ChangesView {
    std::uint32_t* positions = nullptr;   ///< `streams` rows of `capacity` entries
    std::uint8_t* differences = nullptr;  ///< same layout as `positions`
    Summary* summaries = nullptr;         ///< one per stream
    std::int64_t capacity = 0;            ///< entries per stream; an encoder needs one per byte of a frame
    int streams = 0;

    /// Returns a view of the changes of one stream; its `streams` is 1.
    ChangesView of_stream(int stream) const {
        return {positions + stream * capacity, differences + stream * capacity, summaries + stream, capacity, 1};
    }
};

/// Throws Error{usage} unless `changes` has room for every byte of a batch of `shape`, which an encoder requires.
/// `what` names the changes in the message.
template <MemorySpace space>
void validate(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || changes.capacity < shape.frame_bytes() || !changes.positions ||
        !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " are too small for " + to_string(shape)).c_str());
}

/// Variant of validate() for changes that are only read: checks the number of streams and the pointers, but not the
/// capacity.
template <MemorySpace space>
void validate_found(const ChangesView<space>& changes, const Shape& shape, const char* what) {
    if (changes.streams != shape.frames || !changes.positions || !changes.differences || !changes.summaries)
        fail(ErrorCode::usage, (std::string(what) + " do not match " + to_string(shape)).c_str());
}

/// Owner of the memory that a ChangesView refers to. Move-only.
template <MemorySpace space>
class ChangesBuffer {
public:
    /// Creates an empty buffer.
    ChangesBuffer() = default;
    /// Allocates device memory for every byte of every frame of `shape`.
    explicit ChangesBuffer(const Shape& shape) requires(space == MemorySpace::device)
        : ChangesBuffer(shape.frames, shape.frame_bytes()) {}
    /// Allocates host memory for every byte of every frame of `shape` from `memory`. The default suits a buffer that
    /// stays mostly unused, because usually few bytes of a frame change.
    explicit ChangesBuffer(const Shape& shape,
                           HostMemory& memory = sparse_memory()) requires(space == MemorySpace::host)
        : ChangesBuffer(shape.frames, shape.frame_bytes(), memory) {}
    /// Allocates `capacity` entries per stream, if the number of changes has a known bound. `memory` (optional) is the
    /// host memory to allocate from.
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

/// ChangesBuffer in host memory, and in device memory.
using HostChanges = ChangesBuffer<MemorySpace::host>;
using DeviceChanges = ChangesBuffer<MemorySpace::device>;

}  // namespace framewire::codec

namespace framewire {

template <class Aggregate>
class ParameterFields;

}  // namespace framewire

namespace framewire::codec {

/// Fidelity of a difference stream. `exact`: every sent byte has the camera's value. `lossless`: like `exact`, with
/// threshold 0. `bounded`: the encoder may send any picture within the threshold and picks one that is cheap to code
/// (BoundedPacker).
enum class Mode { exact, lossless, bounded };

/// Returns the name of `mode` as options and messages spell it: "exact", "lossless" or "bounded".
std::string_view to_string(Mode mode);

/// Settings of the encoder of a difference stream.
struct EncoderParameters {
    Mode mode = Mode::exact;
    int threshold = 20;  ///< 0..254; a byte is sent if it differs from R by more than this
    int effort = 1;      ///< 0..2; how thoroughly mode `bounded` searches for predictions; 0: not at all

    /// Returns the threshold in force, which is 0 in mode `lossless`.
    int effective_threshold() const { return mode == Mode::lossless ? 0 : threshold; }
};

/// Returns the descriptions of the members threshold, mode and effort, for options and control requests.
const ParameterFields<EncoderParameters>& encoder_fields();

/// Parses the parameters as "threshold=20:mode=bounded"; an empty text gives the defaults. Throws Error{usage} if a
/// name or a value is not allowed.
EncoderParameters parse_encoder(std::string_view text);

/// Throws Error{usage} if a parameter is out of range. `what` names the owner of the parameters in the message.
void validate(const EncoderParameters& parameters, const char* what);

/// Difference encoder (streaming report, section 2). For each byte, d = current - R. If |d| > threshold, the byte is a
/// change and R takes its value; otherwise R keeps its own. R is therefore the picture that an up-to-date viewer shows.
/// It never differs from the camera by more than the threshold.
///
/// Deterministic: changes are in raster order, and all backends find the same changes. Move-only; not thread-safe,
/// because calls share a workspace.
class Encoder {
public:
    /// Prepares an encoder for batches of `shape`, in which each frame belongs to a separate stream. Keeps a pointer to
    /// `executor`. Throws Error{usage} if the threshold or the shape is invalid, or if the mode is `bounded`, which
    /// does not work on lists of changes.
    Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the parameters that were passed to the constructor.
    const EncoderParameters& parameters() const { return parameters_; }
    /// Returns the shape of the batches.
    const Shape& shape() const { return shape_; }

    /// Compares `current` with `reference`, updates `reference` and writes `changes`, which must have a capacity for
    /// every byte of a frame. Views may have any strides and must not overlap. `threshold` (0..254) applies to this
    /// call only; if it is empty, the threshold of the parameters applies. Throws Error{usage} if a view or the
    /// threshold is invalid.
    ///
    /// Host: returns when done. Device: queues the work on the executor's stream, one launch per 32 frames.
    void encode(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                const ChangesView<MemorySpace::host>& changes, std::optional<int> threshold = {});
    /// Variant of encode() for device memory.
    void encode(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                const ChangesView<MemorySpace::device>& changes, std::optional<int> threshold = {});

private:
    int threshold_of_frame(std::optional<int> threshold) const;

    EncoderParameters parameters_;
    Shape shape_;
    Executor* executor_;
    BackendBuffer workspace_;  // CPU: a Summary per chunk; CUDA: see CudaWorkspace
};

/// Decoder for the changes that Encoder finds: adds the differences to the reference.
class Decoder {
public:
    /// Prepares a decoder for batches of `shape`. Keeps a pointer to `executor`. Throws Error{usage} if the shape is
    /// invalid.
    Decoder(const Shape& shape, Executor& executor);

    /// Adds the changes of each stream to `reference`, which then equals the encoder's R.
    ///
    /// Host: returns when done. Throws Error{source_lost}, with `reference` untouched, if there are more changes than
    /// the capacity, or if positions do not ascend or lie outside the frame. Device: queues the work on the executor's
    /// stream; skips changes at invalid positions and never writes outside the frame.
    void decode(const ChangesView<MemorySpace::host>& changes, HostView<std::uint8_t> reference) const;
    /// Variant of decode() for device memory.
    void decode(const ChangesView<MemorySpace::device>& changes, DeviceView<std::uint8_t> reference) const;

private:
    Shape shape_;
    Executor* executor_;
};

/// Adds `length` differences to as many adjacent bytes, modulo 256. The local copies show the compiler that the two
/// arrays do not overlap, so that it vectorizes the loop.
template <std::size_t length>
void add_run(const std::uint8_t* differences, std::uint8_t* bytes) {
    std::array<std::uint8_t, length> sums, added;
    std::memcpy(sums.data(), bytes, length);
    std::memcpy(added.data(), differences, length);
    for (std::size_t i = 0; i < length; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + added[i]);
    std::memcpy(bytes, sums.data(), length);
}

}  // namespace framewire::codec
