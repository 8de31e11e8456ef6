#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/net/stream_state.hpp"
#include "kit/eventually.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace framewire::net::testing {

using kit::eventually;

/// A stream and its server side: textured pictures with a moving square and noise, encoded against R and fed into a
/// StreamState.
class TestStream {
public:
    explicit TestStream(Shape shape = {1, 60, 80, 3}, codec::Mode mode = codec::Mode::exact, int noise = 8)
        : parameters_{mode, 20},
          packer_(shape),
          current_(shape),
          reference_(shape),
          noise_(noise),
          state({shape, mode, parameters_.effective_threshold(), {30, 1}, "a test"}) {}

    /// Draws, encodes and feeds the next frame. The first one is fed without a packed keyframe.
    void step() {
        draw();
        if (frames_ == 0) {
            copy(current_.view(), reference_.view());
            state.start(current_.view(), time());
        } else {
            packed_.clear();
            packer_.pack_step(current_.view(), reference_.view(), threshold(), packed_);
            state.advance(reference(), packed_, time());
        }
        ++frames_;
    }

    /// Draws the next frame and feeds it without a delta frame, as while nobody watches. Returns the changed blocks.
    /// Requires that step() was called before.
    const codec::BlockSet& step_unpacked() {
        draw();
        packer_.update(current_.view(), reference_.view(), threshold(), changed_);
        state.advance_blocks(reference(), changed_, time());
        ++frames_;
        return changed_;
    }

    /// Returns the last delta frame's packed bytes.
    const Bytes& packed() const { return packed_; }
    /// Returns the encoder's reference picture R.
    HostView<const std::uint8_t> reference() const { return reference_.view(); }
    /// Returns the newest picture before encoding.
    HostView<const std::uint8_t> current() const { return current_.view(); }
    std::int64_t frames() const { return frames_; }
    int threshold() const { return parameters_.effective_threshold(); }

private:
    FrameTime time() const { return {frames_, static_cast<double>(frames_) / 30, Clock::now()}; }

    void draw() {
        const auto& shape = current_.shape();
        const auto side = std::max(1, shape.height / 4);
        const auto left = static_cast<int>(frames_ * 3 % std::max(1, shape.width - side));
        auto noise_state = static_cast<std::uint32_t>(frames_ * 7919 + 1);
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width * shape.channels; ++x) {
                noise_state = noise_state * 1664525u + 1013904223u;
                const int px = x / shape.channels;
                const bool square = px >= left && px < left + side && y >= side && y < 2 * side;
                const int noise = noise_ ? static_cast<int>(noise_state >> 24) % (2 * noise_ + 1) - noise_ : 0;
                const int texture =
                    static_cast<int>((static_cast<std::uint32_t>(x * 131 + y * 7177) * 2654435761u) >> 25);
                current_.view().row(0, y)[x] =
                    static_cast<std::uint8_t>(std::clamp((square ? 220 : texture) + noise, 0, 255));
            }
    }

    codec::EncoderParameters parameters_;
    codec::ExactPacker packer_;
    HostImage current_, reference_;
    Bytes packed_;
    codec::BlockSet changed_;
    int noise_ = 0;
    std::int64_t frames_ = 0;

public:
    StreamState state;
};

inline void expect_equal(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want) {
    const auto difference = kit::first_difference(got, want);
    EXPECT_FALSE(difference) << *difference;
}

}  // namespace framewire::net::testing
