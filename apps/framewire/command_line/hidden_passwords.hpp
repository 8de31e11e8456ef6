#pragma once

namespace framewire::app {

/// Puts stars in place of the passwords of URLs (SCHEME://USER:PASSWORD@HOST) among a program's arguments, where other
/// users of the machine read them in the list of processes. To be called once they were read: they are no use after it.
void hide_passwords(int count, char** arguments);

}  // namespace framewire::app
