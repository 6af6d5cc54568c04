#include "group.h"

#include <utility>

#include "call.h"

namespace upsweep::python {
namespace {

thread_local Group* entered = nullptr;

nb::list pieces_of(const upsweep_piece* pieces, std::size_t count, int flags) {
  nb::list all;
  for (std::size_t k = 0; k < count; ++k) {
    const nb::object view = nb::steal(
        PyMemoryView_FromMemory(static_cast<char*>(pieces[k].data), static_cast<Py_ssize_t>(pieces[k].bytes), flags));
    if (!view.is_valid()) throw nb::python_error();
    all.append(nb::make_tuple(pieces[k].peer, view));
  }
  return all;
}

}  // namespace

Group* entered_group() { return entered; }

Group::Group(nb::object engine, bool on_gpu, int device) : engine_(std::move(engine)), on_gpu_(on_gpu) {
  const upsweep_engine joined{this, nb::cast<int>(engine_.attr("processes")), nb::cast<int>(engine_.attr("process")),
                              &all_gather, &exchange};
  upsweep_device* const like = opened_device(on_gpu, device);
  upsweep_code code;
  {
    const nb::gil_scoped_release released;
    code = upsweep_open_group(like, &joined, &opened_);
  }
  rethrow();
  check(code);
}

void Group::close() {
  if (entered == this) leave();
  const nb::gil_scoped_release released;
  upsweep_close_group(std::exchange(opened_, nullptr));
}

void Group::enter() { outer_ = std::exchange(entered, this); }
void Group::leave() { entered = std::exchange(outer_, nullptr); }

void Group::rethrow() {
  if (!raised_.is_valid()) return;
  const nb::object raised = std::exchange(raised_, nb::object());
  PyErr_SetObject(raised.type().ptr(), raised.ptr());
  throw nb::python_error();
}

int Group::all_gather(void* context, const void* data, std::size_t bytes,
                      void (*take)(void* reply, int p, const void* data, std::size_t bytes), void* reply) {
  const nb::gil_scoped_acquire acquired;
  Group& group = *static_cast<Group*>(context);
  try {
    const nb::bytes message(data, bytes);
    int process = 0;
    for (const nb::handle one : nb::list(group.engine_.attr("all_gather")(message))) {
      const auto received = nb::cast<nb::bytes>(one);
      take(reply, process++, received.data(), received.size());
    }
    return 0;
  } catch (nb::python_error& error) {
    group.raised_ = nb::borrow(error.value());
    return 1;
  }
}

int Group::exchange(void* context, const upsweep_piece* sends, std::size_t send_count, const upsweep_piece* receives,
                    std::size_t receive_count) {
  const nb::gil_scoped_acquire acquired;
  Group& group = *static_cast<Group*>(context);
  try {
    group.engine_.attr("exchange")(pieces_of(sends, send_count, PyBUF_READ),
                                   pieces_of(receives, receive_count, PyBUF_WRITE));
    return 0;
  } catch (nb::python_error& error) {
    group.raised_ = nb::borrow(error.value());
    return 1;
  }
}

}  // namespace upsweep::python
