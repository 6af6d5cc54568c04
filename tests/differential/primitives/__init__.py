"""One function per primitive that draws a run of it."""
from primitives import histogram, partition, reduce, saxpy, scan, segmented_scan, select, sort

# Primitives and their relative frequencies.
DRAWN = [
    (reduce.draw_run, 10),
    (scan.draw_run, 10),
    (segmented_scan.draw_run, 8),
    (select.draw_run, 20),
    (saxpy.draw_run, 6),
    (histogram.draw_run, 20),
    (partition.draw_run, 12),
    (sort.draw_run, 20),
]
