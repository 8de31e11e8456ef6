#pragma once

#include "framewire/session/live/live_settings.hpp"

#include <map>
#include <string>
#include <string_view>

namespace framewire::session {

/// What was ordered of cameras, by their names.
using OrderedOfCameras = std::map<std::string, LiveSettings, std::less<>>;

/// As JSON, for a file:
/// {"framewire":"state","version":1,"cameras":{"door":{"chain":"gray","filters":[{"text":"gray","on":false}],
/// "adjust":{"brightness":10,"contrast":1.0,"saturation":1.0,"gain":1.0},"threshold":8,"mode":"bounded",
/// "zones":{"size":[1280,720],"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]}}}}
/// Of a camera only what was ordered.
std::string to_json(const OrderedOfCameras& cameras);
/// Reads it again; `name` is its file's. Of anyone: throws Error{config} that names the file and the line or the key on
/// anything else.
OrderedOfCameras parse_state(std::string_view json, const std::string& name);

/// Reads such a file; without one there nothing was ordered. Throws likewise, and Error{config} where there cannot be
/// such a file.
OrderedOfCameras read_state(const std::string& path);
/// Writes it as a whole: who reads it sees what was there before, or all of this. Throws Error{io}.
void write_state(const std::string& path, const std::string& json);

}  // namespace framewire::session
