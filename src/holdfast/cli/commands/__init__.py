"""Commands: one module for each command, in folders by what a person wants to do."""
