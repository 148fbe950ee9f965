"""What `asv` measures at each commit: see `benchmarks/asv/asv.conf.json`."""
