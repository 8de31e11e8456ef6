#pragma once

#include "framewire/colour/yuv.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Test support shared by both conversions: guarded pictures, and the standards' formulas in double precision.

namespace framewire::colour_testing {

inline constexpr YuvCoding codings[] = {{YuvMatrix::bt601, false},  {YuvMatrix::bt601, true},
                                        {YuvMatrix::bt709, false},  {YuvMatrix::bt709, true},
                                        {YuvMatrix::bt2020, false}, {YuvMatrix::bt2020, true}};
inline constexpr ChromaSiting sitings[] = {siting_left, siting_centre, siting_top_left, {true, false}};

/// YUV picture in guarded memory, one GuardedImage per plane. The CUDA backend also gets a copy on the GPU.
class GuardedYuv {
public:
    GuardedYuv(const YuvInfo& info, kit::Layout layout, Backend backend) : info_(info) {
        // 16-bit words must be at even addresses.
        const int unit = info.sample_bytes();
        layout = {layout.offset_bytes * unit, layout.row_padding_bytes * unit, layout.frame_padding_rows};
        for (int plane = 0; plane < info.planes(); ++plane)
            planes_.emplace_back(
                Shape{info.frames, info.plane_rows(plane), static_cast<int>(info.plane_row_bytes(plane)), 1}, layout);
        if (backend == Backend::cuda)
            for (const auto& plane : planes_) mirrors_.emplace_back(plane);
    }

    HostYuv<std::uint8_t> host() const {
        HostYuv<std::uint8_t> picture;
        picture.info = info_;
        for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
            const auto view = planes_[plane].view();
            picture.planes[plane] = {view.data(), view.row_stride_bytes(), view.frame_stride_bytes()};
        }
        return picture;
    }
    DeviceYuv<std::uint8_t> device() const {
        DeviceYuv<std::uint8_t> picture;
        picture.info = info_;
        for (std::size_t plane = 0; plane < mirrors_.size(); ++plane) {
            const auto view = mirrors_[plane].view();
            picture.planes[plane] = {view.data(), view.row_stride_bytes(), view.frame_stride_bytes()};
        }
        return picture;
    }

    /// Fills the samples. Some words of 10 bits also have bits above the tenth set.
    void fill(kit::Fill with, std::uint64_t salt) {
        for (auto& plane : planes_) {
            kit::fill(plane.view(), with, salt++);
            if (info_.sample_bytes() == 1 || info_.format.interleaved) continue;
            const auto view = plane.view();
            for (std::int64_t row = 0; row < view.shape().rows(); ++row)
                for (int at = 1; at < view.shape().width; at += 2)
                    if ((row + at / 2) % 17) view.batch_row(row)[at] &= 3;
        }
    }
    void reset(std::uint8_t byte) {
        for (auto& plane : planes_) plane.reset(byte);
    }
    void upload(const cuda::Stream& stream) const {
        for (const auto& mirror : mirrors_) mirror.upload(stream);
    }
    void download(const cuda::Stream& stream) const {
        for (const auto& mirror : mirrors_) mirror.download(stream);
    }
    /// Returns a description of a changed byte outside the picture, or nothing if there is none.
    std::optional<std::string> broken_guard() const {
        for (std::size_t plane = 0; plane < planes_.size(); ++plane)
            if (const auto broken = planes_[plane].broken_guard())
                return fmt::format("byte {} of plane {}", *broken, plane);
        return {};
    }
    std::optional<std::string> first_difference(const GuardedYuv& want) const {
        for (std::size_t plane = 0; plane < planes_.size(); ++plane)
            if (const auto difference = kit::first_difference(planes_[plane].view(), want.planes_[plane].view()))
                return fmt::format("plane {}: {}", plane, *difference);
        return {};
    }

private:
    YuvInfo info_;
    std::vector<kit::GuardedImage> planes_;
    std::vector<kit::DeviceMirror> mirrors_;
};

