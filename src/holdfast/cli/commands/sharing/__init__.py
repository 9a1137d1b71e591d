"""Commands of `holdfast hub`: who owns its database, who may use it, and how a machine joins."""
