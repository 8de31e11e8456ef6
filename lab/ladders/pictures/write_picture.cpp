#include "ladders/pictures/write_picture.hpp"

#include "framewire/media/media.hpp"
#include "stream/film.hpp"

#include <utility>

namespace framewire::bench {

void write_picture(const Session& session, const std::string& name, HostView<const std::uint8_t> image) {
    if (session.pictures().empty()) return;
    const auto sink = open_sink(session.pictures() + "/" + name + ".png", image.shape(), {30, 1}, {.replace = true});
    sink->write(image, {});
    sink->finish();
}

RoomPair room_pair() {
    // By these frames there are people in the room.
    auto film = read_film("synth:size=640x360:noise=5:objects=3:seed=1", 263);
    return {std::move(film.frames[259]), std::move(film.frames[262])};
}

}  // namespace framewire::bench
