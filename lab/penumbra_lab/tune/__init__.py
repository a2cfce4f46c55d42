"""`penumbra tune`: the compiler options with which a program runs fastest, and the proof."""
