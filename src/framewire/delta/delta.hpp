#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace framewire {

template <class Aggregate>
class ParameterFields;

}  // namespace framewire

namespace framewire::delta {

/// Fidelity of a difference stream. `exact`: every sent byte has the camera's value. `lossless`: the same with
/// threshold 0. `bounded`: the encoder may choose any picture within the threshold and takes a cheap one
/// (BoundedPacker).
enum class Mode { exact, lossless, bounded };

/// Returns the name of `mode` as options and messages spell it: "exact", "lossless" or "bounded".
std::string_view to_string(Mode mode);

/// Settings of a difference stream's encoder.
struct EncoderParameters {
    Mode mode = Mode::exact;
    int threshold = 20;  ///< 0..254; a byte is sent if it differs from R by more than this
    int effort = 1;      ///< 0..2; how thoroughly the mode `bounded` searches for motion

    /// Returns the threshold in force, which is 0 in mode `lossless`.
    int effective_threshold() const { return mode == Mode::lossless ? 0 : threshold; }
};

/// Describes the members threshold, mode and effort, for options and control requests.
const ParameterFields<EncoderParameters>& encoder_fields();

/// Throws Error{usage} if a parameter is out of range. `what` names the owner of the parameters in the message.
void validate(const EncoderParameters& parameters, const char* what);

/// Difference encoder (streaming report, section 2). For each byte, d = current - R. If |d| > threshold, the byte is a
/// change and R takes its value; otherwise R keeps its own. R is therefore the picture of an up-to-date viewer, and it
/// never differs from the camera by more than the threshold.
///
/// Deterministic: changes come in raster order, and every backend finds the same ones. Move-only; not thread-safe,
/// because calls share a workspace.
class Encoder {
public:
    /// Prepares an encoder for batches of `shape`, in which each frame belongs to a stream of its own. Keeps a pointer
    /// to `executor`. Throws Error{usage} if the threshold or the shape is invalid, or if the mode is `bounded`, which
    /// has no changes to find.
    Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the parameters that were passed to the constructor.
    const EncoderParameters& parameters() const { return parameters_; }
    /// Returns the shape of the batches.
    const Shape& shape() const { return shape_; }

    /// Compares `current` with `reference`, updates `reference` and writes `changes`, which needs a capacity for every
    /// byte of a frame. Views may have any strides and must not overlap. `threshold` (0..254) applies to this call
    /// only; if it is empty, the threshold of the parameters applies. Throws Error{usage} if a view or the threshold is
    /// invalid.
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
    BackendBuffer workspace_;  // per chunk: its Summary (CPU) or the state of the look-back between tiles (CUDA)
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
    /// the capacity, or if a position does not ascend or lies outside the frame. Device: queues the work on the
    /// executor's stream; skips changes at such positions and never writes outside the frame.
    void decode(const ChangesView<MemorySpace::host>& changes, HostView<std::uint8_t> reference) const;
    /// Variant of decode() for device memory.
    void decode(const ChangesView<MemorySpace::device>& changes, DeviceView<std::uint8_t> reference) const;

private:
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire::delta
