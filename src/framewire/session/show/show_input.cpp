#include "framewire/session/show/show_input.hpp"

#include "framewire/core/error.hpp"

#include <string>

namespace framewire::session {

bool ShowInput::capture(InputFrame& frame, FrameTime& time) {
    for (;;) {
        std::string lost;
        try {
            if (const auto seek = playback_.take_seek()) {
                lost_ = nullptr;
                FilteredInput::seek(seek->seconds);
                reading_pass_ = seek->pass;
            }
            frame.pass = reading_pass_;
            if (!lost_ && FilteredInput::capture(frame, time)) return true;
        } catch (const Error& error) {
            lost_ = std::current_exception();
            lost = error.what();
        }
        if (!playback_.wait_for_seek(lost)) break;
    }
    if (lost_) std::rethrow_exception(lost_);
    return false;
}

void ShowInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    if (frame.pass != filtered_pass_) begin_anew();
    filtered_pass_ = frame.pass;
    FilteredInput::filter(frame, time, statistics, wanted);
    if (frame.captured.filled_on_gpu() && &frame.result() != &frame.captured)
        // the captured frame is displayed too
        frame.captured.download();
}

}  // namespace framewire::session
