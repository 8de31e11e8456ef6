// Implementation of Screen for builds without the native viewer (FRAMEWIRE_VIEWER=OFF).
#include "view/screen/screen.hpp"

#include "framewire/core/error.hpp"

namespace framewire::app {

struct Screen::State {};

bool Screen::supported() { return false; }

Screen::Screen(ScreenOptions, std::stop_source) {}
Screen::~Screen() = default;
void Screen::open(int, int, const std::string&) { fail(ErrorCode::config, "this build has no window support"); }
void Screen::add(std::unique_ptr<ShownCamera>) {}
void Screen::run() {}
void Screen::rethrow() const {}

}  // namespace framewire::app
