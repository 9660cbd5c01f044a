"""Small programs to run as jobs: what a training, a notebook and a service do so that an eviction costs them little.

They know nothing of QuotaTree but the variables it sets, and are meant to be read.
"""
