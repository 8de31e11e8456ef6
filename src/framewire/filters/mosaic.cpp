#include "framewire/filters/mosaic.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/mosaic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>

// Mosaic on the CPU. Vector code first adds up columns over the rows of a cell; a cell's sum is then a short sum along
// the row. One line of pixels is drawn per row of cells and copied to the other rows.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds up each byte column over up to 257 rows. `even` and `odd` are scratch memory for half as many numbers as there
// are bytes: even and odd bytes are widened to 16 bits by masks and shifts, and interleaved at the end.
void sum_columns(const std::uint8_t* in, std::int64_t row_stride, int rows, int bytes, std::uint16_t* even,
                 std::uint16_t* odd, std::uint16_t* sums) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::Repartition<std::uint16_t, decltype(d8)> d16;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto low = hn::Set(d16, 255);
    // Several rows per pass, so that the sums are loaded and stored less often.
    constexpr int rows_at_once = 8;
    int x = 0;
    for (int y = 0; y < rows; y += rows_at_once) {
        const int count = HWY_MIN(rows_at_once, rows - y);
        // Masks and shifts widen even and odd bytes.
        const auto* row = in + y * row_stride;
        for (x = 0; x + step <= bytes; x += step) {
            auto even_sum = y == 0 ? hn::Zero(d16) : hn::LoadU(d16, even + x / 2);
            auto odd_sum = y == 0 ? hn::Zero(d16) : hn::LoadU(d16, odd + x / 2);
            for (int i = 0; i < count; ++i) {
                const auto pixels = hn::BitCast(d16, hn::LoadU(d8, row + i * row_stride + x));
                even_sum = hn::Add(even_sum, hn::And(pixels, low));
                odd_sum = hn::Add(odd_sum, hn::ShiftRight<8>(pixels));
            }
            hn::StoreU(even_sum, d16, even + x / 2);
            hn::StoreU(odd_sum, d16, odd + x / 2);
        }
    }
    for (int done = 0; done < x; done += step)
        hn::StoreInterleaved2(hn::LoadU(d16, even + done / 2), hn::LoadU(d16, odd + done / 2), d16, sums + done);
    for (; x < bytes; ++x) {
        int sum = 0;
        for (int y = 0; y < rows; ++y) sum += in[y * row_stride + x];
        sums[x] = static_cast<std::uint16_t>(sum);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <cstring>

namespace framewire {

HWY_EXPORT(sum_columns);

namespace {

constexpr int max_channels = 3;
constexpr int tile_px = 1024;  // width, in pixels, that is summed and filled at a time; its sums fit a core's L1 cache
constexpr int max_rows_at_once = 256;  // a 16-bit sum holds this many bytes
static_assert(largest_small_cell_px <= tile_px && largest_small_cell_px <= max_rows_at_once);
static_assert(part_rows <= max_rows_at_once);

/// Column sums of one tile.
class ColumnSums {
public:
    /// Adds up `rows` rows of `pixels` pixels.
    void take(const std::uint8_t* in, std::int64_t row_stride, int rows, int pixels, int channels) {
        HWY_DYNAMIC_DISPATCH(sum_columns)(in, row_stride, rows, pixels * channels, even_, odd_, sums_);
    }

    /// Adds the columns of pixels [begin, end) to `to`, which has one number per channel.
    template <class Number>
    void add(int begin, int end, int channels, Number* to) const {
        if (channels == 1) {
            for (int x = begin; x < end; ++x) to[0] += sums_[x];
            return;
        }
        std::uint32_t b = 0, g = 0, r = 0;
        for (int x = begin; x < end; ++x) {
            b += sums_[3 * x];
            g += sums_[3 * x + 1];
            r += sums_[3 * x + 2];
        }
        to[0] += b;
        to[1] += g;
        to[2] += r;
    }

private:
    alignas(64) std::uint16_t even_[tile_px * max_channels / 2], odd_[tile_px * max_channels / 2];
    alignas(64) std::uint16_t sums_[tile_px * max_channels];
};

/// Means of cells of one size by multiplication with a reciprocal (Granlund and Montgomery, 1994). Exact for cells of
/// up to 2^14 pixels, because 2^37 exceeds the largest sum (below 2^22) times the largest cell.
class SmallCellMean {
public:
    /// Prepares for cells of `pixels` pixels.
    explicit SmallCellMean(int pixels)
        : half_(static_cast<std::uint32_t>(pixels) / 2),
          reciprocal_(((std::uint64_t{1} << shift) + static_cast<std::uint64_t>(pixels) - 1) /
                      static_cast<std::uint64_t>(pixels)) {}
    /// Returns the mean of a cell with this sum, rounded to nearest, halves up.
    std::uint8_t operator()(std::uint32_t sum) const {
        return static_cast<std::uint8_t>((sum + half_) * reciprocal_ >> shift);
    }

private:
    static constexpr int shift = 37;
    static_assert(largest_small_cell_px * largest_small_cell_px <= 1 << 14);
    std::uint32_t half_;
    std::uint64_t reciprocal_;
};

// Fills pixels with one colour.
void fill_pixels(std::uint8_t* out, int pixels, int channels, const std::uint8_t* colour) {
    if (channels == 1) {
        std::memset(out, colour[0], static_cast<std::size_t>(pixels));
        return;
    }
    const auto b = colour[0], g = colour[1], r = colour[2];
    for (int x = 0; x < pixels; ++x) {
        out[3 * x] = b;
        out[3 * x + 1] = g;
        out[3 * x + 2] = r;
    }
}

// Copies a row to `rows` rows.
void repeat_row(const std::uint8_t* row, int bytes, int rows, std::uint8_t* out, std::int64_t row_stride) {
    for (int y = 0; y < rows; ++y) std::memcpy(out + y * row_stride, row, static_cast<std::size_t>(bytes));
}

// Returns the address of a pixel.
template <class T>
T* pixel(const HostView<T>& image, int frame, int y, int x) {
    return image.row(frame, y) + std::int64_t{x} * image.shape().channels;
}

// Fills rows `begin` to `end` - 1 of a grid of small cells, and adds their pixels to `totals`.
void fill_rows_of_cells(const CellGrid& grid, int begin, int end, const ImageRows<const std::uint8_t>& in,
                        const ImageRows<std::uint8_t>& out, std::uint64_t* totals) {
    const int channels = in.view.shape().channels, cell = grid.cell_px, cells_in_tile = tile_px / cell;
    const auto& zone = grid.zone;
    // Sums of a tile of columns over the rows of a cell.
    ColumnSums sums;
    alignas(64) std::uint8_t row_of_means[tile_px * max_channels];
    for (int row = begin; row < end; ++row) {
        const int y = zone.y + row * cell, height = grid.height_of(row);
        const SmallCellMean whole(cell * height), cut(grid.width_of(grid.columns - 1) * height);
        for (int first = 0; first < grid.columns; first += cells_in_tile) {
            const int last = std::min(first + cells_in_tile, grid.columns);
            const int x = zone.x + first * cell, pixels = std::min((last - first) * cell, zone.width - first * cell);
            sums.take(in.row(y) + std::int64_t{x} * channels, in.view.row_stride_bytes(), height, pixels, channels);
            // Draw one line of the cells' means.
            auto* mean_at = row_of_means;
            for (int column = first; column < last; ++column) {
                const int left = (column - first) * cell, width = grid.width_of(column);
                const auto& mean = column + 1 == grid.columns ? cut : whole;
                std::uint32_t cell_sums[max_channels] = {};
                std::uint8_t colour[max_channels];
                sums.add(left, left + width, channels, cell_sums);
                for (int channel = 0; channel < channels; ++channel) {
                    totals[channel] += cell_sums[channel];
                    colour[channel] = mean(cell_sums[channel]);
                }
                fill_pixels(mean_at, width, channels, colour);
                mean_at += width * channels;
            }
            // Copy the line to all rows of the cells.
            repeat_row(row_of_means, pixels * channels, height, out.row(y) + std::int64_t{x} * channels,
                       out.view.row_stride_bytes());
        }
    }
}

// Adds up the chunks' totals per frame. The chunks of a frame are consecutive.
void add_chunk_totals(const std::uint64_t* chunk_totals, int chunks_per_frame, const Shape& shape,
                      std::uint64_t* totals) {
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int channel = 0; channel < shape.channels; ++channel) {
            auto& total = totals[frame * shape.channels + channel];
            total = 0;
            for (int chunk = 0; chunk < chunks_per_frame; ++chunk)
                total += chunk_totals[(std::int64_t{frame} * chunks_per_frame + chunk) * shape.channels + channel];
        }
}

}  // namespace

// Without zones, all cells are filled directly. With zones, or with cells of one pixel, the image is copied first,
// which also yields the totals.
void Mosaic::run(const HostImages& images) {
    validate(images.in, shape_, "mosaic's image");
    validate(images.out, shape_, "mosaic's result");
    const auto fill = [&](const Zone& zone, bool count_totals) {
        if (CellGrid(zone, parameters_.cell_px).small_cells())
            fill_small_cells(images, zone, count_totals);
        else
            fill_large_cells(images, zone, count_totals);
    };
    if (parameters_.zones.empty() && parameters_.cell_px > 1) {
        fill({0, 0, shape_.width, shape_.height}, true);
    } else {
        copy_all(images);
        if (parameters_.cell_px > 1)
            for (const auto& zone : parameters_.zones) fill(zone, false);
    }
    has_run_ = true;
}

// Copies the batch and adds up its totals.
void Mosaic::copy_all(const HostImages& images) {
    const int rows_each = copy_rows(shape_), per_frame = copy_chunks_per_frame(shape_);
    auto* chunk_totals = chunk_totals_.as<std::uint64_t>();
    executor_->pool().for_chunks(copy_chunks(shape_), 1, [&](std::int64_t chunk, std::int64_t, std::int64_t) {
        const auto frame = static_cast<int>(chunk / per_frame);
        const int begin = static_cast<int>(chunk % per_frame) * rows_each,
                  end = std::min(begin + rows_each, shape_.height);
        auto* totals = std::fill_n(chunk_totals + chunk * shape_.channels, shape_.channels, 0) - shape_.channels;
        ColumnSums sums;
        for (int y = begin; y < end; y += max_rows_at_once)
            for (int x = 0; x < shape_.width; x += tile_px) {
                const int rows = std::min(max_rows_at_once, end - y), pixels = std::min(tile_px, shape_.width - x);
                sums.take(pixel(images.in, frame, y, x), images.in.row_stride_bytes(), rows, pixels, shape_.channels);
                sums.add(0, pixels, shape_.channels, totals);
            }
        for (int y = begin; y < end; ++y)
            std::memcpy(images.out.row(frame, y), images.in.row(frame, y),
                        static_cast<std::size_t>(shape_.row_bytes()));
    });
    add_chunk_totals(chunk_totals, per_frame, shape_, sums_.as<std::uint64_t>());
}

// Fills small cells, one chunk of rows of cells after the other.
void Mosaic::fill_small_cells(const HostImages& images, const Zone& zone, bool count_totals) {
    const CellGrid grid(zone, parameters_.cell_px);
    const int channels = shape_.channels;
    const int rows_each = cell_rows_each(grid, shape_), per_frame = fill_chunks_per_frame(grid, shape_);
    auto* chunk_totals = chunk_totals_.as<std::uint64_t>();
    executor_->pool().for_chunks(fill_chunks(grid, shape_), 1, [&](std::int64_t chunk, std::int64_t, std::int64_t) {
        const auto frame = static_cast<int>(chunk / per_frame);
        const int begin = static_cast<int>(chunk % per_frame) * rows_each, end = std::min(begin + rows_each, grid.rows);
        std::uint64_t totals[max_channels] = {};
        fill_rows_of_cells(grid, begin, end, ImageRows(images.in.frames(frame, 1)),
                           ImageRows(images.out.frames(frame, 1)), totals);
        if (count_totals) std::copy_n(totals, channels, chunk_totals + chunk * channels);
    });
    if (count_totals) add_chunk_totals(chunk_totals, per_frame, shape_, sums_.as<std::uint64_t>());
}

// Fills large cells in two passes over their parts: the first adds up pixels, the second computes the means and fills.
void Mosaic::fill_large_cells(const HostImages& images, const Zone& zone, bool count_totals) {
    const CellGrid grid(zone, parameters_.cell_px);
    const int channels = shape_.channels, cell = grid.cell_px;
    const int parts = grid.parts_per_row(), per_frame = fill_chunks_per_frame(grid, shape_);
    const auto sums_each = std::int64_t{grid.columns} * channels;
    auto* chunk_totals = chunk_totals_.as<std::uint64_t>();
    auto* chunk_sums = chunk_cell_sums_.as<std::uint32_t>();
    // Calls body(chunk, frame, row of cells, first pixel row, rows) in parallel for every part of every row of cells.
    const auto for_parts = [&](auto&& body) {
        executor_->pool().for_chunks(fill_chunks(grid, shape_), 1, [&](std::int64_t chunk, std::int64_t, std::int64_t) {
            const auto in_frame = static_cast<int>(chunk % per_frame);
            const int row = in_frame / parts, offset = in_frame % parts * part_rows;
            body(chunk, static_cast<int>(chunk / per_frame), row, zone.y + row * cell + offset,
                 std::clamp(grid.height_of(row) - offset, 0, part_rows));
        });
    };
    for_parts([&](std::int64_t chunk, int frame, int, int y, int rows) {
        auto* cell_sums = chunk_sums + chunk * sums_each;
        std::fill_n(cell_sums, sums_each, 0);
        ColumnSums sums;
        for (int x = 0; rows > 0 && x < zone.width;) {
            const int column = x / cell, end = std::min({x + tile_px, (column + 1) * cell, zone.width});
            sums.take(pixel(images.in, frame, y, zone.x + x), images.in.row_stride_bytes(), rows, end - x, channels);
            sums.add(0, end - x, channels, cell_sums + column * channels);
            x = end;
        }
        // The frame's totals follow from the cells' sums.
        if (!count_totals) return;
        for (int channel = 0; channel < channels; ++channel) {
            auto& total = chunk_totals[chunk * channels + channel];
            total = 0;
            for (int column = 0; column < grid.columns; ++column) total += cell_sums[column * channels + channel];
        }
    });
    if (count_totals) add_chunk_totals(chunk_totals, per_frame, shape_, sums_.as<std::uint64_t>());
    for_parts([&](std::int64_t chunk, int frame, int row, int y, int rows) {
        const auto first_chunk = chunk - chunk % per_frame + std::int64_t{row} * parts;
        for (int column = 0; rows > 0 && column < grid.columns; ++column) {
            const int width = grid.width_of(column);
            const auto cell_pixels =
                static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(grid.height_of(row));
            std::uint8_t colour[max_channels];
            for (int channel = 0; channel < channels; ++channel) {
                // Add up the parts of the cell.
                std::uint64_t sum = 0;
                for (int part = 0; part < parts; ++part)
                    sum += chunk_sums[(first_chunk + part) * sums_each + column * channels + channel];
                colour[channel] = static_cast<std::uint8_t>((2 * sum + cell_pixels) / (2 * cell_pixels));
            }
            auto* out = pixel(images.out, frame, y, zone.x + column * cell);
            fill_pixels(out, width, channels, colour);
            repeat_row(out, width * channels, rows - 1, out + images.out.row_stride_bytes(),
                       images.out.row_stride_bytes());
        }
    });
}

bool Mosaic::works_by_rows() const {
    return executor_->backend() == Backend::cpu && shape_.frames == 1 && parameters_.zones.empty() &&
           parameters_.cell_px > 1 && whole_grid().small_cells() && whole_grid().cell_px == parameters_.cell_px;
}

CellGrid Mosaic::whole_grid() const { return {{0, 0, shape_.width, shape_.height}, parameters_.cell_px}; }

void Mosaic::begin_rows() {
    std::fill_n(sums_.as<std::uint64_t>(), shape_.channels, 0);
    has_run_ = true;
}

void Mosaic::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) {
    validate_rows(in, shape_, "mosaic's input rows");
    validate_rows(out, shape_, "mosaic's output rows");
    const auto grid = whole_grid();
    std::uint64_t totals[max_channels] = {};
    fill_rows_of_cells(grid, out.range().begin / grid.cell_px, divide_up(out.range().end, grid.cell_px), in, out,
                       totals);
    for (int channel = 0; channel < shape_.channels; ++channel)
        std::atomic_ref(sums_.as<std::uint64_t>()[channel]).fetch_add(totals[channel], std::memory_order_relaxed);
}

}  // namespace framewire

