#include "framewire/detect/components.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace framewire {

void download(const DeviceComponents& from, HostComponents& to, int first, const cuda::Stream& stream) {
    if (to.frames() != from.frames() || to.capacity() != from.capacity() || first < 0 || first > from.capacity())
        fail(ErrorCode::usage,
             "cannot download {} components from each of {} lists of {} to {} lists of {}; the lists must match and "
             "have room for them",
             first, from.frames(), from.capacity(), to.frames(), to.capacity());
    const auto source = from.lists();
    const auto target = to.lists();
    cuda::download(source.found, target.found, static_cast<std::size_t>(from.frames()) * 2 * sizeof(std::int32_t),
                   stream);
    if (first == 0) return;
    // Copies the starts of all lists as an image with one row per list and gaps between the rows.
    const Shape shape{1, from.frames(), first * static_cast<int>(sizeof(Component)), 1};
    const auto stride_bytes = std::int64_t{from.capacity()} * static_cast<std::int64_t>(sizeof(Component));
    cuda::download(DeviceView<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(source.components), shape,
                                                  stride_bytes, 0),
                   HostView<std::uint8_t>(reinterpret_cast<std::uint8_t*>(target.components), shape, stride_bytes, 0),
                   stream);
}

ComponentLabelling::ComponentLabelling(ComponentLabellingParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape, "the mask to label");
    if (parameters.connectivity != 4 && parameters.connectivity != 8)
        fail(ErrorCode::usage, "connectivity is {}; allowed: 4 and 8", parameters.connectivity);
    if (parameters.min_area < 0 || parameters.max_area < parameters.min_area)
        fail(ErrorCode::usage,
             "the area limits are {} to {} pixels; the minimum must be at least 0 and at most the maximum",
             parameters.min_area, parameters.max_area);
    if (parameters.capacity < 1)
        fail(ErrorCode::usage, "the capacity is {} components; at least 1 is needed", parameters.capacity);
    const bool eight = parameters.connectivity == 8;
    workspace_ = BackendBuffer(executor.backend() == Backend::cpu
                                   ? labelling::BandWorkspace::bytes(labelling::BandCut(shape_, eight))
                                   : labelling::TileWorkspace::bytes(shape_, eight),
                               executor, sparse_memory());
}

// Checks the arguments of run() for both backends.
void ComponentLabelling::require(const void* mask, const Shape& mask_shape, int capacity, const void* labels) const {
    if (mask_shape.with_channels(1) != shape_)
        fail(ErrorCode::usage, "the mask to label is {}; {} is needed", to_string(mask_shape), to_string(shape_));
    if (!mask) fail(ErrorCode::usage, "the mask to label is a null pointer");
    if (capacity != parameters_.capacity)
        fail(ErrorCode::usage, "the lists have room for {} components; the plan needs {}", capacity,
             parameters_.capacity);
    if ((labels != nullptr) != parameters_.label_images)
        fail(ErrorCode::usage, "label images are {}",
             parameters_.label_images ? "missing" : "passed to a plan that does not produce them");
}

}  // namespace framewire

// Connected components on the CPU: runs instead of pixels, and union-find (He, Chao, Suzuki 2008). Per frame:
//
//     label_band       in parallel: finds runs, gives each a provisional component, flattens the band's forest
//     join_bands       unites components across the rows where bands meet
//     list_components  adds up, numbers in raster order, and lists
//     write_labels     in parallel, only for label images

