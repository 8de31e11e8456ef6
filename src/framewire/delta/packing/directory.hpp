#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire::delta {

/// Which blocks of a frame are coded, and how many bytes each takes; see format.md.
struct CodedBlock {
    int block;
    std::span<const std::uint8_t> bytes;
};

/// What a block's place in the directory seldom takes more than, with blocks passed over before it: two numbers.
inline constexpr std::size_t place_bytes = 4;

/// Appends a directory of blocks, by their number and ascending, each with the size of its bytes (an even number).
class DirectoryWriter {
public:
    explicit DirectoryWriter(std::vector<std::uint8_t>& out) : out_(&out) {}
    void add(int block, std::size_t bytes);
    /// After the last one, of a frame of `blocks`.
    void finish(int blocks);

private:
    void put(std::uint32_t number);
    void pass_over(int blocks);

    std::vector<std::uint8_t>* out_;
    int next_ = 0;
};

/// Reads a directory of `blocks` and gives the blocks with their bytes, which lie behind it; nothing where `bytes` do
/// not fit together. Fills `coded` without allocating where it has room for all blocks.
bool read_directory(std::span<const std::uint8_t> bytes, int blocks, std::vector<CodedBlock>& coded);

}  // namespace framewire::delta
