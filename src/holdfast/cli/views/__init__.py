"""Views: how results are laid out for a person and written for a program."""
