"""Priority flow control: sizes, frames, the process that sends them, and its books."""
