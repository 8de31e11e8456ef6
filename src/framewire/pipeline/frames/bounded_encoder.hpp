#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// The difference stream's mode `bounded` behind a run's frames, one after the other. Owns R. Works on the host, with
/// the executor's threads, whatever the backend is.
class BoundedEncoder {
public:
    /// What became of R with a frame.
    struct Outcome {
        bool whole = false;                    ///< R is a new picture; else a step leads there from the one before
        delta::Summary found{};                ///< as delta::BoundedPacker has it
        std::span<const std::uint8_t> packed;  ///< the step, or the picture if it was packed; until the next frame
    };

    /// For frames of `frame`, one each, with `parameters` of the mode bounded. Throws as delta::BoundedPacker does.
    /// Keeps a reference to `executor`.
    BoundedEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    BoundedEncoder(const BoundedEncoder&) = delete;
    BoundedEncoder& operator=(const BoundedEncoder&) = delete;

    /// The next frame. Where nobody watches, R becomes the frame itself, and nothing is packed.
    Outcome encode(HostView<const std::uint8_t> camera, bool watched);

    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    int threshold_;
    delta::BoundedPacker packer_;
    HostImage reference_;
    std::vector<std::uint8_t> packed_;
    bool started_ = false;
};

}  // namespace framewire
