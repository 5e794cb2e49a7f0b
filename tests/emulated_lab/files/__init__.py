"""The trees of a card in sysfs, debugfs and configfs: for each path, how it is read and written."""
