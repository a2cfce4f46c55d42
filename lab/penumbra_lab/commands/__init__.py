"""The commands of `penumbra`: options, and what is called with them."""
