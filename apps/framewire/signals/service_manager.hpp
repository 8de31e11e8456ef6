#pragma once

#include <string_view>

namespace framewire::app {

/// Sends assignments such as "READY=1", separated by line breaks, to the service manager that the environment variable
/// NOTIFY_SOCKET names: systemd, for units of Type=notify (sd_notify(3)). Does nothing without that variable. A failure
/// is logged, because the service manager then ends the program when its time to start is over.
void notify_service_manager(std::string_view assignments);

}  // namespace framewire::app
