"""The promises of speed, measured against what they are measured by, interleaved in one run."""
