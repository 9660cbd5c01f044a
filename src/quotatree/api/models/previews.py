"""Changes as they are previewed: the very bodies of the requests, each with a word for what it is; and what would follow."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from quotatree.api.models.decisions import DecisionOut, decision_out
from quotatree.api.models.explanations import EstimateOut
from quotatree.api.models.exposures import ExposureOut, exposure_out
from quotatree.api.models.fields import JOB_ID, Body, Name
from quotatree.api.models.jobs import JobIn, PriorityIn, ReplicasIn
from quotatree.api.models.nodes import NodeIn
from quotatree.api.models.policies import PoliciesIn
from quotatree.api.models.quotas import QuotaChange, QuotaIn, ScaleIn, TransferIn
from quotatree.api.models.workspaces import CentreIn
from quotatree.control.queries import Preview

JobName = Annotated[str, Field(pattern=JOB_ID)]


class SubmitChange(Body):
    change: Literal["submit"]
    job: JobIn


class CancelChange(Body):
    change: Literal["cancel"]
    job: JobName


class PriorityChange(PriorityIn):
    change: Literal["priority"]
    job: JobName


class ResizeChange(ReplicasIn):
    change: Literal["resize"]
    job: JobName


class DropAutoscaleChange(Body):
    change: Literal["drop-autoscale"]
    job: JobName


class CreateQuotaChange(Body):
    change: Literal["create-quota"]
    quota: QuotaIn


class UpdateQuotaChange(Body):
    change: Literal["update-quota"]
    quota: Name
    to: QuotaChange


class PoliciesChange(Body):
    change: Literal["policies"]
    quota: Name
    to: PoliciesIn


class ScaleChange(ScaleIn):
    change: Literal["scale"]
    quota: Name


class TransferChange(TransferIn):
    change: Literal["transfer"]


class DeleteQuotaChange(Body):
    change: Literal["delete-quota"]
    quota: Name


class ReturnLoanChange(Body):
    change: Literal["return-loan"]
    quota: Name


class NodeChange(Body):
    change: Literal["node-state"]
    node: Name
    state: Literal["Ready", "Cordoned", "Draining"]


class JoinNodeChange(Body):
    change: Literal["join-node"]
    node: NodeIn


class CentreChange(CentreIn):
    """The rules of a workspace in one of its quotas (W3); jobs that have run or waited too long by them are told."""

    change: Literal["centre"]
    workspace: Name
    quota: Name


Change = Annotated[
    SubmitChange
    | CancelChange
    | PriorityChange
    | ResizeChange
    | DropAutoscaleChange
    | CreateQuotaChange
    | UpdateQuotaChange
    | PoliciesChange
    | ScaleChange
    | TransferChange
    | DeleteQuotaChange
    | ReturnLoanChange
    | NodeChange
    | JoinNodeChange
    | CentreChange,
    Field(discriminator="change"),
]


class PreviewIn(Body):
    """One change, or several as if they were made one after the other and then planned once."""

    changes: Annotated[list[Change], Field(min_length=1, max_length=100)]


class ExposedOut(TypedDict):
    job: str
    exposure: ExposureOut


class PreviewOut(TypedDict):
    """`ids`: what the changes would have made or touched; `hidden`: others' jobs that would merely wait on.

    `exposed`: running work that could be taken in a way in which it cannot be taken now (P2). `names`: of the jobs in it that
    the reader may see, by id. `estimate` is null unless it was asked for, a submission is all that is previewed, and it would wait.
    """

    ids: list[str]
    decisions: list[DecisionOut]
    hidden: int
    exposed: list[ExposedOut]
    names: dict[str, str]
    estimate: EstimateOut | None


def preview_out(seen: Preview) -> PreviewOut:
    return {
        "ids": list(seen.ids),
        "decisions": [decision_out(decision) for decision in seen.decisions],
        "hidden": seen.hidden,
        "exposed": [{"job": job, "exposure": exposure_out(risk)} for job, risk in seen.exposed],
        "names": seen.names,
        "estimate": None,
    }
