"""The machinery behind the simulation; the real package has nothing like it."""
