#include "ladders/partition/lab/elements.h"

#include <cstring>

#include "base/contract.h"
#include "lab/oracle.h"

namespace upsweep::ladders::partition {

MadeValues::MadeValues(std::string_view who, std::uint64_t value_bytes, std::size_t n)
    : type(value_bytes == 4 ? Type::u32 : Type::u64) {
  if (value_bytes != 0 && value_bytes != 4 && value_bytes != 8 && value_bytes != 16)
    refuse(who, "values of " + std::to_string(value_bytes) + " bytes", "a value has 4, 8 or 16 bytes");
  bytes.resize(n * value_bytes);
  auto* const words = reinterpret_cast<std::uint32_t*>(bytes.data());
  for (std::size_t k = 0; k < bytes.size() / 4; ++k) words[k] = static_cast<std::uint32_t>(k * 2654435761u + 12345);
}

std::optional<Type> type_of_values(std::string_view who, const Settings& settings) {
  switch (const auto bytes = settings.get<std::uint64_t>("value_bytes", 0)) {
    case 0:
      return std::nullopt;
    case 4:
      return Type::u32;
    case 8:
      return Type::u64;
    default:
      throw Error(Code::unsupported,
                  std::string(who) + ": values of " + std::to_string(bytes) + " bytes cannot be read from a file",
                  "those of 4 and 8 bytes can");
  }
}
void require_values(std::string_view who, Type type) {
  if (size_of(type) < 4) refuse(who, "the values are " + std::string(to_string(type)), "a value has 4 or 8 bytes");
}

std::string text_of(const std::byte* value, std::size_t bytes) {
  if (bytes == 4) {
    std::uint32_t word;
    std::memcpy(&word, value, sizeof word);
    return show(word);
  }
  std::string text;
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, value + at, sizeof word);
    text += (at > 0 ? " " : "") + show(word);
  }
  return text;
}

namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64's finaliser; Steele, Lea and Flood, 2014
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

}  // namespace

std::uint64_t hash_of(std::uint64_t key, const std::byte* value, std::size_t bytes) {
  std::uint64_t hash = mixed(key);
  for (std::size_t at = 0; at < bytes; at += 4) {
    std::uint32_t word;
    std::memcpy(&word, value + at, sizeof word);
    hash = mixed(hash ^ word);
  }
  return hash;
}

}  // namespace upsweep::ladders::partition
