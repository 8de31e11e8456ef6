// Coding of keyframe blocks in the forms "whole" and "plain" (format.md, "Pictures"). The plain form bounds the size
// of blocks that do not compress, such as noise.

#include "framewire/delta/pictures/picture_coder.hpp"

#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <algorithm>
#include <cstring>

namespace framewire::delta {
namespace {

// Appends the number with which a block begins.
void put_form(std::vector<std::uint8_t>& out, std::uint32_t form) {
    for (int byte = 0; byte < form_bytes; ++byte) out.push_back(static_cast<std::uint8_t>(form >> (8 * byte)));
}

// Returns that number, or 0 if the bytes are too short.
std::uint32_t form_of(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < form_bytes) return 0;
    return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
}

// Calls body(plane, left, top, width, height) for each sub-block in the order of coding.
template <class Body>
void for_each_part(const BlockPlace& block, int planes, Body&& body) {
    for (int plane = 0; plane < planes; ++plane)
        for (int top = 0; top < block.height; top += part_side)
            for (int left = 0; left < block.width; left += part_side)
                body(plane, left, top, std::min(part_side, block.width - left),
                     std::min(part_side, block.height - top));
}

}  // namespace

// Chooses for each sub-block the predictor with the least sum of absolute residuals, and folds the residuals.
void PictureEncoder::choose(const BlockPlace& block, int planes) {
    std::array<ResidualSums, parts_per_row> sums;
    std::size_t part = 0;
    auto* residuals = parts_.residuals.data();
    for_each_part(block, planes, [&](int plane, int left, int top, int width, int height) {
        const auto* sample = planes_.row(plane, top) + left;
        const auto column = static_cast<std::size_t>(left / part_side);
        // The sums of a whole row of sub-blocks at once; partial sub-blocks are done again on their own.
        if (left == 0) sum_residuals(sample, sums);
        if (width < part_side || height < part_side) sums[column] = sum_residuals(sample, width, height);
        const auto& of = sums[column];
        const auto least = std::min_element(of.begin(), of.end());
        const auto by = static_cast<Predictor>(least - of.begin());
        parts_.by[part] = by;
        parts_.sizes[part++] = {static_cast<std::uint8_t>(residual_class(*least, width * height)),
                                static_cast<std::uint8_t>(width * height)};
        take_residuals(sample, by, width, height, residuals);
        residuals += width * height;
    });
}

void PictureEncoder::encode(HostView<const std::uint8_t> picture, const BlockPlace& block,
                            std::vector<std::uint8_t>& out) {
    const int planes = picture.shape().channels;
    planes_.take(picture, block);
    choose(block, planes);

    // rANS codes the last symbol first: the residuals, their states, and then the predictors and classes of the
    // sub-blocks.
    const auto& models = trained_picture_models();
    const auto parts = static_cast<std::size_t>(planes * block.part_columns() * block.part_rows());
    const auto samples = static_cast<std::size_t>(planes * block.pixels());
    words_.resize(samples * 2 + parts + 2 * residual_lanes + 4 + words_below);
    auto* const end = words_.data() + words_.size();
    auto* word = put_residuals(std::span(parts_.sizes).first(parts), std::span(parts_.residuals).first(samples), end);
    auto state = rans::least_state;
    for (auto part = parts; part-- > 0;) {
        const int before = part ? parts_.sizes[part - 1].part_class : 0;
        const int symbol = static_cast<int>(parts_.by[part]) * picture_models::classes + parts_.sizes[part].part_class;
        state = rans::put(state, models.symbol(picture_models::part.at(before) + symbol), word);
    }
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);

    // Take the plain form if coding does not save anything.
    const auto coded = static_cast<std::size_t>(end - word) * 2;
    const auto plain = static_cast<std::size_t>(block.pixels()) * static_cast<std::size_t>(planes);
    if (coded < plain) {
        put_form(out, form_whole);
        rans::append(word, end, out);
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
    rans::Reader reader(words);
    if (!rans::is_state(reader.state())) return false;
    int before = 0;
    std::size_t part = 0;
    for_each_part(block, planes, [&](int, int, int, int width, int height) {
        const int symbol = models.read(reader, picture_models::part.at(before), picture_models::part.symbols);
        before = symbol % picture_models::classes;
        parts_.by[part] = static_cast<Predictor>(symbol / picture_models::classes);
        parts_.sizes[part++] = {static_cast<std::uint8_t>(before), static_cast<std::uint8_t>(width * height)};
    });
    const auto samples = static_cast<std::size_t>(planes * block.pixels());
    if (!reader.at_end() || words.overrun() ||
        !read_residuals(words.rest(), std::span(parts_.sizes).first(part), std::span(parts_.residuals).first(samples)))
        return false;

    const auto* residuals = parts_.residuals.data();
    part = 0;
    for_each_part(block, planes, [&](int plane, int left, int top, int width, int height) {
        add_residuals(planes_.row(plane, top) + left, parts_.by[part++], width, height, residuals);
        residuals += width * height;
    });
    return true;
}

}  // namespace framewire::delta
