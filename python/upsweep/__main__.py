"""python -m upsweep: the upsweep command."""

from upsweep._laboratory import main

main()
