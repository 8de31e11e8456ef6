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

/// Reads the packed frames of a `.fwd` file, with or without its index. The content is treated as hostile: damage is
/// reported and skipped. Not thread-safe.
class Reader {
public:
    /// Frame as stored.
    struct Frame {
        std::uint32_t number = 0;
        std::int64_t lost = 0;  ///< number of missing frames between the last one read and this one
        IndexEntry place{};
        ByteSpan packed{};                      ///< valid until the next frame is read
        std::vector<delta::CodedBlock> blocks;  ///< of `packed`
        std::vector<std::uint8_t> broken;       ///< per block: nonzero if its checksum is wrong
        bool is_intact = false;                 ///< no block is broken
    };

    /// Throws Error{no_input} if it is not a `.fwd` file, Error{config} if it has another version.
    Reader(const std::string& path, const SourceOptions& options);

    const Header& header() const { return header_; }
    const std::string& name() const { return file_.name(); }
    /// Time of a frame in seconds.
    double seconds(std::int64_t ticks) const {
        return static_cast<double>(ticks) * static_cast<double>(header_.time_base.numerator) /
               static_cast<double>(header_.time_base.denominator);
    }
    /// Number of frames, if the file has an index.
    std::optional<std::int64_t> frames() const { return frames_; }
    Damage& damage() { return damage_; }
    const Damage& damage() const { return damage_; }

    /// Reads the next frame; returns false at the end and after a stop request.
    bool next(Frame& frame);
    /// Seeks to an intact keyframe from which the first frame at or after `seconds` can be decoded, or stays at the
    /// current position if that is closer. Returns false and stays if there is no keyframe.
    bool go_to(double seconds);
    /// Calls each(place) for all frames, from the index or, without one, by searching the file.
    void for_each_place(const std::function<void(const IndexEntry& place)>& each);

private:
    // A keyframe of the file.
    struct Place {
        std::uint32_t number;
        IndexEntry at;
    };
    // State of sequential reading.
    struct Position {
        std::int64_t offset = first_record;
        std::uint32_t number = 0;  // of the next frame
        std::int64_t last_ticks = -1;
    };

    // Reads both copies of the header.
    void read_both_headers(const SourceOptions& options);
    // Reads the index, if the file has an intact one.
    void find_index();
    // Calls `each` for the entries of an index.
    bool read_index(std::int64_t offset, const std::function<void(const IndexEntry&)>& each);
    // Lists keyframes without an index.
    void find_pictures();
    // Finds the next frame header, skipping damage.
    bool next_head(Frame& frame);
    // Reads the frame header at an offset.
    bool read_head(std::int64_t offset, Frame& frame);
    // Verifies the blocks of a frame.
    bool read_blocks(Frame& frame);
    // True if an unreadable index starts here.
    bool is_index(std::int64_t offset);
    // Searches for a frame mark.
    std::optional<std::int64_t> find_mark(std::int64_t from);
    // Reports what follows the last frame.
    void say_end(std::int64_t from);
    // Reads through a buffer; fewer bytes at the end of the file.
    ByteSpan bytes_at(std::int64_t offset, std::int64_t bytes);

    InputFile file_;
    Damage damage_;
    Header header_;
    delta::BlockGrid grid_{Shape{1, 1, 1, 1}};
    std::size_t packed_limit_ = 0;
    std::int64_t end_ = 0;               // end of the frames: start of the index, or end of the file
    std::optional<std::int64_t> index_;  // its offset, if it is intact
    std::optional<std::int64_t> frames_;
    std::optional<std::vector<Place>> pictures_;
    Position position_;
    bool is_cut_ = false;  // the last header read is intact, but its frame is truncated
    Bytes buffer_;         // file content from buffer_offset_
    std::int64_t buffer_offset_ = 0, last_bytes_ = 0;
    std::int64_t search_budget_bytes_ = 0;
};

}  // namespace framewire::fwd
