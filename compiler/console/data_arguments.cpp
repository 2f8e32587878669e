// Definition of --data and --drop-missing, and the reading of their files.
#include "compiler/console/data_arguments.h"

#include "compiler/binding/drop_missing.h"
#include "runtime/files/readers.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

CLI::Option* add_data(CLI::App& command, DataArguments& to, const std::string& help) {
  CLI::Option* const data = command.add_option("--data", to.bindings, help)->take_all()->type_name("FILE");
  command.add_flag("--drop-missing", to.drop_missing,
                   "Leave out items with a missing value; otherwise such a value is inferred, like a latent variable");
  return data;
}

Result<Dataset> read_data(const DataArguments& from, const model::Model& model) {
  Result<Dataset> data = read_bindings(from.bindings);
  if (!data || !from.drop_missing) return data;
  const Result<std::vector<std::string>> left_out = model::drop_missing(model, *data);
  if (!left_out) return left_out.error();
  for (const std::string& line : *left_out)
    print_to_stderr("--drop-missing: {}\n", line);
  return data;
}

}  // namespace lehr::commands
