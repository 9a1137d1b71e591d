"""Sharing: what one machine tells others through a hub, and which of two versions holds."""
