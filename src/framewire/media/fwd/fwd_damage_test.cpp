// Damaged recordings.

#include "framewire/media/media_testing.hpp"

namespace framewire {
namespace fwd_damage_test {

using namespace testing;

}  // namespace fwd_damage_test
}  // namespace framewire
