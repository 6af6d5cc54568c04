/* The C interface, from C. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <upsweep.h>

static int failures = 0;
#define EXPECT(condition)                                                                      \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, upsweep_message()); \
      ++failures;                                                                              \
    }                                                                                          \
  } while (0)
#define EXPECT_ERROR(call, code, text)                 \
  do {                                                 \
    EXPECT((call) == (code));                          \
    EXPECT(strstr(upsweep_message(), (text)) != NULL); \
  } while (0)

static upsweep_device* cpu;

static void calls_every_kind_of_scalar(void) {
  /* An element, a flag, a result and an enumerator. */
  float in[] = {3, -0.0f, 0, NAN, -2}, out[5];
  uint64_t count = 0;
  const upsweep_array array = {in, 5, UPSWEEP_F32, 0};
  upsweep_array outputs[] = {{out, 5, UPSWEEP_F32, 0}, {&count, 1, UPSWEEP_U64, 0}};
  upsweep_scalar scalars[] = {{"below", NULL, UPSWEEP_I64, {.i64 = 1}}, {0}};
  upsweep_call call = {.primitive = "select",
                       .operation = "select_if",
                       .in = &array,
                       .in_count = 1,
                       .out = outputs,
                       .out_count = 2,
                       .scalars = scalars,
                       .scalar_count = 1};
  EXPECT(upsweep_run(cpu, &call) == UPSWEEP_OK);
  EXPECT(count == 3 && out[0] == 0 && out[2] == -2);

  int32_t integers[] = {1, 2, 3};
  int64_t sums[3];
  const upsweep_array narrow = {integers, 3, UPSWEEP_I32, 0};
  outputs[0] = (upsweep_array){sums, 3, UPSWEEP_I64, 0};
  scalars[0] = (upsweep_scalar){"initial", NULL, UPSWEEP_I64, {.i64 = -(INT64_C(1) << 40)}};
  scalars[1] = (upsweep_scalar){"inclusive", NULL, UPSWEEP_U64, {.u64 = 1}};
  call = (upsweep_call){.primitive = "scan",
                        .operation = "sum",
                        .in = &narrow,
                        .in_count = 1,
                        .out = outputs,
                        .out_count = 1,
                        .scalars = scalars,
                        .scalar_count = 2};
  EXPECT(upsweep_run(cpu, &call) == UPSWEEP_OK);
  EXPECT(sums[2] == 6 - (INT64_C(1) << 40));

  int32_t products[3];
  outputs[0] = (upsweep_array){products, 3, UPSWEEP_I32, 0};
  scalars[0] = (upsweep_scalar){"initial", NULL, UPSWEEP_I64, {.i64 = -5}};
  call.operation = "product";
  EXPECT(upsweep_run(cpu, &call) == UPSWEEP_OK);
  EXPECT(products[0] == -5 && products[1] == -10 && products[2] == -30);

  outputs[0] = (upsweep_array){out, 5, UPSWEEP_F32, 0};
  scalars[0] = (upsweep_scalar){"float_order", "total_order", UPSWEEP_U64, {0}};
  call = (upsweep_call){.primitive = "sort",
                        .operation = "ascending",
                        .in = &array,
                        .in_count = 1,
                        .out = outputs,
                        .out_count = 1,
                        .scalars = scalars,
                        .scalar_count = 1,
                        .rung = "lsd"};
  EXPECT(upsweep_run(cpu, &call) == UPSWEEP_OK);
  EXPECT(out[0] == -2 && signbit(out[1]) && !signbit(out[2]) && out[3] == 3 && isnan(out[4]));

  size_t bytes = 0;
  EXPECT(upsweep_scratch_bytes(cpu, &call, &bytes) == UPSWEEP_OK);
  EXPECT(bytes > 0);
  int is_capturing = 1;
  EXPECT(upsweep_is_capturing(cpu, &is_capturing) == UPSWEEP_OK && is_capturing == 0);
  const char* const* rungs = upsweep_rungs(cpu, "sort");
  EXPECT(rungs && rungs[0]);
  int has_lsd = 0;
  for (; *rungs; ++rungs) has_lsd |= strcmp(*rungs, "lsd") == 0;
  EXPECT(has_lsd);
  EXPECT(!upsweep_rungs(cpu, "sorts") && !upsweep_rungs(NULL, "sort") && !upsweep_rungs(cpu, NULL));
  EXPECT(upsweep_synchronize(cpu) == UPSWEEP_OK);
}

