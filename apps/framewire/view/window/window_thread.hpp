#pragma once

#include <functional>
#include <thread>

namespace framewire::app {

/// The only thread that calls SDL. If the X server goes away, Xlib ends the program unless its error handler does not
/// return. Therefore the handler blocks this thread inside Xlib forever, and run() throws on the calling thread, which
/// can then complete its recordings. At most one object exists at a time.
class WindowThread {
public:
    WindowThread();
    /// Joins the thread unless the display is lost.
    ~WindowThread();
    WindowThread(const WindowThread&) = delete;
    WindowThread& operator=(const WindowThread&) = delete;

    /// Runs `work` on the thread and waits for it. Throws what `work` throws, and Error{io} if the display is lost
    /// before or meanwhile. In the latter case `work` remains unfinished, and SDL objects that it used must not be
    /// destroyed.
    void run(const std::function<void()>& work);

private:
    std::thread thread_;
};

/// Installs the Xlib handlers that WindowThread needs. Call it on the thread once SDL has loaded Xlib. Does nothing on
/// other display systems.
void survive_display_loss();

/// Returns true if the display is lost. SDL's video functions must not be called then.
bool display_lost();

}  // namespace framewire::app
