#include "view/window/display_loss.hpp"

#include "view/window/sdl_functions.hpp"

#include <SDL.h>
#include <SDL_syswm.h>

#include <dlfcn.h>

#include <atomic>

namespace framewire::app {
namespace {

std::atomic<bool> lost{false};

// Xlib's own types; SDL loads the library itself, so that there is nothing to link.
using Display = void;
using IoErrorHandler = int (*)(Display*);
using IoErrorExitHandler = void (*)(Display*, void*);

}  // namespace

void survive_display_loss(SDL_Window& window) {
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (!sdl().SDL_GetWindowWMInfo(&window, &info) || info.subsystem != SDL_SYSWM_X11) return;
    void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!xlib) return;
    const auto set_handler = reinterpret_cast<IoErrorHandler (*)(IoErrorHandler)>(dlsym(xlib, "XSetIOErrorHandler"));
    const auto set_exit_handler =
        reinterpret_cast<void (*)(Display*, IoErrorExitHandler, void*)>(dlsym(xlib, "XSetIOErrorExitHandler"));
    if (set_handler && set_exit_handler) {
        set_handler([](Display*) { return lost = true, 0; });
        set_exit_handler(
            info.info.x11.display, [](Display*, void*) { lost = true; }, nullptr);
    }
    dlclose(xlib);
}

bool display_lost() { return lost; }

}  // namespace framewire::app
