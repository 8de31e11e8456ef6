// The stream as it is sent, into a file.

#include "framewire/media/fwd/recorder.hpp"

#include "framewire/media/media_testing.hpp"
#include "framewire/media/threads.hpp"

namespace framewire {
namespace recorder_test {

using namespace testing;

}  // namespace recorder_test
}  // namespace framewire
