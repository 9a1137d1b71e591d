"""Brief: what a starting session is given back, and the receipt that accounts for it."""
