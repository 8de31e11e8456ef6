#pragma once

#include "kit/session.hpp"

#include <string>

namespace framewire::bench {

/// Writes an image as NAME.png to the folder that pictures go to, in place of one that is there; nothing where none are
/// wanted. Throws Error{io}.
void write_picture(const Session& session, const std::string& name, HostView<const std::uint8_t> image);

/// Two frames of a room with people, one after the other: what the ladders' pictures are made of.
struct RoomPair {
    HostImage before, now;
};
RoomPair room_pair();

}  // namespace framewire::bench
