#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/cell_samples.hpp"
#include "framewire/delta/refresh/cells.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace framewire::delta {

/// What makes resting places of R sharper: changes, each of more than `threshold`, for a Packer.
struct SharperStep {
    explicit SharperStep(const Shape& shape) : changes(shape) { clear(); }

    HostChanges changes;  ///< has room for every byte; its memory is taken when it is written
    int threshold = 0;
    std::size_t stage = 0;      ///< of RestSharpener
    double expected_bytes = 0;  ///< that it will take when it is packed

    bool empty() const { return count() == 0; }
    std::uint32_t count() const { return changes.view().summaries[0].count; }
    void clear() { changes.view().summaries[0] = {}; }
};

/// Sharpens what rests. A threshold leaves specks of noise and ghosts in R. Cells of the picture that nothing but noise
/// changed for some seconds are brought to the mean of what the camera showed meanwhile: first the bytes further from
/// it than half of the threshold, after as long again those further than a quarter, at last all. Every byte stays
/// within the threshold of the frame at hand. A change of single bytes, as by noise, brings the second stage again;
/// where more changes, a cell begins anew.
///
/// Works on the host. Knows no clock: times are those of the frames. One thread sharpens, another may tell what steps
/// took.
class RestSharpener {
public:
    static constexpr double least_seconds = 0.1, most_seconds = 3600;
    /// Takes at most so much, by the frames' times.
    static constexpr double bits_per_pixel_and_second = 0.5;

    /// For frames of `shape` (one frame) within `threshold`, whose cells rest for `seconds`. Throws Error{usage} on
    /// seconds and a threshold that are not allowed; a threshold of 0 leaves nothing to sharpen.
    RestSharpener(const Shape& shape, double seconds, int threshold);

    /// R is new, or nobody needs it any more: nothing rests yet.
    void begin_anew();

    /// What the encoder's step to the next frame changed: its changes, or how many bytes of each block it found to be
    /// off. To be called before sharpen(), for each frame. Where it is not, nothing changed.
    void take_step(const ChangesView<MemorySpace::host>& changes);
    void take_step(std::span<const Summary> blocks);

    struct Moment {
        double seconds = 0;     ///< of the frame
        int within = 0;         ///< the threshold of the frame, which R keeps
        double room_bytes = 0;  ///< that may be sent beside the encoder's step
    };
    /// Looks at the frame and at R, which that step led to. Where it is time and there is room, makes R sharper and
    /// leaves in `step` how, else an empty step. Keeps `errors`, those of R against the frame, true: max_error stays
    /// that of R before where that is more. Allocates nothing.
    void sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                 Summary& errors, SharperStep& step);

    /// What a step that is not empty took.
    void took(const SharperStep& step, std::int64_t bytes);

private:
    static constexpr std::size_t stages = 3;

    struct Cell {
        double since = 0;        // it rests, or had its last change
        std::uint8_t stage = 0;  // that comes next; `stages`: none does
        bool was_mean = false;   // the last stage is behind it, and only noise came since
        bool specked = false;    // by the step to this frame a byte or more changed,
        bool doubtful = false;   // and so many that they may be more than noise
    };

    double bytes_per_second() const;
    Cell& cell(int number) { return cells_[static_cast<std::size_t>(number)]; }
    const Cell& cell(int number) const { return cells_[static_cast<std::size_t>(number)]; }
    int block_of(int cell) const;
    void move_on(double seconds);
    void begin_anew(int cell);
    void look(HostView<const std::uint8_t> camera, int within);
    bool moves(int cell, HostView<const std::uint8_t> camera, int within) const;
    bool is_due(int cell, std::size_t stage) const;
    template <class Held, class Body>
    void for_each_off(int cell, int row, HostView<const std::uint8_t> camera, HostView<Held> reference, int within,
                      int threshold, Body&& body) const;
    bool choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference, const Moment& moment,
                double allowance, double room, SharperStep& step);
    void write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within, Summary& errors,
               SharperStep& step);
    void settle(int cell);
    std::size_t looked_at_once() const;
    double bytes_per_change(std::size_t stage);

    Shape shape_;
    CellGrid grid_;
    double seconds_;
    std::array<int, stages> thresholds_;
    CellSamples samples_;
    std::vector<Cell> cells_;
    std::vector<std::uint16_t> counts_;  // changes of each cell
    struct Due {
        double since;
        int block, cell;
        auto operator<=>(const Due&) const = default;
    };
    std::vector<Due> due_;
    std::vector<int> chosen_;
    std::size_t next_stage_ = 0;
    bool begun_ = false;
    double frame_at_ = 0, frame_seconds_ = 0;
    double now_ = 0;  // the frames' time without leaps
    std::int64_t turn_ = 0;

    std::mutex mutex_;  // guards what follows
    double allowance_bytes_ = 0, under_way_bytes_ = 0;
    std::array<double, stages> bytes_per_change_;
};

}  // namespace framewire::delta
