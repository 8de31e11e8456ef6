#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::kit {

/// What test images are filled with.
enum class Fill { zeros, full, ramp, checkerboard, noise };
/// All of them; in brief one without and one with differences.
std::vector<Fill> fills();
std::string to_string(Fill fill);

/// The seed of everything random in this run, printed once; FRAMEWIRE_TEST_SEED sets it.
std::uint64_t seed();

/// Writes the fill into every pixel; `salt` makes noises differ from each other.
void fill(HostView<std::uint8_t> image, Fill fill, std::uint64_t salt = 0);

/// Heights and widths that find edge cases: 1, 2, 15 to 17, 31 to 33, 63 to 65, primes, lines and columns.
std::vector<Shape> small_shapes(int channels, int frames = 1);
/// Images of 1280x720; of 320x180 in brief.
Shape hd_shape(int channels, int frames = 1);

/// How a view lies in memory.
struct Layout {
    int offset_bytes = 0;        ///< of the first byte from a 64-byte boundary
    int row_padding_bytes = 0;   ///< behind each row
    int frame_padding_rows = 0;  ///< behind each frame
};
std::vector<Layout> layouts();
std::string to_string(const Layout& layout);

/// An image in memory of its own, every byte of which that is not image (before, between, behind) is a guard.
class GuardedImage {
public:
    GuardedImage(Shape shape, Layout layout);
    HostView<std::uint8_t> view() const;
    /// Sets image bytes to `byte` and the guards to their pattern.
    void reset(std::uint8_t byte);
    /// The first guard byte that changed, as its distance from the image's first byte.
    std::optional<std::int64_t> broken_guard() const;
    const HostBuffer& memory() const { return memory_; }

private:
    Shape shape_;
    std::int64_t row_stride_bytes_, frame_stride_bytes_, begin_bytes_;
    HostBuffer memory_;
};

/// A GuardedImage's twin in device memory: same layout, guards included.
class DeviceTwin {
public:
    explicit DeviceTwin(const GuardedImage& host);
    DeviceView<std::uint8_t> view() const;
    void upload(const cuda::Stream& stream) const;
    /// Brings everything back into the host image, guards included, and waits.
    void download(const cuda::Stream& stream) const;

private:
    const GuardedImage* host_;
    cuda::DeviceBuffer memory_;
};

/// "pixel (x, y) channel c of frame f: got 1, want 2" for the first difference; nothing when equal.
std::optional<std::string> first_difference(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                                            int tolerance = 0);

/// The backends of this build, CUDA included when it is compiled in, GPU or not.
std::vector<Backend> backends();
/// True when FRAMEWIRE_TEST_BRIEF is set: fewer shapes and layouts, for tools that slow every launch down a
/// hundredfold.
bool brief();
/// True when FRAMEWIRE_NETWORK_LONG is set, as scripts/test-network.sh does: cases and random requests go on for as
/// long as they are meant.
bool at_length();
/// Why a backend cannot run on this machine; nothing when it can. Tests skip with it, and are counted as skipped;
/// where FRAMEWIRE_REQUIRE_GPU is set they run into the missing GPU instead.
std::optional<std::string> why_not(Backend backend);
/// Calls `body(name)` once for every SIMD instruction set of this machine that the build has code for, with that one
/// chosen, where the backend is the CPU; once with "" for CUDA. All of them must give the same bytes.
void for_each_instruction_set(Backend backend, const std::function<void(const std::string& name)>& body);
/// The one executor of a backend for all tests of a program.
Executor& executor(Backend backend);

}  // namespace framewire::kit
