"""Studies of single choices: the order of pairs, capping, races, workers."""
