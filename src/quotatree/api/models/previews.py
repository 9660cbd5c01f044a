"""Changes as they are previewed: the very bodies of the requests, each with a word for what it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from quotatree.api.models.fields import JOB_ID, Body, Name
from quotatree.api.models.jobs import JobIn, PriorityIn
from quotatree.api.models.nodes import NodeIn
from quotatree.api.models.policies import PoliciesIn
from quotatree.api.models.quotas import QuotaChange, QuotaIn, ScaleIn, TransferIn
from quotatree.api.models.workspaces import CentreIn

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
