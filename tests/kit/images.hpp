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

/// Contents of test images.
enum class Fill { zeros, full, ramp, checkerboard, noise };
/// Returns all fills; in brief runs only one flat fill and one with differences.
std::vector<Fill> fills();
std::string to_string(Fill fill);

/// Returns the seed of all random numbers in this run, which is printed once; FRAMEWIRE_TEST_SEED sets it.
std::uint64_t seed();

/// Fills every pixel; `salt` selects different noise.
void fill(HostView<std::uint8_t> image, Fill fill, std::uint64_t salt = 0);

/// Returns shapes that expose edge cases: heights and widths of 1, 2, 15 to 17, 31 to 33, 63 to 65, primes, and single
/// rows and columns.
std::vector<Shape> small_shapes(int channels, int frames = 1);
/// Returns 1280x720; 320x180 in brief runs.
Shape hd_shape(int channels, int frames = 1);

/// Memory layout of a view.
struct Layout {
    int offset_bytes = 0;        ///< offset of the first byte from a 64-byte boundary
    int row_padding_bytes = 0;   ///< padding after each row
    int frame_padding_rows = 0;  ///< padding after each frame
};
std::vector<Layout> layouts();
std::string to_string(const Layout& layout);

/// Image in its own memory in which every other byte (before, between and after the rows) is a guard byte.
class GuardedImage {
public:
    GuardedImage(Shape shape, Layout layout);
    HostView<std::uint8_t> view() const;
    /// Sets all image bytes to `byte` and writes the guard pattern.
    void reset(std::uint8_t byte);
    /// Returns the first changed guard byte as its offset from the image's first byte.
    std::optional<std::int64_t> broken_guard() const;
    const HostBuffer& memory() const { return memory_; }

private:
    Shape shape_;
    std::int64_t row_stride_bytes_, frame_stride_bytes_, begin_bytes_;
    HostBuffer memory_;
};

/// Copy of a GuardedImage in device memory, with the same layout and guard bytes.
class DeviceMirror {
public:
    explicit DeviceMirror(const GuardedImage& host);
    DeviceView<std::uint8_t> view() const;
    void upload(const cuda::Stream& stream) const;
    /// Copies everything, guard bytes included, back into the host image and waits for the copy.
    void download(const cuda::Stream& stream) const;

private:
    const GuardedImage* host_;
    cuda::DeviceBuffer memory_;
};

/// Describes the first difference as "pixel (x, y) channel c of frame f: got 1, want 2"; nullopt if the images are
/// equal.
std::optional<std::string> first_difference(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                                            int tolerance = 0);

/// Returns the backends of this build, including CUDA if it is compiled in, with or without a GPU.
std::vector<Backend> backends();
/// Returns true if FRAMEWIRE_TEST_BRIEF is set: fewer shapes and layouts, for tools that slow every launch down by a
/// factor of a hundred.
bool brief();
/// Returns true if FRAMEWIRE_NETWORK_LONG is set, which scripts/test-network.sh does: cases and random requests then
/// run for their full duration.
bool at_length();
/// Returns the reason why a backend cannot run on this machine, which tests use as the reason to skip; nullopt if it
/// can run. If FRAMEWIRE_REQUIRE_GPU is set, always returns nullopt, so that tests fail on a missing GPU.
std::optional<std::string> why_not(Backend backend);
/// For the CPU backend, selects each SIMD instruction set that this machine and the build support and calls
/// `body(name)`; for CUDA, calls `body("")` once. All instruction sets must give the same bytes.
void for_each_instruction_set(Backend backend, const std::function<void(const std::string& name)>& body);
/// Returns the executor of a backend; all tests of a program share it.
Executor& executor(Backend backend);

}  // namespace framewire::kit
