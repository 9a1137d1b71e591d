"""Memory: what is kept until forgotten, and how texts are found and ranked."""
