"""What makes jobs run. One small protocol (base), one module per engine; engines do not know each other (A1)."""
