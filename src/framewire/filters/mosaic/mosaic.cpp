#include "framewire/filters/mosaic/mosaic.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/filters/mosaic/mosaic_cells.hpp"
#include "framewire/filters/mosaic/mosaic_host.hpp"

#include <algorithm>
#include <array>

// Parameters, buffers and statistics of Mosaic, which do not depend on the backend. The cells are filled in
// mosaic_cpu.cpp and mosaic.cu.

namespace framewire {
namespace {

// Clips a zone to the image. Throws Error{usage} if nothing of it remains.
Zone cut_to(const Shape& shape, const Zone& zone) {
    if (zone.x < 0 || zone.y < 0 || zone.width < 1 || zone.height < 1)
        fail(ErrorCode::usage, "mosaic's zone {},{},{},{} has no size or begins before the image", zone.x, zone.y,
             zone.width, zone.height);
    if (zone.x >= shape.width || zone.y >= shape.height)
        fail(ErrorCode::usage, "mosaic's zone {},{},{},{} lies outside the image of {}x{}", zone.x, zone.y, zone.width,
             zone.height, shape.width, shape.height);
    return {zone.x, zone.y, std::min(zone.width, shape.width - zone.x), std::min(zone.height, shape.height - zone.y)};
}

const ParameterFields<MosaicParameters>& mosaic_fields() {
    using P = MosaicParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::cell_px, {.name = "cell",
                                      .help = "side of a cell in pixels; larger than the image makes one cell",
                                      .minimum = 1,
                                      .maximum = max_mosaic_cell_px}),
        {{.name = "zone",
          .help = "x,y,w,h in pixels, quoted: zone='0,0,64,64'; only there, with cells from its own corner on; may be "
                  "given up to 64 times",
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
        fail(ErrorCode::usage, "mosaic has {} zones; allowed are up to {}", parameters.zones.size(), max_mosaic_zones);
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
                 "zone '{}' is not x,y,w,h: four whole numbers, x and y from 0 on, w and h from 1 on; in a chain "
                 "quoted, as "
                 "zone='0,0,64,64'",
                 text);
        if (!last) rest.remove_prefix(1);
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

// Allocates the sums for the zone that needs most of them; zones are filled one after the other.
Mosaic::Mosaic(MosaicParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(checked(std::move(parameters), shape)), shape_(shape), executor_(&executor) {
    const auto frames = static_cast<std::int64_t>(shape.frames);
    const auto totals_bytes = static_cast<std::size_t>(frames * shape.channels) * sizeof(std::uint64_t);
    auto zones = parameters_.zones;
    if (zones.empty()) zones.push_back({0, 0, shape.width, shape.height});
    // Size the buffers for the zone that needs most.
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

// The totals are sums over whole frames, also if only zones are covered.
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
        .summary = "square cells, each of its own mean colour",
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
        .cell_px = [](const ParameterValues& values) -> std::optional<int> {
            const auto parameters = mosaic_fields().from(values);
            return parameters.zones.empty() ? std::optional(parameters.cell_px) : std::nullopt;
        },
    };
}

}  // namespace framewire
