#pragma once

#include "framewire/filters/filter.hpp"
#include "ladders/ladder.hpp"
#include "ladders/pictures/picture_kernel.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench {

/// Variant of a kernel that draws a picture from each frame and its predecessor; used by the heat map and noise
/// ladders.
struct PictureVariant {
    const char* suite;
    const char* operation;
    LaunchPicture launch;
    enum Frames { both_up, swapped } frames;       ///< the previous frame is uploaded again, or kept
    enum Drawn { onto_out, cleared, over } drawn;  ///< onto a buffer, onto a cleared buffer, or over the previous frame
    int off_by = 0;                                ///< maximum difference of a byte from the reference
    std::vector<int> threads{};  ///< numbers of threads per block; the report has figures for the last one
    OnJetson kernel_time{}, up{}, down{}, memset{}, whole{};
    const char* note = "";
};

/// Two frames, and the picture of each if the other precedes it.
struct PicturePair {
    HostImage frames[2], want[2];

    explicit PicturePair(const Shape& shape);
};

/// The report's loop on the CPU, and framewire's filter that does the same.
struct PictureLoop {
    const char* suite;
    void (*loop)(const std::uint8_t* now, const std::uint8_t* before, std::int64_t pixels, std::uint8_t* out);
    const char* filter_name;
    std::function<void(const FilterImages<MemorySpace::host>& images)> filter;
    OnJetson whole{};
    const char* note = "";
};

/// Throws Error{internal} if a byte is off by more than `off_by`.
void require_close(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, int off_by, const char* what);

/// Checks the loop and the filter with the second frame, times both, and adds their rows.
void run_picture_on_cpu(Session& session, const PicturePair& pair, const PictureLoop& ways);

/// Checks a variant with each number of threads, times its kernel, its copies and the whole, and adds the rows.
void run_picture_variant(Session& session, const PicturePair& pair, const PictureVariant& variant);

}  // namespace framewire::bench
