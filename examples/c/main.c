/* Sorts floats and computes their running sums through the C interface. */
#include <stdio.h>
#include <upsweep.h>

int main(void) {
  float keys[] = {3, -1, 2.5f, 0, 7}, sums[5];
  const upsweep_array array = {keys, 5, UPSWEEP_F32, 0}, result = {sums, 5, UPSWEEP_F32, 0};
  const upsweep_scalar scalars[] = {{"inclusive", NULL, UPSWEEP_U64, {.u64 = 1}},
                                    {"initial", NULL, UPSWEEP_F64, {.f64 = 100}}};
  const upsweep_call sort = {
      .primitive = "sort", .operation = "ascending", .in = &array, .in_count = 1, .out = &array, .out_count = 1};
  const upsweep_call scan = {.primitive = "scan",
                             .operation = "sum",
                             .in = &array,
                             .in_count = 1,
                             .out = &result,
                             .out_count = 1,
                             .scalars = scalars,
                             .scalar_count = 2};
  upsweep_device* device = NULL;
  if (upsweep_open_cpu(&device) || upsweep_run(device, &sort) || upsweep_run(device, &scan)) {
    fprintf(stderr, "%s\n", upsweep_message());
    return 1;
  }
  for (int i = 0; i < 5; ++i) printf("%4g %6g\n", (double)keys[i], (double)sums[i]);
  upsweep_close(device);
  return 0;
}
