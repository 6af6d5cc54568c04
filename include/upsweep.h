/* upsweep from C, and from any language that can call C functions.
 *
 *   upsweep_device* device;
 *   if (upsweep_open_cpu(&device)) { puts(upsweep_message()); return 1; }
 *   const upsweep_array in = {keys, n, UPSWEEP_F32, 0}, out = {sorted, n, UPSWEEP_F32, 0};
 *   upsweep_call sort = {"sort", "ascending"};
 *   sort.in = &in, sort.in_count = 1, sort.out = &out, sort.out_count = 1;
 *   if (upsweep_run(device, &sort)) puts(upsweep_message());
 *   upsweep_close(device);
 *
 * Every primitive is called by name, with the arrays, scalars and operations of its contract, which `upsweep list` and
 * the C++ header of the primitive describe. Functions that can fail return a code, 0 for success; after a failure,
 * upsweep_message() tells the calling thread the reason.
 */
#ifndef UPSWEEP_H
#define UPSWEEP_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A device with its queue and its scratch memory. Not thread-safe: open one device per thread. */
typedef struct upsweep_device upsweep_device;

/* As upsweep::Code in upsweep/status.h. */
typedef enum upsweep_code {
  UPSWEEP_OK,
  UPSWEEP_INVALID_ARGUMENT, /* an invalid size, pointer, name or scalar; found before anything is launched */
  UPSWEEP_UNSUPPORTED,      /* valid, but not supported by this rung or backend */
  UPSWEEP_OUT_OF_MEMORY,    /* host or device */
  UPSWEEP_NO_DEVICE,        /* no GPU, no driver, or a build without CUDA */
  UPSWEEP_DEVICE_ERROR,     /* a launch or a kernel failed */
  UPSWEEP_LOST_MEMBER = 10  /* another process of a group has ended */
} upsweep_code;

/* As upsweep::Type in upsweep/types.h. */
typedef enum upsweep_type {
  UPSWEEP_I8,
  UPSWEEP_U8,
  UPSWEEP_I16,
  UPSWEEP_U16,
  UPSWEEP_I32,
  UPSWEEP_U32,
  UPSWEEP_I64,
  UPSWEEP_U64,
  UPSWEEP_F32,
  UPSWEEP_F64,
  UPSWEEP_F16, /* IEEE 754 binary16 */
  UPSWEEP_BF16 /* bfloat16 */
} upsweep_type;

/* An array in memory that the caller owns, aligned to its element type. `count` is in elements. {0} stands for an array
 * that a call omits. */
typedef struct upsweep_array {
  void* data; /* never written through if it is an input */
  size_t count;
  int type;      /* an upsweep_type */
  int on_device; /* 0: host memory */
} upsweep_array;

/* A scalar argument. */
typedef struct upsweep_scalar {
  const char* name;   /* "initial" */
  const char* choice; /* the name of an enumerator; null for a number or a flag, which is in `value` */
  int type;           /* UPSWEEP_I64, UPSWEEP_U64 or UPSWEEP_F64: the member of `value` that is set */
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
  } value; /* converted to the scalar's type: rounded to a float type, exact for an integer type; 0 or 1 for a flag */
} upsweep_scalar;

/* A call. Members that are null or 0 take their defaults. */
typedef struct upsweep_call {
  const char* primitive; /* "scan" */
  const char* operation; /* "sum"; null for a primitive that has only one */
  const upsweep_array* in;
  size_t in_count; /* arrays are in the contract's order; trailing ones that the call omits need not be listed */
  const upsweep_array* out;
  size_t out_count; /* likewise */
  const upsweep_scalar* scalars;
  size_t scalar_count;           /* in any order */
  const char* rung;              /* a rung of the ladder, by name */
  unsigned block, grid, threads; /* as upsweep::Options in upsweep/invoke.h */
  const upsweep_array* scratch;  /* likewise: device memory for the call's temporaries */
} upsweep_call;