namespace framewire {
namespace labelling {
namespace {

// Writes begin and end of each run of a row, in order, and returns the end of the list. Two words are read at a
// time; the edges of the runs are the set bits of the words xor the same words shifted by one pixel.
Run* find_runs(const std::uint32_t* words, int row_words, Run* runs) {
    static_assert(std::endian::native == std::endian::little && sizeof(Run) == 2 * sizeof(std::uint16_t));
    auto* edges = reinterpret_cast<std::uint16_t*>(runs);
    std::uint64_t before = 0;  // the pixel to the left of the word
    for (int word = 0; word < row_words; word += 2) {
        std::uint64_t pixels;
        std::memcpy(&pixels, words + word, sizeof(pixels));
        for (auto changes = pixels ^ (pixels << 1 | before); changes; changes &= changes - 1)
            *edges++ = static_cast<std::uint16_t>(word * 32 + std::countr_zero(changes));
        before = pixels >> 63;
    }
    if (before) *edges++ = static_cast<std::uint16_t>(row_words * 32);
    return reinterpret_cast<Run*>(edges);
}

// Returns the root and halves the path to it.
std::uint32_t root_of(BandComponent* components, std::uint32_t at) {
    while (components[at].parent != at) {
        components[at].parent = components[components[at].parent].parent;
        at = components[at].parent;
    }
    return at;
}

// Unites two trees and returns their root: the smaller of the two roots.
std::uint32_t unite(BandComponent* components, std::uint32_t a, std::uint32_t b) {
    a = root_of(components, a);
    b = root_of(components, b);
    if (a > b) std::swap(a, b);
    components[b].parent = a;
    return a;
}

// Adds the statistics of `part` to `whole`.
void add(const BandComponent& part, BandComponent& whole) {
    whole.min_x = std::min(whole.min_x, part.min_x);
    whole.end_x = std::max(whole.end_x, part.end_x);
    whole.min_y = std::min(whole.min_y, part.min_y);
    whole.end_y = std::max(whole.end_y, part.end_y);
    whole.area += part.area;
    whole.sum_x += part.sum_x;
    whole.sum_y += part.sum_y;
}

// Moves the statistics of `part` to `whole`; an area of 0 marks `part` as empty.
void give_to(BandComponent& part, BandComponent& whole) {
    if (part.area == 0) return;
    add(part, whole);
    part.area = 0;
}

// Returns the statistics of a single run in row `y`.
BandComponent component_of(const Run& run, std::int32_t y) {
    const std::int32_t begin = run.begin, end = run.end, area = end - begin;
    return {0, 0, begin, end, y, y + 1, area, std::int64_t{area} * (begin + end - 1) / 2, std::int64_t{area} * y};
}

// Calls touch(run index) for each run of the row above that touches `run`, and advances `above` to the first
// run that the next run of the row can touch. `reach` is the horizontal reach of a run: 1 with 8 neighbours,
// else 0.
template <class Touch>
void for_each_touched(const Run& run, int reach, const Run* runs, std::int64_t& above, std::int64_t above_end,
                      Touch&& touch) {
    while (above < above_end && runs[above].end + reach <= run.begin) ++above;
    for (; above < above_end && runs[above].begin < run.end + reach; ++above) {
        touch(above);
        if (runs[above].end >= run.end) break;  // extends at least as far: the next run may touch it too
    }
}

// Finds the runs of a band. Each run joins the component of the runs that it touches in the row above, or
// starts a new one, and its statistics are added.
void label_band(HostBitMaskView<const std::uint32_t> mask, int frame, const BandCut& cut, std::int64_t band,
                const BandWorkspace& workspace) {
    auto* const components = workspace.components;
    auto* const runs = workspace.runs;
    const int reach = cut.eight ? 1 : 0;
    const auto first = static_cast<std::uint32_t>(cut.first_component(band));
    auto next = first;
    auto above = cut.first_run(band), row_begin = above;
    for (auto y = static_cast<std::int32_t>(cut.first_row(band)); y < cut.first_row(band + 1); ++y) {
        const auto above_end = row_begin;
        const auto row_end = find_runs(mask.row(frame, y), mask.row_words(), runs + row_begin) - runs;
        for (auto index = row_begin; index < row_end; ++index) {
            auto at = next;
            for_each_touched(runs[index], reach, runs, above, above_end, [&](std::int64_t touched) {
                const auto other = workspace.run_components[touched];
                at = at == next ? root_of(components, other) : unite(components, at, other);
            });
            const auto part = component_of(runs[index], y);
            if (at == next) {
                components[next] = part;
                components[next].parent = next;
                ++next;
            } else {
                add(part, components[at]);
            }
            workspace.run_components[index] = at;
        }
        workspace.row_ends[y] = row_end;
        above = above_end;  // the row that has just been labelled
        row_begin = row_end;
    }
    workspace.band_counts[band] = next - first;
    // Parents are smaller than their children, so one pass in order flattens all trees.
    for (auto at = first; at < next; ++at) {
        auto& component = components[at];
        if (component.parent == at) continue;
        component.parent = components[component.parent].parent;
        give_to(component, components[component.parent]);
    }
}

// Unites the components of the previous band's last row with those of the first row of `band`.
void join_bands(const BandCut& cut, std::int64_t band, const BandWorkspace& workspace) {
    const auto y = cut.first_row(band);
    auto above = y - 1 > cut.first_row(band - 1) ? workspace.row_ends[y - 2] : cut.first_run(band - 1);
    for (auto index = cut.first_run(band); index < workspace.row_ends[y]; ++index)
        for_each_touched(workspace.runs[index], cut.eight ? 1 : 0, workspace.runs, above, workspace.row_ends[y - 1],
                         [&](std::int64_t touched) {
                             unite(workspace.components, workspace.run_components[index],
                                   workspace.run_components[touched]);
                         });
}

// Calls body(index, component) for the provisional components of all bands, in order.
template <class Body>
void for_each_component(const BandCut& cut, const BandWorkspace& workspace, Body&& body) {
    for (std::int64_t band = 0; band < cut.bands; ++band) {
        const auto first = cut.first_component(band);
        for (auto at = first; at < first + workspace.band_counts[band]; ++at)
            body(static_cast<std::uint32_t>(at), workspace.components[at]);
    }
}

// Adds up the statistics of all bands, numbers the roots in order, which is raster order, and lists them.
void list_components(const ComponentLabellingParameters& parameters, const BandCut& cut, const BandWorkspace& workspace,
                     int frame, const ComponentLists<MemorySpace::host>& lists) {
    std::int32_t total = 0, found = 0;
    for_each_component(cut, workspace, [&](std::uint32_t at, BandComponent& component) {
        if (component.parent != at && component.area != 0)
            give_to(component, workspace.components[root_of(workspace.components, at)]);
    });
    for_each_component(cut, workspace, [&](std::uint32_t at, BandComponent& component) {
        if (component.parent != at) {
            component.id = workspace.components[component.parent].id;
            return;
        }
        component.id = ++total;
        if (component.area < parameters.min_area || component.area > parameters.max_area) return;
        if (found < lists.capacity)
            lists.of_frame(frame)[found] = {component.id,
                                            component.min_x,
                                            component.min_y,
                                            component.end_x - component.min_x,
                                            component.end_y - component.min_y,
                                            component.area,
                                            component.sum_x,
                                            component.sum_y};
        ++found;
    });
    lists.found[frame] = found;
    lists.total[frame] = total;
}

// Writes the label image of one band.
void write_labels(const BandCut& cut, std::int64_t band, const BandWorkspace& workspace, int width,
                  std::int32_t* labels) {
    auto index = cut.first_run(band);
    for (auto y = cut.first_row(band); y < cut.first_row(band + 1); ++y) {
        auto* const row = labels + y * width;
        // Runs and gaps are written from left to right, eight pixels at a time whatever their length; the next run or
        // gap overwrites the excess. A loop over the exact length would suffer from branch mispredictions.
        const auto put = [&](int begin, int end, std::int32_t id) {
            constexpr int step = 8;
            if (end > width - step) return static_cast<void>(std::fill(row + begin, row + end, id));
            for (int x = begin; x < end; x += step) std::fill_n(row + x, step, id);
        };
        int x = 0;
        for (; index < workspace.row_ends[y]; ++index) {
            const auto run = workspace.runs[index];
            put(x, run.begin, 0);
            put(run.begin, run.end, workspace.components[workspace.run_components[index]].id);
            x = run.end;
        }
        put(x, width, 0);
    }
}

}  // namespace
}  // namespace labelling

// Bands are labelled in parallel. Joining and listing are sequential: they read only the rows where bands meet and
// the provisional components.
void ComponentLabelling::run(HostBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::host>& lists,
                             LabelImages<MemorySpace::host> images) {
    require(mask.data(), mask.shape(), lists.capacity, images.labels);
    using namespace labelling;
    const BandCut cut(shape_, parameters_.connectivity == 8);
    const BandWorkspace workspace(workspace_.data(), cut);
    for (int frame = 0; frame < shape_.frames; ++frame) {
        executor_->pool().for_chunks(cut.bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
            label_band(mask, frame, cut, band, workspace);
        });
        for (std::int64_t band = 1; band < cut.bands; ++band) join_bands(cut, band, workspace);
        list_components(parameters_, cut, workspace, frame, lists);
        if (!images.labels) continue;
        executor_->pool().for_chunks(cut.bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
            write_labels(cut, band, workspace, shape_.width, images.labels + frame * shape_.frame_bytes());
        });
    }
}

}  // namespace framewire
