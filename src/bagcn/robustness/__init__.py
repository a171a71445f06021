"""How much accuracy is left when the graph is not what it should be: noise and attacks."""
