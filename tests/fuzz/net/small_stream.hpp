#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/net/stream_state.hpp"

#include <cstdint>

namespace framewire::fuzz {

/// Single-threaded stream of small pictures in which some bytes change with each frame.
class SmallStream {
public:
    SmallStream()
        : packer_(shape),
          current_(shape),
          reference_(shape),
          state({shape, codec::Mode::exact, threshold, {30, 1}, "fuzz"}) {}

    static constexpr Shape shape{1, 6, 67, 3};  // two blocks
    static constexpr int threshold = 9;

    /// Encodes the next frame.
    void step() {
        for (std::int64_t byte = 0; byte < shape.bytes(); ++byte)
            if (frames_ == 0 || (byte / 50 + frames_) % 7 == 0)
                current_.view().data()[byte] = static_cast<std::uint8_t>(byte * 31 + frames_ * 40);
        const FrameTime time{frames_, static_cast<double>(frames_) / 30, Clock::now()};
        if (frames_++ == 0) {
            copy(current_.view(), reference_.view());
            state.start(current_.view(), time);
        } else {
            packed_.clear();
            packer_.pack_step(current_.view(), reference_.view(), threshold, packed_);
            state.advance(reference(), packed_, time);
        }
    }

    /// Returns the picture that an up-to-date viewer holds.
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    codec::ExactPacker packer_;
    HostImage current_, reference_;
    net::Bytes packed_;
    std::int64_t frames_ = 0;

public:
    net::StreamState state;
};

}  // namespace framewire::fuzz
