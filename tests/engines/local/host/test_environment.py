"""What a replica knows of itself."""

from quotatree.engines.local.host.environment import of_replica


def environment(**program) -> dict[str, str]:
    secrets = program.pop("secrets", {})
    spec = {
        "engine": "e1", "job": "dlc-a", "run": 2, "module": "DLC",
        "world_size": 4, "grace_ms": 30_000, "program": program,
    }  # fmt: skip
    order = {"replica": 3, "node": "n1", "devices": [5, 6]}
    return of_replica(
        spec, order, secrets=secrets, home="/home/u", user="u", port=9000, master_port=9001,
        checkpoints="/c", checkpoint_file="/c/.checkpointed",
    )  # fmt: skip


def test_pytorch_and_torchrun_find_what_they_expect():
    found = environment()
    expected = {
        "CUDA_VISIBLE_DEVICES": "5,6", "NVIDIA_VISIBLE_DEVICES": "5,6", "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "9001",
        "PET_NNODES": "4", "PET_NODE_RANK": "3", "PET_NPROC_PER_NODE": "2",
        "PET_MASTER_ADDR": "127.0.0.1", "PET_MASTER_PORT": "9001",
    }  # fmt: skip
    assert expected.items() <= found.items()


def test_it_knows_its_job_and_where_its_checkpoints_are():
    found = environment()
    assert {name: value for name, value in found.items() if name.startswith("QUOTATREE_")} == {
        "QUOTATREE_JOB": "dlc-a",
        "QUOTATREE_RUN": "2",
        "QUOTATREE_REPLICA": "3",
        "QUOTATREE_NODE": "n1",
        "QUOTATREE_MODULE": "DLC",
        "QUOTATREE_CHECKPOINT_DIR": "/c",
        "QUOTATREE_CHECKPOINT_FILE": "/c/.checkpointed",
        "QUOTATREE_PORT": "9000",
        "QUOTATREE_GRACE_SECONDS": "30",
        "QUOTATREE_MARK": "e1:dlc-a:2:3",
    }


def test_ours_win_over_secrets_and_these_over_the_programs_own():
    found = environment(
        env={"A": "env", "B": "env", "PATH": "/mine", "CUDA_VISIBLE_DEVICES": "0"}, secrets={"B": "secret"}
    )
    assert (found["A"], found["B"], found["PATH"]) == ("env", "secret", "/mine")
    assert found["CUDA_VISIBLE_DEVICES"] == "5,6", "nobody takes another's GPU by a variable"
