"""Commands about how things stand: the overview, the doctor, and statistics."""
