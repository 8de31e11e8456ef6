// Packed changes and pictures as a hostile sender makes them: refused or applied, never outside the picture.

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    constexpr Shape shape{1, 13, 21, 3};
    static delta::Unpacker unpacker(shape);
    // The first byte says which kind of message the rest is.
    if (size == 0) return 0;
    HostImage picture(shape);
    static const delta::HostChanges changes(shape);
    std::memset(picture.view().data(), 0, static_cast<std::size_t>(shape.bytes()));
    try {
        const std::span rest(data + 1, size - 1);
        data[0] % 2 ? unpacker.apply_changes(rest, picture.view()) : unpacker.apply_picture(rest, picture.view());
    } catch (const Error&) {
    }
    unpacker.last_changes(changes.view());
    return 0;
}
