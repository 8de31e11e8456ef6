#pragma once

#include "framewire/filters/filter.hpp"
#include "ladders/ladder.hpp"
#include "ladders/pictures/picture_kernel.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench {

/// A way to make a picture of each frame and the one before it, as the heat map's and the noise's ladders have them.
struct PictureVariant {
    const char* suite;
    const char* operation;
    LaunchPicture launch;
    enum Frames { both_up, swapped } frames;       ///< the frame before goes up again, or has stayed
    enum Drawn { onto_out, cleared, over } drawn;  ///< onto a buffer, one set to 0 first, over the frame before
    int off_by = 0;                                ///< furthest that a byte may be off the reference
    std::vector<int> threads{};                    ///< of the block; the last is what the report has figures of
    OnJetson kernel_time{}, up{}, down{}, memset{}, whole{};
    const char* note = "";
};

/// Two frames, and what is made of each where the other came before it.
struct PicturePair {
    HostImage frames[2], want[2];

    explicit PicturePair(const Shape& shape);
};

/// The report's way on the CPU, and framewire's filter that does the same.
struct PictureLoop {
    const char* suite;
    void (*loop)(const std::uint8_t* now, const std::uint8_t* before, std::int64_t pixels, std::uint8_t* out);
    const char* filter_name;
    std::function<void(const FilterImages<MemorySpace::host>& images)> filter;
    OnJetson whole{};
    const char* note = "";
};

/// Throws Error{internal} unless no byte is off by more than `off_by`.
void require_close(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, int off_by, const char* what);

/// Checks the loop and the filter with the second frame, times both, and adds their rows.
void run_picture_on_cpu(Session& session, const PicturePair& pair, const PictureLoop& ways);

/// Checks a variant with each number of threads, times its kernel, its copies and the whole, and adds the rows.
void run_picture_variant(Session& session, const PicturePair& pair, const PictureVariant& variant);

}  // namespace framewire::bench
