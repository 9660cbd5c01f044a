"""Jobs as pods of a Kubernetes cluster: the same orders and reports as on one machine, against a real control plane."""
