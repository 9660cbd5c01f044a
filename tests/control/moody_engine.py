"""An engine that takes orders, or does not, as it is told."""

from quotatree.engines.base import EngineUnavailable, Observed, StartOrder, StopOrder
from quotatree.engines.timer import TimerEngine


class MoodyEngine(TimerEngine):
    """Its network fails now and then."""

    broken = False

    def start(self, order: StartOrder) -> None:
        if self.broken:
            raise ConnectionError
        super().start(order)

    def stop(self, order: StopOrder) -> None:
        if self.broken:
            raise ConnectionError
        super().stop(order)

    def observe(self) -> Observed:
        if self.broken:
            raise EngineUnavailable("no answer")
        return super().observe()
