"""What touches the world: targets, stores, workers, and the one loop that drives them."""
