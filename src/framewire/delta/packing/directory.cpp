// Directory of a packed frame (format.md, "A frame"): numbers with 7 bits per byte. Odd numbers skip blocks; even ones
// are sizes, because blocks consist of 16-bit words.

#include "framewire/delta/packing/directory.hpp"

namespace framewire::delta {
namespace {

constexpr int number_bits = 7;  // per byte; the eighth bit says that more bytes follow
constexpr int max_number_bytes = 4;

// Reads a number and removes its bytes. Returns nothing if it is truncated or too long.
std::optional<std::uint32_t> read_number(std::span<const std::uint8_t>& bytes) {
    std::uint32_t number = 0;
    for (int i = 0; i < max_number_bytes && !bytes.empty(); ++i) {
        const auto byte = bytes.front();
        bytes = bytes.subspan(1);
        number |= (byte & 0x7fu) << (number_bits * i);
        if (byte < 0x80) return number;
    }
    return std::nullopt;
}

}  // namespace

void DirectoryWriter::put(std::uint32_t number) {
    for (; number >= 0x80; number >>= number_bits) out_->push_back(static_cast<std::uint8_t>(number | 0x80));
    out_->push_back(static_cast<std::uint8_t>(number));
}

void DirectoryWriter::pass_over(int blocks) {
    if (blocks > 0) put(static_cast<std::uint32_t>(blocks) * 2 - 1);
}

void DirectoryWriter::add(int block, std::size_t bytes) {
    pass_over(block - next_);
    put(static_cast<std::uint32_t>(bytes));  // even, because blocks consist of 16-bit words
    next_ = block + 1;
}

void DirectoryWriter::finish(int blocks) { pass_over(blocks - next_); }

bool read_directory(std::span<const std::uint8_t> bytes, int blocks, std::vector<CodedBlock>& coded) {
    coded.clear();
    std::size_t total = 0;
    int block = 0;
    // The sizes come first. The contents begin where the directory ends.
    while (block < blocks) {
        const auto number = read_number(bytes);
        if (!number) return false;
        if (*number % 2) {
            // An odd number skips blocks; the check keeps untrusted input within the frame.
            const auto passed = (*number + 1) / 2;
            if (passed > static_cast<std::uint32_t>(blocks - block)) return false;
            block += static_cast<int>(passed);
            continue;
        }
        coded.push_back({block++, {bytes.data(), *number}});
        total += *number;
    }
    if (total != bytes.size()) return false;
    for (auto& [number, of] : coded) {
        of = bytes.first(of.size());
        bytes = bytes.subspan(of.size());
    }
    return true;
}

}  // namespace framewire::delta
