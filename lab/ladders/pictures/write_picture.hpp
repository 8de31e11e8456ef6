#pragma once

#include "kit/session.hpp"

#include <string>

namespace framewire::bench {

/// Writes an image as NAME.png to the session's folder for pictures, replacing an existing one; does nothing without
/// such a folder. Throws Error{io}.
void write_picture(const Session& session, const std::string& name, HostView<const std::uint8_t> image);

/// Two frames of a room with people, one shortly after the other: the source of the ladders' pictures.
struct RoomPair {
    HostImage before, now;
};
RoomPair room_pair();

}  // namespace framewire::bench