#endif

#if HWY_ONCE

// The parts of Mosaic that do not depend on the backend: parameters, buffers and statistics. The code above and in
// mosaic.cu fills the cells.

namespace framewire {
namespace {

// Clips a zone to the image. Throws Error{usage} if nothing of it remains.
Zone cut_to(const Shape& shape, const Zone& zone) {
    if (zone.x < 0 || zone.y < 0 || zone.width < 1 || zone.height < 1)
        fail(ErrorCode::usage, "mosaic's zone {},{},{},{} is empty or has a negative position", zone.x, zone.y,
             zone.width, zone.height);
    if (zone.x >= shape.width || zone.y >= shape.height)
        fail(ErrorCode::usage, "mosaic's zone {},{},{},{} is outside the {}x{} image", zone.x, zone.y, zone.width,
             zone.height, shape.width, shape.height);
    return {zone.x, zone.y, std::min(zone.width, shape.width - zone.x), std::min(zone.height, shape.height - zone.y)};
}

const ParameterFields<MosaicParameters>& mosaic_fields() {
    using P = MosaicParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::cell_px, {.name = "cell",
                                      .help = "side of a cell in pixels; a cell larger than the image covers all of it",
                                      .minimum = 1,
                                      .maximum = max_mosaic_cell_px}),
        {{.name = "zone",
          .help = "apply only to this rectangle, given as x,y,w,h in pixels and quoted: zone='0,0,64,64'; cells start "
                  "at its corner; up to 64 zones",
          .type = ParameterInfo::Type::text,
          .repeatable = true},
         [](const P&) { return std::string(); },
         [](P& all, const std::string& text) {
             if (!text.empty()) all.zones.push_back(parse_zone(text));
         }},
    };
    return fields;
}

