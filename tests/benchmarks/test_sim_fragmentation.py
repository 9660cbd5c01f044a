"""How the cluster is filled in `python -m benchmarks.sim fragmentation`, on lists as small as these."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from benchmarks.sim import fragmentation, traces
from quotatree.core.model.job import Shape
from quotatree.core.model.node import NodeSpec

NODES = [NodeSpec("n0", "default", "T4", 2, 8_000, 32_000)]


def test_a_pod_that_can_never_fit_is_given_up_like_one_that_does_not_fit_now_s11():
    """openb's list gpuspec33 has pods for a GPU model that no node has; the two others fill the node."""
    pods = [
        Shape(1000, 1000, 0),
        Shape(1000, 1000, 0, ("V100M32",)),
        Shape(4000, 1000, 0),
        Shape(1000, 1000, 0),
    ]
    assert fragmentation.fill(NODES, pods).percent == 100


def test_a_list_of_the_form_of_gpuspec33_is_read_and_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    columns = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec")
    rows = [
        ("a", 1000, 100, 1, 1000, "V100M16|V100M32"),
        ("b", 1000, 100, 1, 500, "T4"),
        ("c", 1000, 100, 1, 1000, ""),
    ]
    path = tmp_path / "alibaba-openb-v2023" / "openb_pod_list_gpuspec33.csv.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    monkeypatch.setattr(traces, "TRACES", tmp_path)
    pods = fragmentation.read_pods("gpuspec33")
    assert [pod.gpu_milli for pod in pods] == [1000, 500, 1000]
    assert fragmentation.fill(NODES, pods).percent == 75
