// The extension module of the Python package.
#include <nanobind/stl/string.h>

#include "array.h"
#include "call.h"
#include "functions.h"
#include "group.h"
#include "xla.h"

NB_MODULE(_core, m) {
  using namespace upsweep::python;
  using nb::arg;
  m.def("sum", &sum, arg(), arg().none(), arg().none(), arg().none(), arg());
  m.def("prod", &product, arg(), arg().none(), arg().none(), arg().none(), arg());
  m.def("extreme", &extreme, arg(), arg().none(), arg(), arg());
  m.def("position_of_extreme", &position_of_extreme);
  m.def("cumulative_sum", &cumulative_sum, arg(), arg().none(), arg(), arg().none(), arg().none(), arg());
  m.def("cumulative_product", &cumulative_product, arg(), arg().none(), arg(), arg().none(), arg().none(), arg());
  m.def("sort", &sort, arg(), arg(), arg().none(), arg());
  m.def("argsort", &argsort, arg(), arg(), arg().none(), arg());
  m.def("compress", &compress);
  m.def("find_repeats", &find_repeats);
  m.def("nonzero", &nonzero);
  m.def("unique_consecutive", &unique_consecutive);
  m.def("run_length_encode", &run_length_encode);
  m.def("histogram", &histogram, arg(), arg(), arg().none(), arg().none(), arg());
  m.def("histogram_of_edges", &histogram_of_edges, arg(), arg(), arg().none(), arg());
  m.def("bincount", &bincount, arg(), arg(), arg().none(), arg().none(), arg());
  m.def("counted_values", &counted_values);
  m.def("segmented_scan", &segmented_scan, arg(), arg(), arg(), arg(), arg().none(), arg(), arg().none(), arg().none(),
        arg());
  m.def("scan_of_rows", &scan_of_rows, arg(), arg(), arg().none(), arg(), arg().none(), arg());
  m.def("has_rows", &has_rows);
  m.def("sort_by_key", &sort_by_key);
  m.def("partition_by_digit", &partition_by_digit, arg(), arg().none(), arg(), arg(), arg());
  m.def("partition_by_splitters", &partition_by_splitters, arg(), arg().none(), arg(), arg());
  m.def("saxpy", &saxpy, arg(), arg(), arg(), arg().none(), arg());
  m.def("render", &render);
  nb::class_<Group>(m, "Group")
      .def(nb::init<nb::object, bool, int>(), arg("engine"), arg("on_gpu"), arg("device"))
      .def("close", &Group::close)
      .def("enter", &Group::enter)
      .def("leave", &Group::leave);
  m.def("flat", [](nb::handle x) { return array_of(x).flat().object(); });
  m.def("set_library_of", &set_library_of);
  m.def("exchange_borrows_scratch", &exchange_borrows_scratch);
  m.def("close", &close_devices);
  m.def("xla_handler", &xla_handler);
  m.def("rungs", &rungs);
  m.def("primitives", [] {
    nb::list names;
    for (const char* const* name = upsweep_primitives(); *name; ++name) names.append(nb::str(*name));
    return names;
  });
}
