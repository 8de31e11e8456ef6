#pragma once

#include <functional>
#include <thread>

namespace framewire::app {

/// The one thread that calls SDL. If the X server goes away, Xlib ends the program unless its error handler never
/// returns. So the handler parks this thread inside Xlib for good, and run() throws on the calling thread, which
/// completes what it records. One object at a time.
class WindowThread {
public:
    WindowThread();
    /// Waits for the thread, unless the display is gone.
    ~WindowThread();
    WindowThread(const WindowThread&) = delete;
    WindowThread& operator=(const WindowThread&) = delete;

    /// Runs `work` on the thread and returns when it is over. Throws what it throws, and Error{io} if the display is
    /// gone or goes meanwhile. Then `work` stays unfinished, and nothing that it used may be destroyed by SDL.
    void run(const std::function<void()>& work);

private:
    std::thread thread_;
};

/// Lets Xlib report a lost display as described above. To be called on the thread once SDL has loaded Xlib; does
/// nothing on other displays.
void survive_display_loss();

/// Whether the display is gone. Nothing of SDL's video may be called then.
bool display_lost();

}  // namespace framewire::app
