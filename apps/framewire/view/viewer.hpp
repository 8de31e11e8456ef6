#pragma once

#include "view/newest_picture.hpp"
#include "view/window/window.hpp"

#include "framewire/net/wire/wire.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/receive/receive.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace framewire::app {

/// A window in which a stream is seen while it is received.
class Viewer {
public:
    /// Takes part in what is received by these options: opens the window once the stream is there.
    void look_at(session::ReceiveOptions& options);

    /// Runs the job on another thread, for windows belong to the program's first, until its end or the window's, which
    /// stops it. Throws what the job and the window throw.
    void run(session::ReceiveJob& job, std::stop_source stop);

private:
    bool take_keys();
    void show_figures(const session::ReceiveJob& job);

    std::unique_ptr<Window> window_;
    std::unique_ptr<NewestPicture> newest_;
    StatisticsSnapshot titled_;
    session::FirstFailure failure_;  // of the window
};

}  // namespace framewire::app
