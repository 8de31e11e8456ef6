#pragma once

#include "kit/session.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::bench {

/// What a table's frames show: one value everywhere; a scene with moving objects and a sensor's noise, or --input's
/// video; and the scene under noise of sigma 25.
enum class Content { constant, real, noisy };

const char* to_string(Content content);

/// Frames of one size and content, after a picture of the same place without objects.
struct ContentFrames {
    Content content;
    HostImage room, frames;

    ContentFrames(const Session& session, const Shape& frame, Content content);
    Shape frame() const { return frames.shape().with_frames(1); }
    int count() const { return frames.shape().frames; }
    std::string size() const;
};

/// What one table is measured under.
struct Setting {
    ContentFrames* pictures;
    bool cold;  ///< other frames and results each time, more than a cache holds; else one frame again and again

    int count() const { return cold ? pictures->count() : 2; }
    /// The frame of a turn; every contestant counts its own.
    int at(int turn) const { return cold ? turn % count() : 0; }
    HostView<std::uint8_t> frame(int at) const { return pictures->frames.view().frames(at, 1); }
};

/// How far a peer's result may be from framewire's: no byte further than `most`, or the whole no worse than `least_db`.
struct Tolerance {
    int most = 0;
    double least_db = 0;   ///< peak signal-to-noise ratio; 0: the bytes decide alone
    int margin_px = 0;     ///< left out along the edges: there the peer takes other pixels for those outside
    const char* why = "";  ///< they differ, as a sentence
};

/// "equal", or how far the two are from each other. Throws Error{internal} naming `what` beyond the tolerance.
std::string agreement(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, const Tolerance& tolerance,
                      const std::string& what);

/// One of those that do the same.
struct Contestant {
    std::string runner;
    std::function<void(int turn)> run;
    /// How what the last run gave agrees with what framewire's gave; throws where it does not. framewire's own needs
    /// none where a peer's is compared with it.
    std::function<std::string()> agreement{};
    const char* why = "";  ///< they differ, as a sentence
};

/// A row for each contestant, but for its time. One whose result does not agree gets none: the session knows of it, and
/// it is taken out of `contestants`.
std::vector<Row> agreeing_rows(Session& session, const std::string& operation, const Shape& frame, double bytes,
                               std::vector<Contestant>& contestants);
/// Adds rows, the first of them framewire's, with how much faster than the best of the others it is.
void add_contest(Session& session, std::vector<Row> rows);

/// Compares what contestants give, framewire's first, times them by turns and adds their rows. `bytes`: the fewest a
/// frame must move.
void hold_contest(Session& session, const Setting& setting, const std::string& operation, double bytes,
                  std::vector<Contestant> contestants);

}  // namespace framewire::bench
