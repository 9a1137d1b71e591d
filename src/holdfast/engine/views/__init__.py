"""Views: stored data as programs and pages get it."""
