#include "kit/images.hpp"
#include "kit/gpus.hpp"

#include "framewire/core/simd.hpp"
#include "framewire/cuda/device.hpp"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

namespace framewire::kit {
namespace {

constexpr std::int64_t guard_bytes = 256;

// Returns the guard byte at an index. The pattern repeats every 256 bytes.
std::uint8_t guard_at(std::int64_t index) { return static_cast<std::uint8_t>(0xA5 ^ (index * 31)); }

template <class Body>
void for_each_row(HostView<std::uint8_t> image, Body&& body) {
    for (int frame = 0; frame < image.shape().frames; ++frame)
        for (int y = 0; y < image.shape().height; ++y) body(image.row(frame, y), frame, y);
}

template <class Body>
void for_each_byte(HostView<std::uint8_t> image, Body&& body) {
    const auto row_bytes = image.shape().row_bytes();
    for_each_row(image, [&](std::uint8_t* row, int frame, int y) {
        for (std::int64_t x = 0; x < row_bytes; ++x) row[x] = body(frame, y, x);
    });
}

void set_all(HostView<std::uint8_t> image, std::uint8_t byte) {
    for_each_row(image, [&](std::uint8_t* row, int, int) {
        std::memset(row, byte, static_cast<std::size_t>(image.shape().row_bytes()));
    });
}

}  // namespace

std::string to_string(Fill fill) {
    switch (fill) {
        case Fill::zeros: return "zeros";
        case Fill::full: return "255";
        case Fill::ramp: return "ramp";
        case Fill::checkerboard: return "checkerboard";
        case Fill::noise: return "noise";
    }
    return "?";
}

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* given = std::getenv("FRAMEWIRE_TEST_SEED");
        const std::uint64_t chosen = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        fmt::print("[   SEED   ] FRAMEWIRE_TEST_SEED={}\n", chosen);
        return chosen;
    }();
    return value;
}

void fill(HostView<std::uint8_t> image, Fill fill, std::uint64_t salt) {
    const auto channels = image.shape().channels;
    switch (fill) {
        case Fill::zeros: return set_all(image, 0);
        case Fill::full: return set_all(image, 255);
        case Fill::ramp:
            return for_each_byte(image, [&](int frame, int y, std::int64_t x) {
                return static_cast<std::uint8_t>(x + 3 * y + 17 * frame + static_cast<std::int64_t>(salt));
            });
        case Fill::checkerboard:
            return for_each_byte(image, [&](int frame, int y, std::int64_t x) {
                return static_cast<std::uint8_t>((x / channels + y + frame + static_cast<std::int64_t>(salt)) % 2 ? 255
                                                                                                                  : 0);
            });
        case Fill::noise: {
            std::mt19937_64 random(seed() * 0x9E3779B97F4A7C15u + salt);
            // Take eight bytes from each random number, because many tests spend most of their time generating noise.
            return for_each_row(image, [&](std::uint8_t* row, int, int) {
                for (std::int64_t x = 0; x < image.shape().row_bytes(); x += 8) {
                    const auto bytes = random();
                    std::memcpy(row + x, &bytes,
                                static_cast<std::size_t>(std::min<std::int64_t>(8, image.shape().row_bytes() - x)));
                }
            });
        }
    }
}

std::vector<Fill> fills() {
    if (brief()) return {Fill::full, Fill::noise};
    return {Fill::zeros, Fill::full, Fill::ramp, Fill::checkerboard, Fill::noise};
}

std::vector<Shape> small_shapes(int channels, int frames) {
    constexpr int sides[][2] = {{1, 1},   {1, 2},   {2, 1},    {2, 2},   {3, 5},   {15, 16},
                                {16, 17}, {17, 15}, {31, 33},  {32, 32}, {33, 31}, {63, 65},
                                {64, 64}, {65, 63}, {97, 101}, {1, 257}, {257, 1}, {5, 1021}};
    std::vector<Shape> shapes;
    for (const auto& [height, width] : sides)
        if (!brief() || (height + width) % 3 == 0) shapes.push_back({frames, height, width, channels});
    return shapes;
}

std::vector<Layout> layouts() {
    if (brief()) return {{0, 0, 0}, {3, 13, 2}};
    return {{0, 0, 0}, {1, 0, 0}, {0, 7, 0}, {16, 32, 1}, {3, 13, 2}};
}

Shape hd_shape(int channels, int frames) {
    return brief() ? Shape{frames, 180, 320, channels} : Shape{frames, 720, 1280, channels};
}

std::string to_string(const Layout& layout) {
    return fmt::format("offset {}, row padding {}, frame padding {} rows", layout.offset_bytes,
                       layout.row_padding_bytes, layout.frame_padding_rows);
}

GuardedImage::GuardedImage(Shape shape, Layout layout)
    : shape_(shape),
      row_stride_bytes_(shape.row_bytes() + layout.row_padding_bytes),
      frame_stride_bytes_(row_stride_bytes_ * (shape.height + layout.frame_padding_rows)),
      begin_bytes_(guard_bytes + layout.offset_bytes),
      memory_(static_cast<std::size_t>(begin_bytes_ + frame_stride_bytes_ * shape.frames + guard_bytes)) {
    reset(0);
}

