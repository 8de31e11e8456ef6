#pragma once

namespace framewire::app {

/// Overwrites what address_without_credentials() hides with stars in a program's arguments, where other users of the
/// machine read it in the list of processes. To be called after they were read.
void hide_passwords(int count, char** arguments);

}  // namespace framewire::app
