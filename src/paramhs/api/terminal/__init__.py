"""Terminal and notebook output of the Python interface and the commands."""
