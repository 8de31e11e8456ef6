// For builds without the native viewer (FRAMEWIRE_VIEWER=OFF).

#include "view/window.hpp"

#include "framewire/core/error.hpp"

namespace framewire::app {

struct Window::State {};

bool Window::supported() { return false; }

Window::Window(const Shape&, const std::string&) {
    fail(ErrorCode::config, "this build has no windows; --no-window does without");
}
Window::~Window() = default;
void Window::show(HostView<const std::uint8_t>) {}
void Window::set_title(const std::string&) {}
bool Window::wait(std::chrono::milliseconds) { return false; }
void Window::wake() {}

}  // namespace framewire::app