/// Weights of red, green and blue in luma: ITU-R BT.601-7, BT.709-6, BT.2020-2.
struct LumaShares {
    double r, g, b;
};
inline LumaShares luma_shares(YuvMatrix matrix) {
    const auto of = [](double r, double b) { return LumaShares{r, 1 - r - b, b}; };
    switch (matrix) {
        case YuvMatrix::bt709: return of(0.2126, 0.0722);
        case YuvMatrix::bt2020: return of(0.2627, 0.0593);
        case YuvMatrix::bt601: break;
    }
    return of(0.299, 0.114);
}

/// Returns B, G and R for samples of `bits` bits as the standards define them (ITU-T H.273, 8.3), clamped to 0..255 but
/// not rounded.
inline std::array<double, 3> bgr_by_formula(double y, double u, double v, const YuvCoding& coding, int bits) {
    const auto shares = luma_shares(coding.matrix);
    const double step = 1 << (bits - 8), full = (1 << bits) - 1, middle = 1 << (bits - 1);
    const double luma = coding.full_range ? y / full : (y - 16 * step) / (219 * step);
    const double pb = (u - middle) / (coding.full_range ? full : 224 * step);
    const double pr = (v - middle) / (coding.full_range ? full : 224 * step);
    const double r = luma + 2 * (1 - shares.r) * pr;
    const double b = luma + 2 * (1 - shares.b) * pb;
    const double g = (luma - shares.r * r - shares.b * b) / shares.g;
    const auto held = [](double value) { return std::clamp(value * 255, 0.0, 255.0); };
    return {held(b), held(g), held(r)};
}

/// Returns 8-bit Y, U and V as the same standards define them, clamped to 0..255 but not rounded.
inline std::array<double, 3> yuv_by_formula(double b, double g, double r, const YuvCoding& coding) {
    const auto shares = luma_shares(coding.matrix);
    const double luma = (shares.r * r + shares.g * g + shares.b * b) / 255;
    const double pb = (b / 255 - luma) / (2 * (1 - shares.b));
    const double pr = (r / 255 - luma) / (2 * (1 - shares.r));
    const double y = coding.full_range ? 255 * luma : 16 + 219 * luma;
    const double range = coding.full_range ? 255 : 224;
    const auto held = [](double value) { return std::clamp(value, 0.0, 255.0); };
    return {held(y), held(128 + range * pb), held(128 + range * pr)};
}

/// Largest allowed difference between an integer result and the exact formula: 0.5 for rounding the result, and the
/// rest for rounding intermediate values. It is below 1, so results are within 1 of the rounded formula.
inline constexpr double furthest = 0.6;

/// Returns the position of sample `at`, in pixels.
inline double site(int at, bool halved, bool centred) { return halved ? 2 * at + (centred ? 0.5 : 0) : at; }

/// Calls check(info, channels, layout, fill) for each kind in every size with every fill, then for each kind in a large
/// size. Layouts, codings and numbers of frames alternate. Stops after the first failure.
template <class Check>
void check_by_turns(const std::vector<YuvInfo>& kinds, const Check& check) {
    std::size_t turn = 0;
    for (auto info : kinds)
        for (const auto& shape : kit::small_shapes(3))
            for (const auto fill : kit::fills()) {
                info.height = shape.height;
                info.width = shape.width;
                info.coding = codings[turn % std::size(codings)];
                info.frames = turn % 4 ? 1 : 3;
                const auto layouts = kit::layouts();
                check(info, turn % 5 ? 3 : 1, layouts[turn % layouts.size()], fill);
                ++turn;
                if (::testing::Test::HasFailure()) return;  // one failure is enough
            }
    for (auto info : kinds) {
        info.coding = codings[1 + turn++ % 5];
        info.height = kit::hd_shape(3).height;
        info.width = kit::hd_shape(3).width;
        check(info.with_frames(2), 3, kit::Layout{}, kit::Fill::noise);
    }
}

}  // namespace framewire::colour_testing