HostView<std::uint8_t> GuardedImage::view() const {
    return {memory_.data() + begin_bytes_, shape_, row_stride_bytes_, frame_stride_bytes_};
}

void GuardedImage::reset(std::uint8_t byte) {
    static const auto guards = [] {
        std::array<std::uint8_t, 256> bytes{};
        for (std::size_t index = 0; index < bytes.size(); ++index)
            bytes[index] = guard_at(static_cast<std::int64_t>(index));
        return bytes;
    }();
    for (std::size_t index = 0; index < memory_.bytes(); index += guards.size())
        std::memcpy(memory_.data() + index, guards.data(), std::min(guards.size(), memory_.bytes() - index));
    set_all(view(), byte);
}

std::optional<std::int64_t> GuardedImage::broken_guard() const {
    const auto check = [&](std::int64_t begin, std::int64_t end) -> std::optional<std::int64_t> {
        for (auto index = begin; index < end; ++index)
            if (memory_.data()[index] != guard_at(index)) return index - begin_bytes_;
        return {};
    };
    auto next = std::int64_t{0};
    for (int frame = 0; frame < shape_.frames; ++frame)
        for (int y = 0; y < shape_.height; ++y) {
            const auto row = begin_bytes_ + frame * frame_stride_bytes_ + y * row_stride_bytes_;
            if (const auto broken = check(next, row)) return broken;
            next = row + shape_.row_bytes();
        }
    return check(next, static_cast<std::int64_t>(memory_.bytes()));
}

DeviceMirror::DeviceMirror(const GuardedImage& host) : host_(&host), memory_(host.memory().bytes()) {}

DeviceView<std::uint8_t> DeviceMirror::view() const {
    const auto view = host_->view();
    return {memory_.data() + (view.data() - host_->memory().data()), view.shape(), view.row_stride_bytes(),
            view.frame_stride_bytes()};
}

void DeviceMirror::upload(const cuda::Stream& stream) const {
    cuda::upload(host_->memory().data(), memory_.data(), memory_.bytes(), stream);
    stream.synchronize();
}

void DeviceMirror::download(const cuda::Stream& stream) const {
    cuda::download(memory_.data(), host_->memory().data(), memory_.bytes(), stream);
    stream.synchronize();
}

std::optional<std::string> first_difference(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                                            int tolerance) {
    if (got.shape() != want.shape())
        return fmt::format("shape {} instead of {}", to_string(got.shape()), to_string(want.shape()));
    const auto& shape = got.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* a = got.row(frame, y);
            const auto* b = want.row(frame, y);
            if (std::memcmp(a, b, static_cast<std::size_t>(shape.row_bytes())) == 0) continue;
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x)
                if (std::abs(a[x] - b[x]) > tolerance)
                    return fmt::format("pixel ({}, {}) channel {} of frame {}: got {}, want {}", x / shape.channels, y,
                                       x % shape.channels, frame, a[x], b[x]);
        }
    return {};
}

bool brief() {
    static const bool brief =
        std::getenv("FRAMEWIRE_TEST_BRIEF") != nullptr;  // cached, because some tests ask for each pixel
    return brief;
}

bool at_length() { return std::getenv("FRAMEWIRE_NETWORK_LONG") != nullptr; }

std::vector<Backend> backends() {
    std::vector<Backend> all{Backend::cpu};
    if (cuda::compiled) all.push_back(Backend::cuda);
    return all;
}

std::optional<std::string> why_not(Backend backend) {
    // Before the first plan on a GPU: lowers the limits if FRAMEWIRE_TEST_GPU is set.
    static const EmulatedGpu chosen{std::optional<cuda::GpuLimits>()};
    if (backend == Backend::cpu || std::getenv("FRAMEWIRE_REQUIRE_GPU")) return {};
    const auto reason = cuda::why_no_device();
    return reason.empty() ? std::nullopt : std::optional("no GPU on this machine: " + reason);
}

void for_each_instruction_set(Backend backend, const std::function<void(const std::string& name)>& body) {
    if (backend == Backend::cuda) return body("");
    struct Restore {
        ~Restore() { hwy::SetSupportedTargetsForTest(0); }
    } restore;
    // Without a choice at run time, Highway's answer may lack the only instruction set (core/simd.hpp).
    const auto targets =
        HWY_HAVE_RUNTIME_DISPATCH ? hwy::SupportedAndGeneratedTargets() : std::vector<std::int64_t>{HWY_STATIC_TARGET};
    for (const auto target : targets) {
        hwy::SetSupportedTargetsForTest(target);
        body(hwy::TargetName(target));
    }
}

Executor& executor(Backend backend) {
    static std::unique_ptr<Executor> executors[2];
    auto& one = executors[static_cast<int>(backend)];
    if (!one) one = std::make_unique<Executor>(backend == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda);
    return *one;
}

}  // namespace framewire::kit
