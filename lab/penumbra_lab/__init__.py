"""The command-line lab of Penumbra: demonstrates, measures and compares."""
