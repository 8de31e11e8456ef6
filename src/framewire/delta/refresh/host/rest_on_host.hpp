#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/cells.hpp"
#include "framewire/delta/refresh/host/cell_samples.hpp"
#include "framewire/delta/refresh/rest_formulas.hpp"
#include "framewire/delta/refresh/sharper_step.hpp"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// Refinement on the host; see RestSharpener.
class RestOnHost {
public:
    /// `pool` must outlive this object.
    RestOnHost(const Shape& shape, const ThreadPool& pool);

    /// See RestSharpener::take_step().
    void take_step(const ChangesView<MemorySpace::host>& changes);
    /// Variant of take_step() for changes per block.
    void take_step(std::span<const Summary> blocks);
    /// Refines R. Writes `step` only if something changes.
    void sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const RestTurn& turn,
                 SharperStep& step);

private:
    RestingCell& cell(int number) { return cells_[static_cast<std::size_t>(number)]; }
    void look(HostView<const std::uint8_t> camera, const RestTurn& turn);
    void look(int cell, HostView<const std::uint8_t> camera, const RestTurn& turn, bool anew);
    bool moves(int cell, HostView<const std::uint8_t> camera, int within) const;
    template <class Held, class Body>
    void for_each_off(int cell, int row, HostView<const std::uint8_t> camera, HostView<Held> reference, int within,
                      int threshold, Body&& body) const;
    std::uint32_t count_off(int cell, HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                            const RestTurn& turn, int stage) const;
    struct Chosen {
        std::uint32_t changes;
        bool all;
    };
    Chosen choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference, const RestTurn& turn,
                  int stage);
    void write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within, SharperStep& step);

    Shape shape_;
    const ThreadPool* pool_;
    CellGrid grid_;
    CellSamples samples_;
    std::vector<RestingCell> cells_;
    std::vector<std::uint16_t> changed_;  // per cell: bytes changed by the delta frame to the current frame
    bool new_picture_ = false;            // that delta frame satisfies is_new_picture()
    struct Due {
        int younger, rank, cell;  // `younger` is the negated age class
        auto operator<=>(const Due&) const = default;
    };
    std::vector<Due> due_;
    std::vector<int> chosen_;
    RestAccount account_{};
};

}  // namespace framewire::delta
