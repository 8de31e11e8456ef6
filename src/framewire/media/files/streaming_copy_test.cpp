#include "framewire/media/files/streaming_copy.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace framewire {
namespace streaming_copy_test {

using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::size_t bytes) {
    std::mt19937 random(5);
    Bytes all(bytes);
    for (auto& byte : all) byte = static_cast<std::uint8_t>(random() | 1);  // never 0, which marks unwritten bytes
    return all;
}

// Result of a copy between these positions of zeroed memory.
Bytes copied(const Bytes& from, std::size_t from_at, std::size_t to_at, std::size_t bytes) {
    Bytes to(to_at + bytes + 200);
    streaming_copy(to.data() + to_at, from.data() + from_at, bytes);
    return to;
}

Bytes wanted(const Bytes& from, std::size_t from_at, std::size_t to_at, std::size_t bytes) {
    Bytes to(to_at + bytes + 200);
    for (std::size_t i = 0; i < bytes; ++i) to[to_at + i] = from[from_at + i];
    return to;
}

TEST(StreamingCopy, CopiesAtAnyAlignment) {
    const auto from = noise(600);
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        for (std::size_t bytes = 0; bytes < 400; bytes += bytes < 140 ? 1 : 37)
            for (std::size_t to_at = 0; to_at < 130; to_at += kit::brief() ? 13 : 1)
                for (const std::size_t from_at : {0, 1, 16, 63})
                    ASSERT_TRUE(copied(from, from_at, to_at, bytes) == wanted(from, from_at, to_at, bytes))
                        << instruction_set << ": " << bytes << " bytes from " << from_at << " to " << to_at;
    });
}

TEST(StreamingCopy, CopiesFrames) {
    const std::size_t bytes = 1920 * 1080 * 3;
    const auto from = noise(bytes + 7);
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        ASSERT_TRUE(copied(from, 7, 5, bytes) == wanted(from, 7, 5, bytes)) << instruction_set;
    });
}

}  // namespace streaming_copy_test
}  // namespace framewire
