#pragma once

struct SDL_Window;

namespace framewire::app {

/// Makes an X server that goes away be told of by display_lost(), where Xlib would end the program at once, whatever it
/// is recording. Does nothing on other displays, and where Xlib is older than 1.7.
void survive_display_loss(SDL_Window& window);

/// Whether the display is gone. Nothing of SDL's video may be called then.
bool display_lost();

}  // namespace framewire::app
