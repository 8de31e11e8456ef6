#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/host_encoder.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/frame.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace framewire {

/// Encodes the consecutive frames of a run as a difference stream, in any mode, on the executor's backend. Owns R, the
/// reference picture. The packed bytes do not depend on the backend. On the CUDA backend frames stay on the GPU; what
/// is downloaded are the packed bytes in mode bounded, the changes in modes exact and lossless, and R for callers that
/// need the whole picture. Not thread-safe.
class StreamEncoder {
public:
    /// For single frames of shape `frame`. `refines` must be true if refine() will be called. Keeps a reference to
    /// `executor`. Throws Error{usage} if the parameters or the shape are invalid, and Error{config} if memory is
    /// exhausted.
    StreamEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor,
                  bool refines = false);
    ~StreamEncoder();
    StreamEncoder(const StreamEncoder&) = delete;
    StreamEncoder& operator=(const StreamEncoder&) = delete;

    /// Returns the shape of the frames and of R.
    const Shape& shape() const { return shape_; }
    /// Returns the parameters with which the encoder was made.
    const codec::EncoderParameters& parameters() const { return parameters_; }

    /// Encodes the next frame and returns when done, as codec::HostEncoder::encode() does. `threshold` (0 to 254)
    /// applies to this frame; default: the threshold of the parameters. Throws Error{usage} if the shape differs or the
    /// threshold is invalid.
    codec::EncodedFrame encode(Frame& frame, codec::PackAs as, std::optional<int> threshold = {});

    /// Sets the effort of the following frames in mode bounded; no effect in the other modes. Throws Error{usage} if it
    /// is invalid.
    void set_effort(int effort);

    /// Refines the static regions of R as far as `moment` allows, and stores the change in `step`, as
    /// codec::HostEncoder::refine() does. Call it after encode() of the same frame. Returns when done. `refiner` and
    /// `step` must have been made for the same executor.
    void refine(Frame& frame, codec::EncodedFrame& encoded, codec::Refiner& refiner,
                const codec::Refiner::Moment& moment, codec::RefinementDelta& step);

    /// Returns R on the host.
    HostView<const std::uint8_t> reference() const;

private:
    class Implementation;
    class OnHost;
    class OnGpu;
    class BoundedOnGpu;
    class ExactOnGpu;

    codec::EncoderParameters parameters_;
    Shape shape_;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace framewire
