#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/directory.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/fwd/file/damage.hpp"
#include "framewire/media/fwd/file/layout.hpp"
#include "framewire/media/media.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::fwd {

/// Reads the frames of a `.fwd` file, packed, with its index or without. Everything in it is taken for hostile. Damage
/// is said, and read over. Used by one thread at a time.
class Reader {
public:
    /// A frame as the file has it.
    struct Frame {
        std::uint32_t number = 0;
        std::int64_t lost = 0;  ///< frames that should be before it, and behind the one read last
        IndexEntry place{};
        ByteSpan packed{};                      ///< until the next is read
        std::vector<delta::CodedBlock> blocks;  ///< of `packed`
        std::vector<std::uint8_t> broken;       ///< not 0 for those of them whose check is wrong
        bool is_intact = false;                 ///< none is
    };

    /// Throws Error{no_input} where it is no such file, Error{config} where it is of another version.
    Reader(const std::string& path, const SourceOptions& options);

    const Header& header() const { return header_; }
    const std::string& name() const { return file_.name(); }
    double seconds(std::int64_t ticks) const {
        return static_cast<double>(ticks) * static_cast<double>(header_.time_base.numerator) /
               static_cast<double>(header_.time_base.denominator);
    }
    /// How many frames there are, where there is an index.
    std::optional<std::int64_t> frames() const { return frames_; }
    Damage& damage() { return damage_; }
    const Damage& damage() const { return damage_; }

    /// The next frame; false at the end, and when a stop came.
    bool next(Frame& frame);
    /// Goes to an intact picture from which the first frame at or after `seconds` can be made, or stays where it is if
    /// that is shorter. False, and stays, where there is no picture.
    bool go_to(double seconds);
    /// Calls each(place) for all frames, by the index or, where that is not there, by looking for them.
    void for_each_place(const std::function<void(const IndexEntry& place)>& each);

private:
    struct Place {
        std::uint32_t number;
        IndexEntry at;
    };
    struct Position {
        std::int64_t offset = first_record;
        std::uint32_t number = 0;  // of the next frame
        std::int64_t last_ticks = -1;
    };

    void read_both_headers(const SourceOptions& options);
    void find_index();
    bool read_index(std::int64_t offset, const std::function<void(const IndexEntry&)>& each);
    void find_pictures();
    bool next_head(Frame& frame);
    bool read_head(std::int64_t offset, Frame& frame);
    bool read_blocks(Frame& frame);
    bool is_index(std::int64_t offset);
    std::optional<std::int64_t> find_mark(std::int64_t from);
    void say_end(std::int64_t from);
    ByteSpan bytes_at(std::int64_t offset, std::int64_t bytes);

    InputFile file_;
    Damage damage_;
    Header header_;
    delta::BlockGrid grid_{Shape{1, 1, 1, 1}};
    std::size_t packed_limit_ = 0;
    std::int64_t end_ = 0;               // of the frames: where the index is, or the end of the file
    std::optional<std::int64_t> index_;  // where it is, if it is whole
    std::optional<std::int64_t> frames_;
    std::optional<std::vector<Place>> pictures_;
    Position position_;
    bool is_cut_ = false;  // the head read last is whole, but not its frame
    Bytes buffer_;         // bytes of the file from buffer_offset_
    std::int64_t buffer_offset_ = 0, last_bytes_ = 0;
    std::int64_t search_budget_bytes_ = 0;
};

}  // namespace framewire::fwd
