#pragma once

#include "framewire/core/view.hpp"
#include "framewire/net/wire.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace framewire::network {

/// State of a server as a viewer saw it.
struct SeenState {
    std::int64_t frame = 0;  ///< number of the frame in the source, from 0
    std::uint64_t version = 0;
    int threshold = 0;
    Shape shape{};
    std::uint64_t hash = 0;  ///< hash of the picture's bytes

    friend bool operator==(const SeenState&, const SeenState&) = default;
};

/// Converts to and from "FRAME.VERSION.THRESHOLD.WIDTHxHEIGHTxCHANNELS.HASH"; parsing returns nullopt for other names.
std::string to_name(const SeenState& state);
std::optional<SeenState> parse_seen_state(std::string_view name);
/// Returns a hash of the picture's bytes, which is the same in all processes of this build.
std::uint64_t hash_of(HostView<const std::uint8_t> picture);

/// Folder into which viewers, possibly in several processes, write each state that they see. An existing state is not
/// written again; states that differ between two viewers become two files. Thread-safe.
class StateStore {
public:
    explicit StateStore(std::string folder) : folder_(std::move(folder)) {}

    /// Stores a state, unless it exists. Throws std::runtime_error if the folder cannot be written.
    void add(const net::StateHeader& state, HostView<const std::uint8_t> picture);

private:
    std::string folder_;
    std::mutex mutex_;
    std::unordered_set<std::string> known_;
};

}  // namespace framewire::network
