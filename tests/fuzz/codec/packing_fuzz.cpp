// Fuzzes the decoder with packed frames of a hostile sender: it must refuse them, or apply them as the reference
// decoder does, never outside the picture.

#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"

#include <array>
#include <cstdlib>
#include <functional>
#include <optional>

namespace framewire::packing_fuzz {
namespace {

using codec::reference::Bytes;

std::optional<Bytes> taken(const std::function<Bytes()>& read) {
    try {
        return read();
    } catch (const Error&) {
        return {};
    }
}

}  // namespace
}  // namespace framewire::packing_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::packing_fuzz;
    // The first byte selects the shape; if the second is 1, the rest is read as a keyframe.
    if (size < 2) return 0;
    const Shape shapes[] = {{1, 13, 21, 3}, {1, 13, 21, 1}, {1, 3, 130, 3}, {1, 70, 2, 1}};
    const auto& shape = shapes[data[0] % 4];
    const Bytes packed(data + 2, data + size);
    HostImage before(shape), picture(shape);
    codec::reference::film(before.view(), 0, 9, 1);
    copy(std::as_const(before).view(), picture.view());
    const auto was = codec::reference::bytes_of(std::as_const(before).view());
    static std::array unpackers{codec::Unpacker(shapes[0]), codec::Unpacker(shapes[1]), codec::Unpacker(shapes[2]),
                                codec::Unpacker(shapes[3])};
    auto& unpacker = unpackers[data[0] % 4];
    const bool whole = data[1] % 2;
    const auto got = taken([&] {
        whole ? unpacker.apply_picture(packed, picture.view()) : unpacker.apply_changes(packed, picture.view());
        return codec::reference::bytes_of(std::as_const(picture).view());
    });
    const bool of_that_kind = !packed.empty() && packed[0] % 2 == whole;
    const auto want = of_that_kind ? taken([&] { return codec::unpack_reference(shape, packed, was); }) : std::nullopt;
    if (got != want) std::abort();
    if (!got && !whole && codec::reference::bytes_of(std::as_const(picture).view()) != was) std::abort();
    const codec::HostChanges changes(shape);
    unpacker.last_changes(changes.view());
    return 0;
}
