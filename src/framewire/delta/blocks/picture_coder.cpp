#include "framewire/delta/blocks/picture_coder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {
namespace {

// The first four bytes of a block; those of a step are a state, which is never that small.
constexpr std::uint32_t form_whole = 1, form_plain = 2;
constexpr int form_bytes = 4;

constexpr int lanes = 32;
constexpr int small_limit = picture_models::small_symbols - 1;

using Predictor = int;
constexpr Predictor by_slope = 0, by_left = 1, by_above = 2;

/// Residuals as numbers from 0 on, the smallest first: 0, -1, 1, -2, 2 ...
std::uint8_t fold_residual(std::uint8_t residual) {
    const auto value = static_cast<std::int8_t>(residual);
    return static_cast<std::uint8_t>(value < 0 ? -2 * value - 1 : 2 * value);
}
std::uint8_t unfold_residual(std::uint8_t folded) {
    return static_cast<std::uint8_t>(folded & 1 ? ~(folded >> 1) : folded >> 1);
}

std::uint8_t predict(Predictor by, const std::uint8_t* sample, std::ptrdiff_t above) {
    switch (by) {
    case by_left: return sample[-1];
    case by_above: return sample[above];
    default: return static_cast<std::uint8_t>(sample[-1] + sample[above] - sample[above - 1]);
    }
}

/// The class of a part whose residuals add up to `sum`, without their signs.
int class_of(int sum, int samples) {
    // Their mean in 1/256, each 1.7 times the one before.
    constexpr int limits[picture_models::classes - 1] = {20, 35, 59, 101, 171, 291, 494, 840, 1429, 2429, 4129};
    const int mean = sum * 256 / samples;
    int part_class = 0;
    while (part_class < picture_models::classes - 1 && mean > limits[part_class]) ++part_class;
    return part_class;
}

void put_form(std::vector<std::uint8_t>& out, std::uint32_t form) {
    for (int byte = 0; byte < form_bytes; ++byte) out.push_back(static_cast<std::uint8_t>(form >> (8 * byte)));
}

std::uint32_t form_of(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < form_bytes) return 0;
    return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
}

/// Calls body(plane, left, top, width, height) for the parts of a block in the order in which they are coded.
template <class Body>
void for_each_part(const BlockPlace& block, int planes, Body&& body) {
    for (int plane = 0; plane < planes; ++plane)
        for (int top = 0; top < block.height; top += part_side)
            for (int left = 0; left < block.width; left += part_side)
                body(plane, left, top, std::min(part_side, block.width - left), std::min(part_side, block.height - top));
}

}  // namespace

void BlockPlanes::take(HostView<const std::uint8_t> picture, const BlockPlace& block) {
    const int channels = picture.shape().channels;
    for (int y = 0; y < block.height; ++y) {
        const auto* pixel = picture.row(0, block.y + y) + std::int64_t{block.x} * channels;
        if (channels == 1) {
            std::copy_n(pixel, block.width, row(0, y));
            continue;
        }
        auto *green = row(0, y), *blue = row(1, y), *red = row(2, y);
        for (int x = 0; x < block.width; ++x, pixel += 3) {
            green[x] = pixel[1];
            blue[x] = static_cast<std::uint8_t>(pixel[0] - pixel[1]);
            red[x] = static_cast<std::uint8_t>(pixel[2] - pixel[1]);
        }
    }
}

void BlockPlanes::give(HostView<std::uint8_t> picture, const BlockPlace& block) {
    const int channels = picture.shape().channels;
    for (int y = 0; y < block.height; ++y) {
        auto* pixel = picture.row(0, block.y + y) + std::int64_t{block.x} * channels;
        if (channels == 1) {
            std::copy_n(row(0, y), block.width, pixel);
            continue;
        }
        const auto *green = row(0, y), *blue = row(1, y), *red = row(2, y);
        for (int x = 0; x < block.width; ++x, pixel += 3) {
            pixel[0] = static_cast<std::uint8_t>(blue[x] + green[x]);
            pixel[1] = green[x];
            pixel[2] = static_cast<std::uint8_t>(red[x] + green[x]);
        }
    }
}

void PictureEncoder::choose(int plane, int left, int top, int width, int height) {
    int sums[picture_models::predictors] = {};
    for (int y = top; y < top + height; ++y) {
        const auto* row = planes_.row(plane, y);
        for (int x = left; x < left + width; ++x)
            for (Predictor by = 0; by < picture_models::predictors; ++by) {
                const auto residual = static_cast<std::uint8_t>(row[x] - predict(by, row + x, -BlockPlanes::stride));
                sums[by] += std::abs(static_cast<std::int8_t>(residual));
            }
    }
    const auto best = static_cast<Predictor>(std::min_element(sums, sums + picture_models::predictors) - sums);
    parts_.push_back(static_cast<std::uint8_t>(best * picture_models::classes + class_of(sums[best], width * height)));
    for (int y = top; y < top + height; ++y) {
        const auto* row = planes_.row(plane, y);
        for (int x = left; x < left + width; ++x)
            residuals_.push_back(
                fold_residual(static_cast<std::uint8_t>(row[x] - predict(best, row + x, -BlockPlanes::stride))));
    }
}

