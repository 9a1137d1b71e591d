"""Memory: knowledge that is stored until forgotten, and how texts are found and ranked."""
