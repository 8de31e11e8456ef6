#pragma once

#include "kit/session.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::bench {

/// Content of a table's frames: one value everywhere; a scene with moving objects and sensor noise, or the video of
/// --input; or the scene under noise of sigma 25.
enum class Content { constant, real, noisy };

const char* to_string(Content content);

/// Frames of one size and content, preceded by a picture of the same scene without objects.
struct ContentFrames {
    Content content;
    HostImage room, frames;

    ContentFrames(const Session& session, const Shape& frame, Content content);
    Shape frame() const { return frames.shape().with_frames(1); }
    int count() const { return frames.shape().frames; }
    std::string size() const;
};

/// Conditions of one table's measurements.
struct Setting {
    ContentFrames* pictures;
    bool cold;  ///< true: new frames and results in each turn, more than a cache holds; false: one frame repeatedly

    int count() const { return cold ? pictures->count() : 2; }
    /// Returns the index of a turn's frame; every contestant counts its own turns.
    int at(int turn) const { return cold ? turn % count() : 0; }
    HostView<std::uint8_t> frame(int at) const { return pictures->frames.view().frames(at, 1); }
};

/// Allowed difference between a peer's result and framewire's: no byte by more than `most`, or a signal-to-noise ratio
/// of at least `least_db`.
struct Tolerance {
    int most = 0;
    double least_db = 0;   ///< peak signal-to-noise ratio; 0: only `most` applies
    int margin_px = 0;     ///< excluded along the edges, where the peer extends the image differently
    const char* why = "";  ///< reason for the difference, as a sentence
};

/// Returns "equal", or the difference of the two. Throws Error{internal} naming `what` if it exceeds the tolerance.
std::string agreement(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, const Tolerance& tolerance,
                      const std::string& what);

/// One implementation of the operation that is compared.
struct Contestant {
    std::string runner;
    std::function<void(int turn)> run;
    /// Returns how the contestant's last result agrees with framewire's; throws if it does not agree. May be empty
    /// for framewire's own entry, with which the peers' results are compared.
    std::function<std::string()> agreement{};
    const char* why = "";  ///< reason for a difference, as a sentence
};

/// Returns a row without a time for each contestant. A contestant whose result does not agree gets no row: the session
/// records the error, and it is removed from `contestants`.
std::vector<Row> agreeing_rows(Session& session, const std::string& operation, const Shape& frame, double bytes,
                               std::vector<Contestant>& contestants);
/// Adds rows, the first of which is framewire's, with its speed relative to the best of the others.
void add_contest(Session& session, std::vector<Row> rows);

/// Compares the results of the contestants, of which framewire's is the first, times them in turn and adds their rows.
/// `bytes`: the minimum that a frame must move.
void hold_contest(Session& session, const Setting& setting, const std::string& operation, double bytes,
                  std::vector<Contestant> contestants);

}  // namespace framewire::bench
