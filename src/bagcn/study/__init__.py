"""Many runs that can be compared: recipes, the run store, the protocol."""
