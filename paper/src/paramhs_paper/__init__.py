"""The reproduction of the paper's figures and theorems."""
