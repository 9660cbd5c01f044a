"""Orders that an engine did not take are sent again, in their order."""

from pathlib import Path

from quotatree.control.commands import values as do
from tests.control.moody_engine import MoodyEngine
from tests.control.server import Server
from tests.engines.contract import replicas_running


def test_orders_an_engine_did_not_take_are_sent_again_in_their_order(tmp_path: Path):
    engine = MoodyEngine(threaded=False)
    server = Server(tmp_path, engine=engine).furnish()
    engine.broken = True
    stays, goes = server.submit(seconds=None), server.submit(seconds=None)
    server.do(do.CancelJob(actor="ann", job=goes))
    server.pass_time(2)
    engine.broken = False
    assert replicas_running(engine) == {}
    server.pass_time(2)
    assert replicas_running(engine) == {(stays, 1): (0,)}
    assert server.phase(goes) == "Cancelled"
    assert goes not in server.world.state.jobs, "started, stopped, left"
