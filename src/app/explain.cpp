// upsweep explain: the emulator's predictions for GPU kernels.
#include "lab/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "lab/backends.h"
#include "lab/check.h"
#include "lab/sizes.h"
#include "lab/time.h"

namespace upsweep::app {
namespace {

struct ExplainOptions {
  CaseOptions cases;
  bool lines = false;
  OutputOptions output;
};

void declare(CLI::App& command, ExplainOptions& o) {
  declare_case_options(command, o.cases, false);  // always the traced emulator
  declare_device(command, o.cases);
  command.add_flag("--lines", o.lines, "Also print counters per source line");
  declare_output(command, o.output, "counters");
}

// Returns the named inputs; by default only the first, which is the smallest if inputs have fixed sizes.
std::vector<std::string> default_inputs(const CaseOptions& s, const Primitive& primitive, Type type) {
  auto inputs = chosen_inputs(s, primitive, type);
  if (s.inputs.empty()) inputs.resize(1);
  return inputs;
}

// Returns the type to explain if --type names none: the primitive's usual one, or the first that one of the rungs
// takes.
Type usual_type(const Primitive& primitive, const std::vector<const Rung*>& rungs) {
  const auto is_taken = [&](Type type) {
    return std::ranges::any_of(rungs, [&](const Rung* r) { return r->find(type, primitive.operations().front()); });
  };
  const Type usual = chosen_types({}, primitive, {Type::i32}).front();
  const std::vector<Type> types = primitive.types();
  const auto first = std::ranges::find_if(types, is_taken);
  return is_taken(usual) || first == types.end() ? usual : *first;
}

// Adds those parameters of the primitive's example that the user did not give.
CaseOptions with_example(CaseOptions s, const Primitive& primitive) {
  for (const auto& [name, value] : primitive.example.parameters) {
    const std::string begin = fmt::format("{}=", name);
    const auto given = [&](const std::string& param) { return param.starts_with(begin); };
    if (std::none_of(s.params.begin(), s.params.end(), given)) s.params.push_back(fmt::format("{}{}", begin, value));
  }
  return s;
}

int work(const ExplainOptions& options) {
  const CaseOptions& s = options.cases;
  const auto primitives = chosen_primitives(s);
  emulate_device(s);
  simt::Emulator& emulator = lab::open_traced();
  require_known_rungs(s, primitives, {&emulator});
  Output output(options.output);
  bool wrong = false, any_ran = false, refused = false;
  for (const Primitive* primitive : primitives) {
    const auto rungs = chosen_rungs(s, *primitive, emulator, {});
    for (const Type type : chosen_types(s, *primitive, {usual_type(*primitive, rungs)}))
      for (const Operation operation : chosen_operations(s, *primitive, {primitive->operations().front()}))
        for (const std::string& input : default_inputs(s, *primitive, type))
          for (const std::size_t n : chosen_sizes(s, *primitive, input, std::to_string(primitive->example.n))) {
            Case c{.type = type, .operation = operation, .n = n, .input = input};
            set_params(with_example(s, *primitive), *primitive, Backend::simt, c);
            require_readers(s, {Backend::simt}, rungs);
            require_rung_for(*primitive, rungs, c);
            lab::require_room(emulator, emulator.describe(), c, lab::Purpose::check);
            Progress progress(fmt::format("explain {}, rung", primitive->name()));
            const auto explanations =
                lab::explain(emulator, *primitive, rungs, c, options.lines, [&](std::size_t done, const Rung& rung) {
                  progress.update(done, rungs.size(), fmt::format("{} {}", rung.name, lab::describe(c)));
                });
            progress.clear();
            if (explanations.empty())
              throw Error(Code::invalid_argument,
                          fmt::format("{}: the emulator has no such rung for {}", primitive->name(), to_string(type)),
                          fmt::format("it has one for {}: --type", to_string(usual_type(*primitive, rungs))));
            output.table(fmt::format("{} {}: predicted by the emulator, not measured\n\n{}\n", primitive->name(),
                                     lab::describe(c), explanation_table(explanations, output.terminal())));
            for (const lab::Explanation& e : explanations) {
              if (options.lines)
                output.table(fmt::format("{}\n{}\n", styled(output.terminal(), lab::Style::strong, e.rung->name),
                                         line_table(e, output.terminal())));
              output.json_line(to_json(e, c));
              (e.refused ? refused : any_ran) = true;
              wrong |= !e.rung->expected_wrong && (e.failure || !e.report.issues.empty());
            }
          }
  }
  if (refused && !any_ran)
    throw Error(Code::unsupported, "nothing was explained: every rung rejects this case",
                "omit --param, or name rungs that take it (--rung)");
  output.commit();
  return wrong ? Exit::wrong_result : Exit::all_right;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  add_command<ExplainOptions>(app, exit_code, "explain",
                              "Predict a kernel's memory traffic, conflicts, divergence and mistakes, without a GPU",
                              "  upsweep explain reduce\n"
                              "  upsweep explain reduce --rung partial,total --lines\n"
                              "  upsweep explain reduce -n 2^12 --param block=128 --json\n",
                              declare, work);
}

}  // namespace upsweep::app
