#include "framewire/codec/batch_packer.hpp"
#include "framewire/core/error.hpp"

// Stub of the batch packer for builds without CUDA. It cannot be constructed, because no CUDA executor exists, so its
// other members are never called.

namespace framewire::codec {
namespace {

[[noreturn]] void absent() { fail(ErrorCode::internal, "cannot pack on a GPU in a build without CUDA"); }

}  // namespace

struct BoundedBatchPacker::State {};

BoundedBatchPacker::BoundedBatchPacker(const Shape&, int, Executor&) { absent(); }
BoundedBatchPacker::~BoundedBatchPacker() = default;
BoundedBatchPacker::BoundedBatchPacker(BoundedBatchPacker&&) noexcept = default;
BoundedBatchPacker& BoundedBatchPacker::operator=(BoundedBatchPacker&&) noexcept = default;
void BoundedBatchPacker::set_effort(int) { absent(); }
PackedBatch BoundedBatchPacker::pack_first(DeviceView<const std::uint8_t>, DeviceView<std::uint8_t>, int) { absent(); }
PackedBatch BoundedBatchPacker::pack_step(DeviceView<const std::uint8_t>, DeviceView<std::uint8_t>, int) { absent(); }

}  // namespace framewire::codec
