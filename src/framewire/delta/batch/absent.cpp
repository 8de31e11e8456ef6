// Stands in for the packers of batches in a build without CUDA: there is no executor that they could be made for.

#include "framewire/core/error.hpp"
#include "framewire/delta/batch/batch_packer.hpp"
#include "framewire/delta/batch/batch_unpacker.hpp"

namespace framewire::delta {
namespace {

[[noreturn]] void absent() { fail(ErrorCode::internal, "packing on a GPU in a build without CUDA"); }

}  // namespace

struct BatchPacker::State {};

BatchPacker::BatchPacker(const EncoderParameters&, const Shape&, Executor&) { absent(); }
BatchPacker::~BatchPacker() = default;
BatchPacker::BatchPacker(BatchPacker&&) noexcept = default;
BatchPacker& BatchPacker::operator=(BatchPacker&&) noexcept = default;
PackedBatch BatchPacker::pack_first(DeviceView<const std::uint8_t>, DeviceView<std::uint8_t>, int) { absent(); }
PackedBatch BatchPacker::pack_steps(DeviceView<const std::uint8_t>, DeviceView<std::uint8_t>, int) { absent(); }
PackedBatch BatchPacker::pack_pictures(DeviceView<const std::uint8_t>, int) { absent(); }

struct BatchUnpacker::State {};

BatchUnpacker::BatchUnpacker(const Shape&, Executor&) { absent(); }
BatchUnpacker::~BatchUnpacker() = default;
BatchUnpacker::BatchUnpacker(BatchUnpacker&&) noexcept = default;
BatchUnpacker& BatchUnpacker::operator=(BatchUnpacker&&) noexcept = default;
void BatchUnpacker::apply(std::span<const std::span<const std::uint8_t>>, DeviceView<std::uint8_t>) { absent(); }

}  // namespace framewire::delta
