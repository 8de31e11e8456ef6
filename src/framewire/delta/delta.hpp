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

/// How changes reach the viewer: `exact`, every sent byte as it is; `lossless`, the same with threshold 0; `bounded`,
/// the picture within the threshold that costs the fewest bytes (BoundedPacker).
enum class Mode { exact, lossless, bounded };

std::string_view to_string(Mode mode);

struct EncoderParameters {
    Mode mode = Mode::exact;
    int threshold = 20;  ///< a byte is sent when it differs from R by more; 0..254
    int effort = 1;      ///< of mode bounded: how long motion is looked for, 0..2

    /// The threshold in force: 0 in lossless mode.
    int effective_threshold() const { return mode == Mode::lossless ? 0 : threshold; }
};

/// The parameters as data: threshold, mode and effort.
const ParameterFields<EncoderParameters>& encoder_fields();

/// Throws Error{usage} on parameters that are not allowed; `what` names whose they are.
void validate(const EncoderParameters& parameters, const char* what);

/// The difference encoder (streaming report, section 2): for each byte, d = current - R; if |d| > threshold the byte is
/// a change and R takes it, else R keeps its own, so R is what a viewer holds and is never further than the threshold
/// from the camera. Deterministic: changes come in raster order, the same from every backend.
class Encoder {
public:
    /// For batches of `shape`, each frame a stream of its own. Throws Error{usage} on a threshold or shape that is not
    /// allowed, and on the mode bounded, which finds no changes.
    Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor);

    const EncoderParameters& parameters() const { return parameters_; }
    const Shape& shape() const { return shape_; }

    /// Compares `current` with `reference`, updates `reference` and writes `changes`. Any strides; no overlap.
    /// `changes` has room for every byte of every frame. `threshold` is that of these frames, 0..254; none: that of the
    /// parameters. Host: returns when done. Device: queued on the executor's stream, one launch
    /// for every 32 frames.
    void encode(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                const ChangesView<MemorySpace::host>& changes, std::optional<int> threshold = {});
    void encode(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                const ChangesView<MemorySpace::device>& changes, std::optional<int> threshold = {});

private:
    int threshold_of_frame(std::optional<int> threshold) const;

    EncoderParameters parameters_;
    Shape shape_;
    Executor* executor_;
    BackendBuffer workspace_;  // what each chunk found, on CUDA the state of the look-back between tiles
};

/// The decoder: adds differences to the reference.
class Decoder {
public:
    Decoder(const Shape& shape, Executor& executor);

    /// Applies the changes of each stream to `reference`, which is then the encoder's R. Host: throws
    /// Error{source_lost} on positions that do not ascend or lie outside the frame, with `reference` untouched. Device:
    /// changes at such positions are left out and nothing outside the frame is written.
    void decode(const ChangesView<MemorySpace::host>& changes, HostView<std::uint8_t> reference) const;
    void decode(const ChangesView<MemorySpace::device>& changes, DeviceView<std::uint8_t> reference) const;

private:
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire::delta