void PictureEncoder::encode(HostView<const std::uint8_t> picture, const BlockPlace& block,
                            std::vector<std::uint8_t>& out) {
    const int planes = picture.shape().channels;
    planes_.take(picture, block);
    parts_.clear();
    residuals_.clear();
    for_each_part(block, planes, [&](auto... part) { choose(part...); });

    // Last things first: the residuals of all lanes, then the lanes' states, then the parts.
    const auto& models = trained_picture_models();
    words_.resize(residuals_.size() * 2 + parts_.size() + 2 * lanes + 4);
    auto* const end = words_.data() + words_.size();
    auto* word = end;
    std::uint32_t states[lanes];
    std::fill_n(states, lanes, rans::least_state);
    auto index = residuals_.size();
    auto part = parts_.size();
    std::vector<int> counts;
    for_each_part(block, planes, [&](int, int, int, int width, int height) { counts.push_back(width * height); });
    while (part-- > 0) {
        const int part_class = parts_[part] % picture_models::classes;
        const bool small = part_class < picture_models::small_classes;
        const int first = small ? picture_models::small_residual.at(part_class)
                                : picture_models::large_residual.at(part_class - picture_models::small_classes);
        for (int i = counts[part]; i-- > 0;) {
            const int folded = residuals_[--index];
            auto& state = states[index % lanes];
            const bool other = small && folded >= small_limit;
            if (other) state = rans::put_bits(state, static_cast<std::uint32_t>(folded), 8, word);
            state = rans::put(state, models.symbol(first + (other ? small_limit : folded)), word);
        }
    }
    for (int lane = lanes; lane-- > 0;) {
        *--word = static_cast<std::uint16_t>(states[lane] >> 16);
        *--word = static_cast<std::uint16_t>(states[lane]);
    }
    auto state = rans::least_state;
    for (part = parts_.size(); part-- > 0;) {
        const int before = part ? parts_[part - 1] % picture_models::classes : 0;
        state = rans::put(state, models.symbol(picture_models::part.at(before) + parts_[part]), word);
    }
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);

    const auto coded = static_cast<std::size_t>(end - word) * 2;
    const auto plain = static_cast<std::size_t>(block.pixels()) * static_cast<std::size_t>(planes);
    if (coded < plain) {
        put_form(out, form_whole);
        for (; word != end; ++word) {
            out.push_back(static_cast<std::uint8_t>(*word));
            out.push_back(static_cast<std::uint8_t>(*word >> 8));
        }
        return;
    }
    put_form(out, form_plain);
    for (int y = 0; y < block.height; ++y) {
        const auto* row = picture.row(0, block.y + y) + std::int64_t{block.x} * planes;
        out.insert(out.end(), row, row + std::int64_t{block.width} * planes);
    }
    if (plain % 2) out.push_back(0);
}

bool PictureDecoder::is_picture(std::span<const std::uint8_t> bytes) {
    const auto form = form_of(bytes);
    return form == form_whole || form == form_plain;
}

bool PictureDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block,
                            HostView<std::uint8_t> picture) {
    const int planes = picture.shape().channels;
    const auto rest = bytes.subspan(std::min<std::size_t>(bytes.size(), form_bytes));
    if (form_of(bytes) == form_whole) {
        if (!decode_whole(rest, block, planes)) return false;
        planes_.give(picture, block);
        return true;
    }
    const auto plain = static_cast<std::size_t>(block.pixels()) * static_cast<std::size_t>(planes);
    if (form_of(bytes) != form_plain || rest.size() != plain + plain % 2) return false;
    const auto row_bytes = static_cast<std::size_t>(block.width) * static_cast<std::size_t>(planes);
    for (int y = 0; y < block.height; ++y)
        std::memcpy(picture.row(0, block.y + y) + std::int64_t{block.x} * planes,
                    rest.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    return true;
}

bool PictureDecoder::decode_whole(std::span<const std::uint8_t> bytes, const BlockPlace& block, int planes) {
    const auto& models = trained_picture_models();
    rans::Words words(bytes);
    const auto count = static_cast<std::size_t>(planes * block.part_columns() * block.part_rows());
    {
        rans::Reader reader(words);
        int before = 0;
        for (std::size_t part = 0; part < count; ++part) {
            parts_[part] = static_cast<std::uint8_t>(
                models.read(reader, picture_models::part.at(before), picture_models::part.symbols));
            before = parts_[part] % picture_models::classes;
        }
        if (!reader.at_end()) return false;
    }
    std::uint32_t states[lanes];
    for (auto& state : states) state = words.next_state();
    std::size_t index = 0, part = 0;
    for_each_part(block, planes, [&](int, int, int, int width, int height) {
        const int part_class = parts_[part++] % picture_models::classes;
        const bool small = part_class < picture_models::small_classes;
        const int first = small ? picture_models::small_residual.at(part_class)
                                : picture_models::large_residual.at(part_class - picture_models::small_classes);
        for (int i = 0; i < width * height; ++i, ++index) {
            rans::Reader reader(words, states[index % lanes]);
            int folded = models.read(reader, first, small ? picture_models::small_symbols : 256);
            if (small && folded == small_limit) folded = static_cast<int>(reader.bits(8));
            residuals_[index] = static_cast<std::uint8_t>(folded);
            states[index % lanes] = reader.state();
        }
    });
    if (!words.at_end() || std::any_of(states, states + lanes, [](auto state) { return state != rans::least_state; }))
        return false;

    const auto* residual = residuals_.data();
    part = 0;
    for_each_part(block, planes, [&](int plane, int left, int top, int width, int height) {
        const Predictor by = parts_[part++] / picture_models::classes;
        for (int y = top; y < top + height; ++y) {
            auto* row = planes_.row(plane, y);
            for (int x = left; x < left + width; ++x)
                row[x] = static_cast<std::uint8_t>(predict(by, row + x, -BlockPlanes::stride) +
                                                   unfold_residual(*residual++));
        }
    });
    return true;
}

}  // namespace framewire::delta
