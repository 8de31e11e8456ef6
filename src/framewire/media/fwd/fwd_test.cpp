// Recordings of the difference stream there and back.

#include "framewire/media/media_testing.hpp"

namespace framewire {
namespace fwd_test {

using namespace testing;

}  // namespace fwd_test
}  // namespace framewire
