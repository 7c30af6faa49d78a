"""Independent implementations that judge the library; nothing here imports it."""
