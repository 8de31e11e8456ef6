#include "packed_pixels.hpp"

namespace framewire::plugins {
namespace {

constexpr std::uint8_t opaque = 255;

// Calls visit<order>(), so that loops know the positions when they are compiled.
template <class Visit>
void visit_order(const PackedOrder& order, Visit&& visit) {
    const auto visit_if = [&]<PackedOrder candidate>() {
        if (order == candidate) visit.template operator()<candidate>();
    };
    visit_if.template operator()<order_bgr>();
    visit_if.template operator()<order_rgb>();
    visit_if.template operator()<order_bgra>();
    visit_if.template operator()<order_rgba>();
    visit_if.template operator()<order_argb>();
    visit_if.template operator()<order_abgr>();
}

// `channels` of the image `from` are 1, gray, or 3, BGR.
template <int channels>
void from_image(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to,
                Pixels<const std::uint8_t> alpha) {
    visit_order(order, [&]<PackedOrder known>() {
        for (int y = 0; y < size.height; ++y) {
            const auto* source = from.row(y);
            auto* pixel = to.row(y);
            [[maybe_unused]] const auto* own = alpha.data ? alpha.row(y) : nullptr;
            for (int x = 0; x < size.width; ++x, source += channels, pixel += known.bytes) {
                pixel[known.blue] = source[0];
                pixel[known.green] = source[channels == 3 ? 1 : 0];
                pixel[known.red] = source[channels == 3 ? 2 : 0];
                if constexpr (known.bytes == 4) pixel[known.alpha] = own ? own[4 * x + known.alpha] : opaque;
            }
        }
    });
}

}  // namespace

void to_bgr(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to) {
    visit_order(order, [&]<PackedOrder known>() {
        for (int y = 0; y < size.height; ++y) {
            const auto* pixel = from.row(y);
            auto* result = to.row(y);
            for (int x = 0; x < size.width; ++x, pixel += known.bytes, result += 3) {
                result[0] = pixel[known.blue];
                result[1] = pixel[known.green];
                result[2] = pixel[known.red];
            }
        }
    });
}

void from_bgr(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to,
              Pixels<const std::uint8_t> alpha) {
    from_image<3>(order, size, from, to, alpha);
}

void from_gray(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to,
               Pixels<const std::uint8_t> alpha) {
    from_image<1>(order, size, from, to, alpha);
}

}  // namespace framewire::plugins
