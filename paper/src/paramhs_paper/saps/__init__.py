"""The paper's fourth scenario: alpha and rho of SAPS on ten circuit-fuzz instances."""
