// Fuzzes the Unpacker with packed blocks of random, correctly coded symbols: it must accept or refuse them as the
// reference decoder does.

#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"

#include <cstdlib>
#include <optional>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    // Input: the shape, then the choices, two bytes each.
    if (size < 3) return 0;
    const Shape shape{1, 1 + data[0] % 80, 1 + data[1] % 80, data[2] % 2 ? 1 : 3};
    std::size_t next = 3;
    const codec::reference::Choose choose = [&](int below) {
        if (size - next < 2) return 0;
        next += 2;
        return (data[next - 2] + 256 * data[next - 1]) % below;
    };
    HostImage before(shape);
    codec::reference::film(before.view(), 0, 9, 1);
    const auto was = codec::reference::bytes_of(std::as_const(before).view());
    const auto invention = codec::reference::invent(shape, was, choose);
    std::optional<codec::reference::Bytes> got;
    try {
        got = codec::reference::unpack(shape, invention.packed, was);
    } catch (const Error&) {
    }
    if (got != (invention.allowed ? std::optional(invention.after) : std::nullopt)) std::abort();
    return 0;
}
