// SPDX-License-Identifier: Apache-2.0
#include "testing/tuning_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace strider::inline v0::testing {

using nlohmann::json;
using testing::TuneConfig;
using testing::TuneResult;
using testing::TuneRow;

namespace {

constexpr int kFormat = 2;

json to_json(const TuneRow& row) {
  json constants = json::array();
  for (const auto& [name, value] : row.config.constants()) constants.push_back({name, value});
  return {{"constants", constants}, {"ms", row.median}, {"low", row.low}, {"high", row.high}, {"error", row.error}};
}

TuneRow row_of(const json& j) {
  std::vector<std::pair<std::string, int64_t>> constants;
  for (const json& c : j.at("constants")) constants.emplace_back(c.at(0).get<std::string>(), c.at(1).get<int64_t>());
  return {TuneConfig(std::move(constants)), j.at("ms").get<double>(), j.at("low").get<double>(), j.at("high").get<double>(),
          j.at("error").get<std::string>()};
}

TuneResult result_of(const json& j, const std::string& key) {
  TuneResult r{.key = key, .rows = {}, .left_out = j.at("left_out").get<int>(), .from_disk = true,
               .is_certain = j.at("certain").get<bool>()};
  for (const json& row : j.at("rows")) r.rows.push_back(row_of(row));
  return r;
}

bool is_one_of(const TuneConfig& config, const std::vector<TuneConfig>& configs) {
  return std::find(configs.begin(), configs.end(), config) != configs.end();
}

}  // namespace

TuningFile::TuningFile(const std::string& kernel, const std::string& key, const std::string& program)
    : kernel_(kernel), key_(key), name_(disk_key(fmt::format("tuning {}\nkernel {}\nkey {}\n{}", kFormat, kernel, key, program))),
      cache_(disk_cache()) {}

std::optional<TuneResult> TuningFile::read(const std::vector<TuneConfig>& configs) const {
  std::optional<std::string> text = cache_ ? cache_->find_note(name_) : std::nullopt;
  if (!text) return std::nullopt;
  try {
    json j = json::parse(*text);
    if (j.at("strider_tuning") != kFormat || j.at("kernel") != kernel_ || j.at("key") != key_) return std::nullopt;
    TuneResult r = result_of(j, key_);
    bool is_good = !r.rows.empty() && r.rows[0].error.empty() &&
                   std::all_of(r.rows.begin(), r.rows.end(), [&](const TuneRow& row) { return is_one_of(row.config, configs); });
    return is_good ? std::optional(std::move(r)) : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void TuningFile::write(const TuneResult& result) const {
  if (!cache_) return;
  json j{{"strider_tuning", kFormat}, {"kernel", kernel_}, {"key", key_}, {"left_out", result.left_out}, {"certain", result.is_certain}, {"rows", json::array()}};
  for (const TuneRow& row : result.rows) j["rows"].push_back(to_json(row));
  cache_->store_note(name_, j.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace strider::v0::testing