/* Opens the CPU. */
upsweep_code upsweep_open_cpu(upsweep_device** device);
/* Opens a GPU, with a new stream for the device's work. */
upsweep_code upsweep_open_cuda(int ordinal, upsweep_device** device);
/* Opens a GPU whose work is queued on the caller's stream, a cudaStream_t that must outlive the device. */
upsweep_code upsweep_open_cuda_on(void* stream, int ordinal, upsweep_device** device);
/* Closes a device, whose queued work must be done; null is ignored. */
void upsweep_close(upsweep_device* device);
/* Waits for all work in the device's queue, and reports any failure since the last upsweep_synchronize(). */
upsweep_code upsweep_synchronize(upsweep_device* device);

/* Runs a call. If every array is in the device's memory, the call is queued on the device's stream; otherwise
 * upsweep_run() waits for the results, and a GPU works on copies of the host arrays. */
upsweep_code upsweep_run(upsweep_device* device, const upsweep_call* call);
/* Stores in *bytes the size of the device memory that the call needs in addition to its arrays: a sufficient size of
 * `scratch`. */
upsweep_code upsweep_scratch_bytes(upsweep_device* device, const upsweep_call* call, size_t* bytes);
/* Stores 1 in *is_capturing if the device's stream is being captured into a CUDA graph, otherwise 0. Growing the
 * device's scratch memory would fail the capture, so pass `scratch`, and keep that memory as long as the graph. */
upsweep_code upsweep_is_capturing(upsweep_device* device, int* is_capturing);

/* ---- groups: processes that hold one array in parts (upsweep/group.h), one part each ---- */

typedef struct upsweep_group upsweep_group;
/* A contiguous piece of host memory that goes to, or comes from, another process. */
typedef struct upsweep_piece {
  int peer; /* the other process */
  void* data;
  size_t bytes;
} upsweep_piece;
/* What joins the processes. The functions are the caller's; they return 0, or another number if a process does not take
 * part. upsweep_open_group(), upsweep_run_in_group() and upsweep_close_group() call them, in the same order in every
 * process. */
typedef struct upsweep_engine {
  void* context;
  int processes, process;
  /* Calls take(reply, p, data, bytes) for each process p with the message that it passed, this one's among them. */
  int (*all_gather)(void* context, const void* data, size_t bytes,
                    void (*take)(void* reply, int p, const void* data, size_t bytes), void* reply);
  /* Sends and receives pieces, all at once. Those from one process to another are listed in the same order by both. */
  int (*exchange)(void* context, const upsweep_piece* sends, size_t send_count, const upsweep_piece* receives,
                  size_t receive_count);
} upsweep_engine;
/* Opens the group that the engine joins. Its member of this process is another device of the same kind as `device`. */
upsweep_code upsweep_open_group(upsweep_device* device, const upsweep_engine* engine, upsweep_group** group);
/* Leaves the group; null is ignored. */
void upsweep_close_group(upsweep_group* group);
/* Runs a call with this process's parts of the arrays, and waits for the results. The device's queued work must be
 * done. Options other than the rung are ignored. */
upsweep_code upsweep_run_in_group(upsweep_group* group, const upsweep_call* call);

/* Returns the error message of the calling thread's last failed call, and a hint on how to fix it, in one line; "" if
 * no call has failed. The text is valid until the thread's next failure. */
const char* upsweep_message(void);

/* Return the names of all primitives, and of the operations of one primitive, as a null-terminated array that is never
 * freed. upsweep_operations() returns null if there is no primitive of that name. */
const char* const* upsweep_primitives(void);
const char* const* upsweep_operations(const char* primitive);
/* Returns the names of a primitive's rungs on a device, in ladder order, as a null-terminated array that is valid until
 * the device is closed; null if there is no primitive of that name. */
const char* const* upsweep_rungs(upsweep_device* device, const char* primitive);

#ifdef __cplusplus
}
#endif
#endif
