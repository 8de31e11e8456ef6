// Fuzzes recordings, which are read to their end and from other times, with valid and invalid checksums. Recordings
// that the reference reader accepts must be read in the same way.

#include "fuzz/memory_file.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/fwd_file_ref.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace framewire::fwd_fuzz {
namespace {

using fwd::reference::Bytes;
using fwd::reference::crc;
using fwd::reference::number_at;

void set_check(Bytes& bytes, std::size_t at, std::uint32_t check) {
    for (std::size_t byte = 0; byte < 4; ++byte) bytes[at + byte] = static_cast<std::uint8_t>(check >> 8 * byte);
}

// Corrects the checksums of file headers, frame headers and the index, so that the fuzzer gets past their verification.
void mend(Bytes& bytes) {
    for (const auto copy : {std::size_t{0}, std::size_t{64}})
        if (bytes.size() >= copy + 64) set_check(bytes, copy + 60, crc(bytes, copy, copy + 60));
    for (std::size_t at = 128; at + 32 <= bytes.size(); ++at) {
        if (bytes[at] != 0xf5 || bytes[at + 1] != 'F' || bytes[at + 2] != 'W') continue;
        const auto left = bytes.size() - at;
        if (const auto directory = number_at<std::uint32_t>(bytes, at + 24);
            bytes[at + 3] == 0xa3 && directory <= left - 32)
            set_check(bytes, at + 4, crc(bytes, at + 8, at + 32 + directory));
        if (const auto entries = number_at<std::uint32_t>(bytes, at + 12);
            bytes[at + 3] == 0x5c && entries <= left - 16)
            set_check(bytes, at + 4, crc(bytes, at + 8, at + 16 + entries));
    }
}

std::optional<fwd::reference::File> read_fwd(const Bytes& bytes) {
    try {
        return fwd::reference::read_fwd(bytes);
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace
}  // namespace framewire::fwd_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::fwd_fuzz;
    set_log_output({.least = LogLevel::off});
    // If the first byte is 1, the checksums are corrected.
    if (size < 1) return 0;
    Bytes bytes(data + 1, data + size);
    if (data[0] % 2) mend(bytes);
    constexpr std::int64_t most_pixels = 4096;
    const fuzz::MemoryFile file(bytes.data(), bytes.size());
    std::vector<Bytes> pictures;
    std::optional<Error> damage;
    try {
        const auto source = open_fwd_source(file.path(), {.max_pixels = most_pixels});
        const auto& shape = source->info().shape;
        Bytes image(static_cast<std::size_t>(shape.bytes()));
        FrameTime time;
        while (source->read({image.data(), shape}, time)) pictures.push_back(image);
        try {
            source->require_whole();
        } catch (const Error& error) {
            damage = error;
        }
        for (const double seconds : {0.0, 0.1, 0.04, 1e9})
            if (source->seek(seconds)) source->read({image.data(), shape}, time);
        fwd_frame_times(file.path(), {.max_pixels = most_pixels});
    } catch (const Error&) {
        return 0;
    }
    const auto plain = bytes.size() >= 144 ? read_fwd(bytes) : std::nullopt;
    if (!plain) return 0;
    if (damage || plain->frames.size() != pictures.size()) std::abort();
    for (std::size_t frame = 0; frame < pictures.size(); ++frame)
        if (plain->frames[frame].picture != pictures[frame]) std::abort();
    return 0;
}