static void says_what_is_wrong(void) {
  uint8_t in[] = {1, 2}, out[2];
  upsweep_array input = {in, 2, UPSWEEP_U8, 0}, output = {out, 2, UPSWEEP_U8, 0};
  upsweep_scalar scalar = {"initial", NULL, UPSWEEP_I64, {.i64 = 256}};
  const upsweep_call scan = {.primitive = "scan",
                             .operation = "sum",
                             .in = &input,
                             .in_count = 1,
                             .out = &output,
                             .out_count = 1,
                             .scalars = &scalar,
                             .scalar_count = 1};
  upsweep_call call = scan;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is 256, which its type, u8, cannot hold");
  scalar.value.i64 = -1;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is -1");
  scalar = (upsweep_scalar){"initial", NULL, UPSWEEP_F64, {.f64 = 0.5}};
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is 0.5");
  scalar.value.f64 = NAN;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is nan");
  scalar.value.f64 = 255;
  EXPECT(upsweep_run(cpu, &call) == UPSWEEP_OK);
  EXPECT(out[0] == 255 && out[1] == 0);
  scalar.type = UPSWEEP_U8;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is given as neither i64, u64 nor f64");
  scalar.choice = "zero";
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "initial is 'zero', not a number");
  scalar.name = "first";
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "no scalar 'first' (there are: inclusive initial)");

  /* An empty array has a type. */
  double sum = 1;
  upsweep_array empty = {NULL, 0, UPSWEEP_F64, 0}, total = {&sum, 1, UPSWEEP_F64, 0};
  const upsweep_call reduce = {
      .primitive = "reduce", .operation = "sum", .in = &empty, .in_count = 1, .out = &total, .out_count = 1};
  EXPECT(upsweep_run(cpu, &reduce) == UPSWEEP_OK);
  EXPECT(sum == 0);

  /* An index is a u64, and an empty array has none. */
  double numbers[] = {2, -1, 7, -1};
  uint64_t index = 9;
  upsweep_array values = {numbers, 4, UPSWEEP_F64, 0}, found = {&index, 1, UPSWEEP_U64, 0};
  upsweep_call argmin = {
      .primitive = "reduce", .operation = "argmin", .in = &values, .in_count = 1, .out = &found, .out_count = 1};
  EXPECT(upsweep_run(cpu, &argmin) == UPSWEEP_OK);
  EXPECT(index == 1);
  argmin.in = &empty;
  EXPECT_ERROR(upsweep_run(cpu, &argmin), UPSWEEP_INVALID_ARGUMENT, "argmin of an empty array");

  call.scalar_count = 0;
  call.operation = "mean";
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_UNSUPPORTED, "no operation 'mean' (its operations: sum");
  call.operation = NULL;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_UNSUPPORTED, "no operation is named");
  call = scan, call.primitive = "filter";
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "there is no primitive 'filter' (there are: ");
  call.primitive = NULL;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "the name of the primitive is null");
  call = scan, call.scalar_count = 0, call.rung = "fastest";
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "fastest");
  call = scan, call.scalar_count = 0, call.in_count = 2;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "it has 1 inputs, not 2");
  call.in_count = 1, call.in = NULL;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "inputs is null");
  call = scan, call.scalar_count = 0, output.count = 1;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "1 elements, 2 are needed");
  output.count = 2, output.type = 42;
  EXPECT_ERROR(upsweep_run(cpu, &call), UPSWEEP_INVALID_ARGUMENT, "an array has the type 42");
  EXPECT_ERROR(upsweep_run(NULL, &call), UPSWEEP_INVALID_ARGUMENT, "device is null");
  EXPECT_ERROR(upsweep_run(cpu, NULL), UPSWEEP_INVALID_ARGUMENT, "call is null");
  EXPECT_ERROR(upsweep_open_cpu(NULL), UPSWEEP_INVALID_ARGUMENT, "device is null");

  upsweep_device* none = NULL;
  EXPECT(upsweep_open_cuda(1000, &none) == UPSWEEP_NO_DEVICE);
  EXPECT(strstr(upsweep_message(), "device is null") == NULL);
  EXPECT(none == NULL);
  upsweep_close(NULL);
}

static void lists_what_there_is(void) {
  const char* const* primitives = upsweep_primitives();
  int found = 0;
  for (; *primitives; ++primitives) {
    found += strcmp(*primitives, "sort") == 0;
    EXPECT(upsweep_operations(*primitives) != NULL);
  }
  EXPECT(found == 1);
  EXPECT(strcmp(upsweep_operations("sort")[1], "descending") == 0);
  EXPECT(upsweep_operations("sort")[2] == NULL);
  EXPECT(upsweep_operations("filter") == NULL);
  EXPECT(upsweep_operations(NULL) == NULL);
}

int main(void) {
  EXPECT(*upsweep_message() == '\0');
  EXPECT(upsweep_open_cpu(&cpu) == UPSWEEP_OK);
  calls_every_kind_of_scalar();
  says_what_is_wrong();
  lists_what_there_is();
  upsweep_close(cpu);
  if (failures == 0) puts("passed");
  return failures != 0;
}
