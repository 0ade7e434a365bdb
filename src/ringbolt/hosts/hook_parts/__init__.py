"""The parts of the capture hook, which `hook_build` joins with `capture_hook` into one compiled file."""