// Validates the parameters and clips the zones to images of one shape.
MosaicParameters checked(MosaicParameters parameters, const Shape& shape) {
    validate(shape, "mosaic's image");
    mosaic_fields().check(parameters, "mosaic");
    if (parameters.zones.size() > max_mosaic_zones)
        fail(ErrorCode::usage, "mosaic has {} zones; allowed: up to {}", parameters.zones.size(), max_mosaic_zones);
    for (auto& zone : parameters.zones) zone = cut_to(shape, zone);
    return parameters;
}

}  // namespace

// Accepts exactly four numbers and nothing after them.
Zone parse_zone(std::string_view text) {
    std::array<int, 4> numbers{};
    auto rest = text;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
        const bool is_number = take_number(rest, numbers[index]) == std::errc{};
        const bool last = index + 1 == numbers.size();
        const bool ended_well = last ? rest.empty() : rest.starts_with(',');
        const int least = index < 2 ? 0 : 1;
        if (!is_number || !ended_well || numbers[index] < least)
            fail(ErrorCode::usage,
                 "zone '{}' is not x,y,w,h: four whole numbers, x and y at least 0, w and h at least 1; in a chain it "
                 "must be quoted: zone='0,0,64,64'",
                 text);
        if (!last) rest.remove_prefix(1);
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

// Allocates sums for the zone that needs most of them; zones are filled one after the other.
Mosaic::Mosaic(MosaicParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(checked(std::move(parameters), shape)), shape_(shape), executor_(&executor) {
    const auto frames = static_cast<std::int64_t>(shape.frames);
    const auto totals_bytes = static_cast<std::size_t>(frames * shape.channels) * sizeof(std::uint64_t);
    auto zones = parameters_.zones;
    if (zones.empty()) zones.push_back({0, 0, shape.width, shape.height});
    // The buffers have the size that the largest zone needs.
    std::int64_t cell_sums = 0, chunks = copy_chunks(shape), chunk_cell_sums = 0;
    for (const auto& zone : zones) {
        const CellGrid grid(zone, parameters_.cell_px);
        chunks = std::max(chunks, fill_chunks(grid, shape));
        if (grid.small_cells()) continue;
        cell_sums = std::max(cell_sums, frames * grid.rows * grid.columns * shape.channels);
        chunk_cell_sums = std::max(chunk_cell_sums, fill_chunks(grid, shape) * grid.columns * shape.channels);
    }
    if (executor.backend() == Backend::cpu) {
        cell_sums = 0;
        chunk_totals_ = HostBuffer(static_cast<std::size_t>(chunks * shape.channels) * sizeof(std::uint64_t));
        chunk_cell_sums_ = HostBuffer(static_cast<std::size_t>(chunk_cell_sums) * sizeof(std::uint32_t));
    }
    sums_ = BackendBuffer(totals_bytes + static_cast<std::size_t>(cell_sums) * sizeof(std::uint64_t), executor);
}

// The totals are sums over whole frames, even if only zones are covered.
std::vector<FilterFigure> Mosaic::figures() const {
    if (!has_run_) return {};
    constexpr std::string_view gray_name[] = {"mean"}, bgr_names[] = {"mean_b", "mean_g", "mean_r"};
    const auto* names = shape_.channels == 1 ? gray_name : bgr_names;
    std::vector<std::uint64_t> totals(static_cast<std::size_t>(shape_.frames * shape_.channels));
    sums_.get(totals.data(), totals.size() * sizeof totals[0]);
    const auto pixels = static_cast<double>(std::int64_t{shape_.width} * shape_.height);
    std::vector<FilterFigure> figures;
    for (std::size_t index = 0; index < totals.size(); ++index)
        figures.push_back({names[index % static_cast<std::size_t>(shape_.channels)],
                           static_cast<int>(index) / shape_.channels, static_cast<double>(totals[index]) / pixels});
    return figures;
}

FilterInfo mosaic_info() {
    return {
        .name = "mosaic",
        .summary = "mosaic of square cells, each filled with its mean colour",
        .parameters = mosaic_fields().infos(),
        .examples = {"mosaic=12", "mosaic=32:zone='0,0,200,150':zone='300,60,80,80'"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                checked(mosaic_fields().from(values), shape);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Mosaic>>(mosaic_fields().from(values), shape, executor);
        },
        .kind = [](const ParameterValues& values) -> FilterKind {
            const auto parameters = mosaic_fields().from(values);
            if (!parameters.zones.empty()) return {};
            return CellMeans{parameters.cell_px};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
