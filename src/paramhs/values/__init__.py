"""What everything else speaks of: spaces, configurations, runs, costs, scenarios."""
