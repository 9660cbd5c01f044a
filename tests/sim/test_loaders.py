"""Every format says what it holds, and where exactly a file is wrong."""

import gzip
import lzma
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quotatree.sim.loaders import FORMATS, load_trace, write_plain
from quotatree.sim.loaders import plain as plain_format
from quotatree.sim.loaders.collect import spread
from quotatree.sim.mapping import FIELDS, Mapping, read_mapping
from quotatree.sim.trace import Trace, TraceError, TraceJob

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT.parent / "shared" / "traces"
PLAIN = """\
id,submit_s,duration_s,gpus,replicas,cpu,memory,team,user,module,priority,models,checkpoint_s,guaranteed,wanted_s
a,0,60.5,8,2,64,512Gi,vision,ann,DLC,6,A100|H100,600,yes,
b,1.25,10,0.5,,,,speech,bob,DSW,,,,no,7.5
c,3,10,20,,40,,,,,,,,,
"""
PHILLY = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.0,1,66.0,11cb48
2017-10-08 23:00:00,100.0,12,1200.0,6214e9

"""
PHILLY_CUT = """\
submit_s,duration_s,num_gpus,vc,row_in_philly_csv
115,69,1,11cb48,50890
254,71636,16,6c71a0,47676
"""
PHILLY_JSON = """\
[
  {
    "status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "user": "ce2f4c",
    "attempts": [
      {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:13:00",
       "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}, {"ip": "m48", "gpus": ["gpu0", "gpu1"]}]},
      {"start_time": "2017-10-07 01:14:00", "end_time": "2017-10-07 01:14:30", "detail": []}
    ],
    "submitted_time": "2017-10-07 01:11:39"
  },
  {"status": "Killed", "vc": "ee9e8c", "jobid": "application_2", "user": "x", "attempts": [],
   "submitted_time": "2017-10-07 02:00:00"},
  {"status": "Pass", "vc": "ee9e8c", "jobid": "application_3", "user": "x",
   "attempts": [{"start_time": "2017-10-07 02:00:00", "end_time": null, "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}],
   "submitted_time": "2017-10-07 02:00:00"}
]
"""
HELIOS = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
1425512,uVMrF,vchbv,16,64,4,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
1425513,uVMrF,vchbv,1,4,1,CANCELLED,2020-06-09 18:42:00,,,,
"""
ACME = """\
job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,end_time,duration,queue,gpu_time
dlc1,uf794,8,64,960,1000,Pretrain,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00,18,10.0,1152.0
dlc2,uf794,1,8,128,,Debug,RUNNING,2023-05-17 19:00:58+08:00,2023-05-17 11:01:08+00:00,,,10.0,
dlc3,uf795,1,8,128,,Debug,COMPLETED,2023-05-17 19:00:00+08:00,2023-05-17 11:00:08+00:00,2023-05-17 11:01:00+00:00,52,8.0,416.0
"""
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0000,12000,16384,8,1000,,LS,Running,0,100,10
openb-pod-0001,6000,12288,1,460,V100M16|V100M32|V100M32,BE,Running,5,25,5
openb-pod-0002,6000,12288,0,0,,BE,Pending,7,17,
"""
PAI_TASKS = """\
job1,worker,4.0,Terminated,100.0,400.0,600.0,29.296875,50.0,MISC
job1,ps,1.0,Terminated,100.0,400.0,600.0,10.0,,
job2,worker,2.0,Terminated,200.0,260.0,400.0,16.0,250.0,V100
job3,worker,2.0,Running,200.0,,400.0,16.0,100.0,V100
job4,worker,,Failed,200.0,201.0,400.0,16.0,100.0,V100
"""
PAI_JOBS = """\
job1,i1,ann,Terminated,90.0,400.0
job2,i2,bob,Terminated,195.0,260.0
"""
SPOT = """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
239255,13,A10,20.0,1.0,1,0.0,2764799.0,HP
437260,57,A100-SXM4-80GB,15.0,1.0,16,9589663.0,41060.0,Spot
"""
MORPHLING = """\
name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,exec_plan,steps,is_sla
vit-0,0,3163.091667,vit,2,16,0.0,zero-dp,37239,1
llama30-1,1639,142.2190972,llama30,48,384,1.25,344,64,0
"""
SACCT = """\
JobID|User|Account|Partition|QOS|Priority|Submit|Start|End|ElapsedRaw|State|AllocTRES|ReqTRES|NNodes|NCPUS
101|ann|vision|gpu|normal|4294901|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T11:05:00|3600|COMPLETED|billing=64,cpu=64,gres/gpu=8,mem=500G,node=1|cpu=64,gres/gpu=8|1|64
102|bob|speech|gpu|high|99|2024-03-01T10:00:05|2024-03-01T10:05:00|2024-03-01T10:06:00|60|CANCELLED by 1001|billing=1,cpu=128,gres/gpu:a100=16,mem=1000000M,node=2||2|128
102.batch|||||2024-03-01T10:00:05|2024-03-01T10:05:00|2024-03-01T10:06:00|60|CANCELLED|cpu=1||1|1|
103_4|bob|speech|gpu|high|99|2024-03-01T10:00:06|2024-03-01T10:05:00|2024-03-01T10:06:00|60|TIMEOUT|cpu=8,gres/gpu:a100=1,gres/gpu:h100=2,gres/gpu=3||1|8
104|bob|speech|gpu|high|99|2024-03-01T10:00:07|Unknown|Unknown|0|PENDING||cpu=8,gres/gpu=1|1|8
105|bob|speech|gpu|high|99|2024-03-01T10:00:08|2024-03-01T10:05:00|Unknown|500|RUNNING|cpu=8,gres/gpu=1|cpu=8|1|8
"""
SAMPLES = {
    "plain": PLAIN,
    "philly": PHILLY,
    "philly-cut": PHILLY_CUT,
    "philly-json": PHILLY_JSON,
    "helios": HELIOS,
    "acme": ACME,
    "openb": OPENB,
    "pai2020": PAI_TASKS,
    "spot": SPOT,
    "morphling": MORPHLING,
    "sacct": SACCT,
}
NAMES = {"philly-json": "cluster_job_log", "pai2020": "pai_task_table.csv"}


def written(folder: Path, format: str, text: str | None = None) -> Path:
    path = folder / NAMES.get(format, "jobs.csv")
    path.write_text(SAMPLES[format] if text is None else text, encoding="utf-8")
    return path


def loaded(folder: Path, format: str, mapping: Mapping | None = None) -> Trace:
    return load_trace(written(folder, format), mapping=mapping)


def refused(path: Path, **options) -> TraceError:
    with pytest.raises(TraceError) as caught:
        load_trace(path, **options)
    assert caught.value.file == str(path)
    return caught.value


# What each format holds
def test_plain(tmp_path: Path):
    a, b, c = loaded(tmp_path, "plain").jobs
    assert a == TraceJob(
        "a", 0, 60_500, 2, 8_000, 64_000, 524_288, "vision", "ann", "DLC", 6, ("A100", "H100"), 600_000, True
    )
    assert b == TraceJob(
        "b", 1_250, 10_000, 1, 500, team="speech", user="bob", module="DSW", guaranteed=False, wanted_ms=7_500
    )
    assert (c.replicas, c.gpu_milli, c.cpu_milli) == (3, 7_000, 13_334)


def test_plain_needs_only_three_columns_and_keeps_a_wall_clock(tmp_path: Path):
    trace = load_trace(
        written(tmp_path, "plain", "gpus,submit_s,duration_s\n1,1709290800,5\n2,1709290801.5,6\n")
    )
    assert trace.origin == datetime(2024, 3, 1, tzinfo=UTC)
    assert [(job.id, job.submit_ms) for job in trace.jobs] == [
        ("job-0000002", 39_600_000),
        ("job-0000003", 39_601_500),
    ]


def test_philly_counts_from_the_midnight_before_its_first_job(tmp_path: Path):
    trace = loaded(tmp_path, "philly")
    assert trace.origin == datetime(2017, 10, 8, tzinfo=UTC)
    assert [(job.id, job.submit_ms, job.team) for job in trace.jobs] == [
        ("philly-000003", 82_800_000, "6214e9"),
        ("philly-000002", 111_715_000, "11cb48"),
    ]
    assert (trace.jobs[0].replicas, trace.jobs[0].gpu_milli) == (2, 6_000)


def test_a_trace_with_dates_is_cut_between_two_of_them(tmp_path: Path):
    first = datetime(2017, 10, 9, tzinfo=UTC)
    cut = loaded(tmp_path, "philly").between(first, datetime(2017, 10, 10, tzinfo=UTC))
    assert [(job.id, job.submit_ms) for job in cut.jobs] == [("philly-000002", 25_315_000)]
    assert cut.origin == first


def test_a_trace_without_dates_cannot_be_cut_at_one(tmp_path: Path):
    day = datetime(2017, 10, 9, tzinfo=UTC)
    with pytest.raises(ValueError, match="start of its own"):
        loaded(tmp_path, "philly-cut").between(day, day)


def test_philly_cut(tmp_path: Path):
    trace = loaded(tmp_path, "philly-cut")
    assert [
        (job.submit_ms, job.duration_ms, job.replicas, job.gpu_milli, job.team) for job in trace.jobs
    ] == [
        (115_000, 69_000, 1, 1_000, "11cb48"),
        (254_000, 71_636_000, 2, 8_000, "6c71a0"),
    ]
    assert trace.origin is None


def test_philly_json_adds_up_attempts_and_leaves_out_what_never_ended(tmp_path: Path):
    trace = loaded(tmp_path, "philly-json")
    (job,) = trace.jobs
    assert (job.id, job.duration_ms, job.replicas, job.gpu_milli) == ("application_1", 90_000, 1, 4_000)
    assert (job.team, job.user, job.submit_ms) == ("ee9e8c", "ce2f4c", 4_299_000)
    assert trace.skipped == ("1 rows: never ran", "1 rows: no attempt with a start and an end")


def test_helios_keeps_the_nodes_a_job_asked_for(tmp_path: Path):
    trace = loaded(tmp_path, "helios")
    small, large = trace.jobs
    assert (small.id, small.team, small.user, small.duration_ms) == ("1425511", "vcJkd", "uXBbc", 36_848_000)
    assert (large.replicas, large.gpu_milli, large.cpu_milli) == (4, 4_000, 16_000)
    assert trace.skipped == ("1 rows: never ran",)


def test_acme_reads_zones_and_memory(tmp_path: Path):
    trace = loaded(tmp_path, "acme", read_mapping({"team": "type"}))
    debug, pretrain = trace.jobs
    assert (debug.id, debug.submit_ms, debug.memory_mib) == ("dlc3", 39_600_000, 0)
    assert (pretrain.team, pretrain.submit_ms - debug.submit_ms) == ("Pretrain", 58_000)
    assert (pretrain.replicas, pretrain.gpu_milli, pretrain.cpu_milli) == (8, 8_000, 120_000)
    assert pretrain.memory_mib == 1_024_000
    assert trace.skipped == ("1 rows: never ran, or still running",)


def test_openb_shares_a_device_and_names_models(tmp_path: Path):
    whole, share, waiting = loaded(tmp_path, "openb").jobs
    assert (whole.gpu_milli, whole.duration_ms, whole.priority, whole.guaranteed) == (8_000, 90_000, 7, True)
    assert (share.gpu_milli, share.models, share.guaranteed) == (460, ("V100M16", "V100M32"), False)
    assert (waiting.gpu_milli, waiting.duration_ms, waiting.priority) == (0, 10_000, 1)


def test_openb_without_times_is_all_there_at_once(tmp_path: Path):
    text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,6000,12288,1,460\n"
    (pod,) = load_trace(written(tmp_path, "openb", text)).jobs
    assert pod == TraceJob("p0", 0, 86_400_000, 1, 460, 6_000, 12_288)


def test_pai2020_takes_every_task_as_a_job(tmp_path: Path):
    trace = loaded(tmp_path, "pai2020")
    ps, worker, other = trace.jobs
    assert ps == TraceJob("job1/ps", 100_000, 300_000, 1, 0, 6_000, 10_240)
    assert worker == TraceJob("job1/worker", 100_000, 300_000, 4, 500, 6_000, 30_000)
    assert (other.replicas, other.gpu_milli) == (2, 3_000), "2.5 GPUs cannot be had: 3"
    assert trace.skipped == ("1 rows: never ran, or still running", "1 rows: no instances")


def test_pai2020_takes_users_and_submissions_from_the_job_table_beside_it(tmp_path: Path):
    (tmp_path / "pai_job_table.csv").write_text(PAI_JOBS, encoding="utf-8")
    trace = loaded(tmp_path, "pai2020", read_mapping({"team": "user", "models": "gpu_type"}))
    assert [(job.id, job.submit_ms, job.user, job.team) for job in trace.jobs] == [
        ("job1/ps", 90_000, "ann", "ann"),
        ("job1/worker", 90_000, "ann", "ann"),
        ("job2/worker", 195_000, "bob", "bob"),
    ]
    assert [job.models for job in trace.jobs] == [(), ("MISC",), ("V100",)]


def test_spot_tells_high_priority_from_spot(tmp_path: Path):
    high, spot = loaded(tmp_path, "spot").jobs
    assert high == TraceJob(
        "239255", 0, 2_764_799_000, 1, 1_000, 20_000, team="13", priority=7, models=("A10",), guaranteed=True
    )
    assert (spot.replicas, spot.priority, spot.guaranteed, spot.team) == (16, 1, False, "57")


def test_morphling_tells_guaranteed_from_best_effort(tmp_path: Path):
    vit, llama = loaded(tmp_path, "morphling").jobs
    assert (vit.duration_ms, vit.cpu_milli, vit.team, vit.priority, vit.guaranteed) == (
        3_163_092, 16_000, "guaranteed", 7, True,
    )  # fmt: skip
    assert (llama.replicas, llama.gpu_milli, llama.cpu_milli) == (6, 8_000, 64_000)
    assert (llama.team, llama.priority, llama.guaranteed) == ("best-effort", 1, False)


def test_sacct_reads_both_spellings_of_gpus(tmp_path: Path):
    trace = loaded(
        tmp_path, "sacct", read_mapping({"priority": {"column": "QOS", "values": {"high": 7}, "default": 3}})
    )
    plain, typed, both = trace.jobs
    assert (plain.id, plain.team, plain.user, plain.priority) == ("101", "vision", "ann", 3)
    assert (plain.replicas, plain.gpu_milli, plain.cpu_milli, plain.memory_mib) == (1, 8_000, 64_000, 512_000)
    assert (typed.replicas, typed.gpu_milli, typed.cpu_milli, typed.memory_mib) == (2, 8_000, 64_000, 500_000)
    assert (both.id, both.gpu_milli, both.priority) == ("103_4", 3_000, 7)
    assert trace.origin == datetime(2024, 3, 1, tzinfo=UTC)
    assert trace.skipped == (
        "1 rows: a step of a job, not a job (use sacct -X)",
        "1 rows: never ran",
        "1 rows: still running",
    )


def test_sacct_lines_that_end_with_a_bar_are_read_too(tmp_path: Path):
    barred = "".join(line + "|\n" for line in SACCT.splitlines() if not line.startswith("102.batch"))
    assert load_trace(written(tmp_path, "sacct", barred)).jobs == loaded(tmp_path, "sacct").jobs


def test_an_id_that_comes_twice_gets_a_number(tmp_path: Path):
    text = PHILLY_CUT + "300,1,1,x,1\n"
    assert len(load_trace(written(tmp_path, "philly-cut", text)).jobs) == 3
    twice = HELIOS + HELIOS.splitlines()[1] + "\n"
    assert [job.id for job in load_trace(written(tmp_path, "helios", twice)).jobs] == [
        "1425511",
        "1425511#2",
        "1425512",
    ]


def test_a_foreign_job_that_asks_for_nothing_is_left_out_and_counted_r1(tmp_path: Path):
    text = SAMPLES["openb"].replace("6000,12288,0,0,,BE", "0,0,0,0,,BE")
    trace = load_trace(written(tmp_path, "openb", text))
    assert [job.id for job in trace.jobs] == ["openb-pod-0000", "openb-pod-0001"]
    assert trace.skipped == ("1 rows: ask for no GPU, CPU or memory",)


@pytest.mark.parametrize(
    ("gpus", "nodes", "replicas", "each"),
    [(0, 0, 1, 0), (1, 0, 1, 1), (8, 0, 1, 8), (9, 0, 2, 5), (12, 0, 2, 6), (128, 0, 16, 8), (8, 2, 2, 4), (8, 3, 1, 8),
     (16, 1, 2, 8), (0, 4, 4, 0)],
)  # fmt: skip
def test_a_job_is_spread_evenly_over_as_few_nodes_as_hold_it(gpus: int, nodes: int, replicas: int, each: int):
    request = spread(gpus, 8, nodes)
    assert (request.replicas, request.gpu_milli) == (replicas, each * 1000)


def test_nodes_of_four_gpus_make_more_replicas(tmp_path: Path):
    trace = load_trace(written(tmp_path, "philly-cut"), gpus_per_node=4)
    assert [(job.replicas, job.gpu_milli) for job in trace.jobs] == [(1, 1_000), (4, 4_000)]


# Packed files, formats told and guessed
@pytest.mark.parametrize("format", SAMPLES)
def test_packed_and_plain_files_hold_the_same(tmp_path: Path, format: str):
    plain = written(tmp_path, format)
    expected = load_trace(plain)
    assert expected.jobs
    text = SAMPLES[format].encode()
    gz, xz = plain.with_name(plain.name + ".gz"), plain.with_name(plain.name + ".xz")
    gz.write_bytes(gzip.compress(text))
    xz.write_bytes(lzma.compress(text))
    for packed in (gz, xz):
        assert load_trace(packed).jobs == load_trace(packed, format).jobs == expected.jobs


def test_every_format_has_a_sample():
    assert set(SAMPLES) == set(FORMATS)


# Errors
BAD_CELLS = [
    ("plain", "8,2,64,512Gi", "8,2,64,512", 2, "memory", "512", "must be an amount of memory"),
    ("plain", ",6,", ",10,", 2, "priority", "10", "priority must be 1 to 9"),
    ("plain", ",0.5,", ",1.5,", 3, "gpus", "1.5", "whole GPUs, or a part of one"),
    ("plain", ",0.5,", ",0,", 3, "gpus", "0", "must ask for some GPU, CPU or memory"),
    ("plain", "c,3,", "a,3,", 4, "id", "a", "earlier line"),
    ("philly", "100.0,12", "abc,12", 3, "duration", "abc", "must be a number"),
    ("philly", "2017-10-09 07:01:55", "yesterday", 2, "timestamp", "yesterday", "must be a date and time"),
    ("philly-cut", "254,71636", "-254,71636", 3, "submit_s", "-254", "0 or more"),
    (
        "philly-json",
        '"2017-10-07 01:13:00"',
        '"soon"',
        2,
        "attempts[0].end_time",
        "soon",
        "must be a date and time",
    ),
    ("philly-json", '"attempts": []', '"attempts": 7', 11, "attempts", "7", "must be a list"),
    ("helios", "vchbv,16", "vchbv,1.6", 3, "gpu_num", "1.6", "must be a whole number"),
    ("acme", "dlc3,uf795,1,8", "dlc3,uf795,1,x", 4, "gpu_num", "x", "must be a number"),
    ("openb", "12000,16384,8,1000", "12000,16384,8,500", 2, "gpu_milli", "500", "must be 1000"),
    ("openb", "BE,Pending", "XX,Pending", 4, "qos", "XX", "priority is not among the values of the mapping"),
    ("pai2020", "job2,worker,2.0", "job2,worker,two", 3, "inst_num", "two", "must be a number"),
    ("spot", "41060.0,Spot", "41060.0,Cheap", 3, "job_type", "Cheap", "not among"),
    ("morphling", "llama30-1,1639", "llama30-1,", 3, "submission_time", "", "must not be empty"),
    (
        "sacct",
        "mem=500G",
        "mem=lots",
        2,
        "AllocTRES",
        "billing=64,cpu=64,gres/gpu=8,mem=lots,node=1",
        "mem=lots is not",
    ),
]


@pytest.mark.parametrize(
    ("format", "good", "bad", "line", "column", "value", "message"),
    BAD_CELLS,
    ids=[c[0] + "-" + c[4] for c in BAD_CELLS],
)
def test_a_bad_cell_is_named(tmp_path: Path, format, good, bad, line, column, value, message):
    assert good in SAMPLES[format]
    error = refused(written(tmp_path, format, SAMPLES[format].replace(good, bad, 1)))
    assert (error.line, error.column, error.value) == (line, column, value)
    assert message in error.message
    assert f":{line}: {column} = {value!r}: " in str(error)


def test_a_line_with_a_cell_too_few_is_named(tmp_path: Path):
    error = refused(written(tmp_path, "philly-cut", PHILLY_CUT + "1,2,3\n"))
    assert (error.line, error.message) == (4, "has 3 cells where there are 5 columns")


def test_a_missing_column_is_named_when_the_format_is(tmp_path: Path):
    error = refused(written(tmp_path, "philly"), format="helios")
    assert (error.line, error.column) == (1, "job_id")
    assert "helios needs job_id, user, vc" in error.message


def test_sacct_needs_resources(tmp_path: Path):
    error = refused(written(tmp_path, "sacct", "JobID|Submit|ElapsedRaw\n1|2024-03-01T10:00:00|5\n"))
    assert (error.line, error.column) == (1, "AllocTRES")


@pytest.mark.parametrize("text", ["", "x,y\n1,2\n"])
def test_an_unknown_file_lists_the_formats(tmp_path: Path, text: str):
    assert "name one of plain, philly" in refused(written(tmp_path, "plain", text)).message


def test_an_unknown_format_lists_the_formats(tmp_path: Path):
    assert "formats are plain" in refused(written(tmp_path, "plain"), format="pbs").message


def test_a_file_that_is_absent_broken_or_not_packed_is_an_error_too(tmp_path: Path):
    assert "cannot be read: No such file" in str(refused(tmp_path / "absent.csv"))
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(PLAIN.encode())[:-30])
    assert "cannot be read" in str(refused(broken, format="plain"))
    for suffix in ("gz", "xz"):
        lying = tmp_path / f"lying.csv.{suffix}"
        lying.write_text(PLAIN)
        assert "cannot be read" in str(refused(lying))
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"submit_s,duration_s,gpus,team\n0,1,1,caf\xe9\n")
    assert "cannot be read" in str(refused(latin))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[\n{"jobid": }]', 2, "is not JSON"),
        ("{}", 1, "must be a JSON list"),
        ("[\n7]", 2, "must be a job"),
        ('[\n{"attempts": []}\n{"attempts": []}]', 3, "expected , or ]"),
    ],
)
def test_json_that_is_none_names_its_line(tmp_path: Path, text: str, line: int, message: str):
    error = refused(written(tmp_path, "philly-json", text))
    assert error.line == line
    assert message in error.message


# Mapping
def test_a_mapping_goes_before_the_loaders_own(tmp_path: Path):
    mapping = read_mapping(
        {
            "team": {"constant": "all"},
            "module": {"column": "qos", "values": {"LS": "EAS"}, "default": "DLC"},
            "priority": 5,
            "models": {"constant": ""},
            "checkpoint": {"constant": "10m"},
            "guaranteed": True,
        }
    )
    for job in loaded(tmp_path, "openb", mapping).jobs:
        assert (job.team, job.priority, job.models, job.guaranteed) == ("all", 5, (), True)
        assert job.checkpoint_interval_ms == 600_000
    assert [job.module for job in loaded(tmp_path, "openb", mapping).jobs] == ["EAS", "DLC", "DLC"]


def test_a_mapping_of_an_absent_column_is_refused(tmp_path: Path):
    error = refused(written(tmp_path, "philly"), mapping=read_mapping({"team": "vc"}))
    assert (error.line, error.column) == (1, "vc")
    assert "no such column for team; there are timestamp" in error.message


def test_a_value_the_mapping_does_not_know_is_refused_at_its_line(tmp_path: Path):
    mapping = read_mapping({"priority": {"column": "state", "values": {"COMPLETED": 3}}})
    error = refused(written(tmp_path, "helios"), mapping=mapping)
    assert (error.line, error.column, error.value) == (3, "state", "FAILED")


# Our own format, there and back
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.xz"])
@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_what_is_written_is_read_again(tmp_path: Path, format: str, suffix: str):
    jobs = loaded(tmp_path, format).jobs
    target = tmp_path / f"export.{suffix}"
    assert write_plain(iter(jobs), target) == len(jobs)
    assert load_trace(target).jobs == jobs


# The page
def test_the_page_names_every_format_column_and_field():
    page = (ROOT / "docs" / "reference" / "traces.md").read_text(encoding="utf-8")
    wanted = [*FORMATS, *plain_format.COLUMNS, *FIELDS]
    assert [name for name in wanted if f"`{name}`" not in page] == []


# The real files
def real(name: str) -> Path:
    path = TRACES / name
    if not path.is_file():
        pytest.skip(f"shared/traces/{name} is not here")
    return path


def gpu_hours(trace: Trace) -> int:
    return round(sum(job.total_gpu_milli * job.duration_ms for job in trace.jobs) / 3_600_000_000)


def test_philly_whole():
    trace = load_trace(real("philly-pollux/philly.csv.gz"))
    assert (len(trace.jobs), gpu_hours(trace), trace.skipped) == (82_247, 978_078, ())
    assert len({job.team for job in trace.jobs}) == 15
    assert trace.origin == datetime(2017, 9, 4, tzinfo=UTC)
    last = trace.jobs[-1].submit_ms // 86_400_000
    assert last == (datetime(2017, 12, 22, tzinfo=UTC) - trace.origin).days


def test_philly_week():
    trace = load_trace(real("philly-pollux/philly_week_2017-10-20.csv.gz"))
    assert (len(trace.jobs), gpu_hours(trace)) == (14_171, 134_944)


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("default", 8_152),
        ("cpu050", 7_439),
        ("gpushare40", 8_152),
        ("gpuspec20", 8_152),
        ("multigpu30", 8_508),
    ],
)
def test_openb(name: str, pods: int):
    trace = load_trace(real(f"alibaba-openb-v2023/openb_pod_list_{name}.csv.gz"))
    assert (len(trace.jobs), trace.skipped) == (pods, ())


def test_openb_default_has_the_documented_mix():
    jobs = load_trace(real("alibaba-openb-v2023/openb_pod_list_default.csv.gz")).jobs
    assert [sum(job.priority == p for job in jobs) for p in (7, 4, 1)] == [4_647 + 7, 100, 3_398]
    assert round((jobs[-1].submit_ms - jobs[0].submit_ms) / 86_400_000) == 149


@pytest.mark.parametrize(("name", "guaranteed"), [("base", 0), ("bp", 0), ("mt", 194)])
def test_morphling(name: str, guaranteed: int):
    jobs = load_trace(real(f"morphling-multitenant/workload-{name}.csv")).jobs
    assert len(jobs) == 406
    assert sum(bool(job.guaranteed) for job in jobs) == guaranteed
