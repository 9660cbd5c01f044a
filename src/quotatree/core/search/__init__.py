"""Where could a job stand, and whom would that cost? Free places, and the cheapest lawful victims (P5, P7, P8)."""
