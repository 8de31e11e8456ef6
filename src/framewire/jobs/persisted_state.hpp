#pragma once

#include "framewire/jobs/served_camera.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::jobs {

/// Settings that control requests changed, by camera name.
using PersistedSettings = std::map<std::string, LiveSettings, std::less<>>;

/// Returns the persisted state as JSON. Only settings that were changed are written, for example:
///     {"framewire":"state","version":1,"cameras":{"door":{"chain":"gray","filters":[{"text":"gray","on":false}],
///     "adjust":{"brightness":10,"contrast":1.0,"saturation":1.0,"gain":1.0},"threshold":8,"mode":"bounded",
///     "zones":{"size":[1280,720],"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]},
///     "event_zones":{"zones":[],"hysteresis":0.1}}}}
std::string to_json(const PersistedSettings& cameras);
/// Parses the persisted state. `name` is the file's name in messages. The text is untrusted: throws Error{config} with
/// the file and the key or position if the text is invalid or larger than 1 MiB.
PersistedSettings parse_state(std::string_view json, const std::string& name);

/// Reads the file at `path`. If the file does not exist, returns an empty map. Throws as parse_state() does, and
/// Error{config} if the folder does not exist or the file cannot be read.
PersistedSettings read_state(const std::string& path);
/// Replaces the file atomically, so that readers see either the old or the new contents, and syncs it to disk. Throws
/// Error{io}.
void write_state(const std::string& path, const std::string& json);

/// Persists the settings of served cameras to a file: on request, within a second of a change, and on destruction. If
/// the file cannot be written, a warning is logged once and writing is retried.
class StateKeeper {
public:
    /// `before` is the current content of the file. Its entries for cameras that are not being served are preserved.
    StateKeeper(std::string path, PersistedSettings before, std::vector<std::shared_ptr<ServedCamera>> cameras);
    /// Stops the thread and writes the last changes.
    ~StateKeeper();
    StateKeeper(const StateKeeper&) = delete;
    StateKeeper& operator=(const StateKeeper&) = delete;

    /// Writes the current settings to the file before it returns. Callable from any thread. Throws Error{io}.
    void keep_now();

private:
    void work(const std::stop_token& stop);
    // Persists the settings as keep_now() does, but logs errors instead of throwing them.
    void keep();

    std::string path_;
    PersistedSettings requested_;
    std::vector<std::shared_ptr<ServedCamera>> cameras_;
    // text that was last written to the file
    std::string kept_;
    bool warned_ = false;
    // guards the file and `kept_`
    std::mutex mutex_;
    // last member, because the thread uses all others
    std::jthread thread_;
};

}  // namespace framewire::jobs
