"""A finished run in the forms that scripts of other tools read."""
