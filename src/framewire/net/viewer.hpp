#pragma once

#include "framewire/core/clock.hpp"
#include "framewire/net/pinned_bytes.hpp"

#include <boost/asio.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace framewire::net {

/// What a viewer is sent in one go.
struct Answer {
    enum class Kind { words, steps, picture };
    Kind kind = Kind::words;
    SharedMessages messages;
    std::uint64_t skipped = 0;  ///< versions that the viewer passes over by it

    std::size_t bytes() const;
    bool shares_a_message_with(const Answer& other) const;
};

/// A viewer as its server knows it. Only the server's io thread touches it.
struct Viewer {
    enum class Phase {
        watching,  ///< it is sent what it lacks
        ending,    ///< it was told the end, and its closing is awaited
        gone,
    };

    explicit Viewer(boost::asio::ip::tcp::socket socket);

    /// How quickly it takes the answer under way, in bytes a second; as good as any while that is too young to tell.
    double pace(Clock::time_point now) const;

    boost::asio::ip::tcp::socket socket;
    std::string name;  ///< for people to read
    Phase phase = Phase::watching;
    std::uint64_t held = 0;  ///< the version it has when all writes are done
    bool awaits_picture = false;

    bool writing = false;
    bool pins = false;                          ///< the answer counts among the bytes pinned
    Answer answer;                              ///< under way while `writing`
    std::size_t taken_bytes = 0;                ///< of it
    Clock::time_point answered_at{};            ///< when it was begun
    Clock::time_point progress = Clock::now();  ///< when it last took a byte
    std::uint8_t said = 0;                      ///< it has nothing to say
};

using ViewerPointer = std::shared_ptr<Viewer>;

}  // namespace framewire::net
