#pragma once

namespace framewire::app {

/// Overwrites credentials in the program's arguments with asterisks, as address_without_credentials() does, because
/// other users of the machine can read the arguments in the process list. Call it after the arguments were parsed.
void hide_passwords(int count, char** arguments);

}  // namespace framewire::app
