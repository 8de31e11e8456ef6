#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire::delta {

/// A coded block of a packed frame, as the directory lists it (format.md, "A frame").
struct CodedBlock {
    int block;                            ///< its number in the frame
    std::span<const std::uint8_t> bytes;  ///< its bytes, owned by the packed frame
};

/// Size in bytes that two directory numbers rarely exceed: skipped blocks and the size of a block.
inline constexpr std::size_t place_bytes = 4;

/// Writer for the directory of a frame.
class DirectoryWriter {
public:
    /// Appends to `out`, which must outlive this object.
    explicit DirectoryWriter(std::vector<std::uint8_t>& out) : out_(&out) {}
    /// Adds a block with `bytes` bytes, an even number. Blocks must ascend.
    void add(int block, std::size_t bytes);
    /// Ends the directory of a frame with `blocks` blocks.
    void finish(int blocks);

private:
    void put(std::uint32_t number);
    void pass_over(int blocks);

    std::vector<std::uint8_t>* out_;
    int next_ = 0;
};

/// Reads the directory of a frame with `blocks` blocks and fills `coded` with the blocks and their bytes, which follow
/// the directory. Returns false if `bytes` are inconsistent. Does not allocate if `coded` has a capacity of `blocks`.
bool read_directory(std::span<const std::uint8_t> bytes, int blocks, std::vector<CodedBlock>& coded);

}  // namespace framewire::delta
