// For builds without the native viewer (FRAMEWIRE_VIEWER=OFF).

#include "view/window/window.hpp"

#include "framewire/core/error.hpp"

namespace framewire::app {

struct Window::State {};

bool Window::supported() { return false; }

Window::Window(const std::vector<Shape>&, const std::string&, std::string_view instead) {
    fail(ErrorCode::config, "this build has no windows{}", instead);
}
Window::~Window() = default;
void Window::arrange(int, int, const std::vector<Place>&) {}
void Window::set_words(const std::vector<Words>&) {}
void Window::take(HostView<const std::uint8_t>, std::size_t) {}
void Window::draw() {}
void Window::set_title(const std::string&) {}
void Window::set_full_screen(bool) {}
bool Window::full_screen() const { return false; }
bool Window::wait(std::chrono::milliseconds) { return false; }
std::vector<std::string> Window::take_keys() { return {}; }
void Window::wake() {}

}  // namespace framewire::app
