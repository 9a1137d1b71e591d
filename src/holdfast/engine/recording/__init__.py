"""Recording: transcripts and events become sessions, checkpoints and memories, in one transaction."""
