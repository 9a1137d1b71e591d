"""Hook events: what a harness sends is recorded, and answered."""
