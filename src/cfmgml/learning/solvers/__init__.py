"""Ways to minimise the objective."""
