#pragma once

#include "framewire/filters/deinterlace.hpp"

#include <cstdlib>

namespace framewire {

/// Reference for tests: the definition, byte by byte. `first` is true if there is no previous frame.
inline void deinterlace_reference(const DeinterlaceParameters& parameters, HostView<const std::uint8_t> in,
                                  HostView<const std::uint8_t> previous, HostView<std::uint8_t> out, bool first) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x) {
                const auto byte = [&](HostView<const std::uint8_t> image, int line) {
                    if (line < 0) line = shape.height > 1 ? 1 : 0;
                    if (line >= shape.height) line = shape.height > 1 ? shape.height - 2 : 0;
                    return int{image.row(frame, line)[x]};
                };
                const int above = byte(in, y - 1), here = byte(in, y), below = byte(in, y + 1);
                int value = here;
                if (parameters.method == DeinterlaceMethod::blend) {
                    value = (above + 2 * here + below + 2) / 4;
                } else if ((y % 2 == 1) != parameters.keeps_bottom) {
                    bool moved = parameters.method == DeinterlaceMethod::linear || first;
                    if (!moved)
                        for (int line = y - 1; line <= y + 1; ++line)
                            moved |= std::abs(byte(in, line) - byte(previous, line)) > parameters.threshold;
                    if (moved) value = (above + below + 1) / 2;
                }
                out.row(frame, y)[x] = static_cast<std::uint8_t>(value);
            }
}

}  // namespace framewire
